//! Inspects, imports and exports files.

use crate::app::error::{AppError, invalid};
use crate::app::export::request::ExportRequest;
use crate::app::import::source::{SourcePreview, bring_in, is_project, preview};
use crate::app::import::{FolderEntry, ImportOptions, list_folder, typed_path};
use crate::app::input_files::ReadProgress;
use crate::app::new_project;
use crate::app::output_file::ProtectedFiles;
use crate::store::contents::ProjectContents;
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::slot::Slot;
use crate::tui::update::export::{self, Exported};
use crate::tui::update::import;
use crate::tui::widgets::export_dialog::ExportOrder;
use crate::tui::widgets::import_dialog::ImportPurpose;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// What the import dialog is waiting for.
const FILES: Slot = Slot::shared("files");
const CONTENTS: Slot = Slot::shared("contents");

/// Interval between reports of the share read so far.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Lists a folder, by its path as typed.
#[derive(Debug, PartialEq)]
pub(crate) struct ListFolder(pub(crate) String);

impl Task for ListFolder {
    type Answer = Vec<FolderEntry>;
    const AFTER_WRITES: bool = false;
    const IN_TURN: bool = false;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        list_folder(&typed_path(&self.0), context.store().path())
            .map_err(|error| AppError::Failed(format!("{}: {error}", self.0)))
    }
}

/// Checks what a file contains, for a purpose.
#[derive(Debug, PartialEq)]
pub(crate) struct CheckFile(pub(crate) String, pub(crate) ImportPurpose);

impl Task for CheckFile {
    type Answer = SourcePreview;
    const AFTER_WRITES: bool = false;
    const IN_TURN: bool = false;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let options = ImportOptions::default();
        let path = typed_path(&self.0);
        let merge = self.1 == ImportPurpose::Merge;
        match is_project(&path) {
            false if merge => Err(not_a_project(&path)),
            _ if context.options().sample.is_some() => new_project::preview(&path, &options),
            _ => preview(&path, Some(&context.store()), &options),
        }
    }
}

/// Checks a file again, by its path as typed, and imports it, since it may have changed in the
/// meantime.
#[derive(Debug, PartialEq)]
pub(crate) struct Import(pub(crate) String);

impl Task for Import {
    type Answer = Vec<String>;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let asker = (context.annotator(), context.options().request.seed);
        let (path, store) = (typed_path(&self.0), context.store());
        reporting(context, |options| bring_in(&path, &store, options, asker))
    }
}

/// Creates a project from a file, both by their paths as typed; the open project is not changed.
#[derive(Debug, PartialEq)]
pub(crate) struct MakeProject {
    pub(crate) source: String,
    pub(crate) project: String,
}

impl Task for MakeProject {
    /// The project, as typed.
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        let config = &context.options().config;
        let asker = (context.annotator(), context.options().request.seed);
        let (source, path) = (typed_path(&self.source), typed_path(&self.project));
        reporting(context, |options| {
            new_project::make_project(&source, &path, config, options, asker)
        })?;
        Ok(self.project)
    }
}

/// Does work that reads a file, and reports the share read so far.
fn reporting<T>(
    context: &JobContext,
    work: impl FnOnce(&ImportOptions) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let options = ImportOptions::default();
    let progress = options.progress.clone();
    let (ended, end) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut told = ReadProgress::share(&progress);
            while end.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
                let share = progress.share();
                if share != told {
                    told = share;
                    context.tell(move |model| {
                        import::progressed(model, share);
                        Vec::new()
                    });
                }
            }
        });
        let done = work(&options);
        drop(ended);
        done
    })
}

/// Only a project can be merged.
fn not_a_project(path: &Path) -> AppError {
    if !path.exists() {
        return invalid!("{}: there is no such file", path.display());
    }
    invalid!(
        "{}: is not an Overrule project; to add a file of another kind, import it",
        path.display()
    )
}

/// Reads which kinds of data the project contains.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadContents;

impl Request for ReadContents {
    type Answer = ProjectContents;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<ProjectContents> {
        db.contents()
    }
}

/// Writes an export; an existing file is overwritten only if the flag is set.
#[derive(Debug, PartialEq)]
pub(crate) struct Export(pub(crate) ExportOrder, pub(crate) bool);

impl Task for Export {
    type Answer = Exported;

    fn run(self, context: &JobContext) -> Result<Exported, AppError> {
        let (Self(order, overwrite), store) = (self, context.store());
        let request = ExportRequest::new(order.export.clone());
        let path = typed_path(&order.path);
        let exists = request.files(&path).into_iter().find(|file| file.exists());
        if let Some(file) = exists.filter(|_| !overwrite) {
            return Ok(Exported::Exists(order, file.display().to_string()));
        }
        let protected = ProtectedFiles {
            project: store.path(),
            configuration: context.options().configuration.as_deref(),
        };
        let mut notes = Vec::new();
        let mut tell = |note: &str| notes.push(note.to_owned());
        let files = request.write_file(&store, &path, protected, &mut tell)?;
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        notes.insert(0, format!("wrote {}", names.join(" and ")));
        Ok(Exported::Written {
            files: files
                .iter()
                .map(std::path::absolute)
                .collect::<Result<_, _>>()?,
            words: notes.join("; "),
        })
    }
}

impl Model {
    pub(crate) fn list_folder(&mut self, folder: String) -> Effect {
        Job::try_task(ListFolder(folder), |model, entries| {
            if let Some(dialog) = import::dialog(model) {
                dialog.listed(entries.map_err(|error| error.to_string()));
            }
            Vec::new()
        })
        .latest(&mut self.jobs, FILES)
        .into()
    }

    pub(crate) fn check_file(&mut self, path: String, purpose: ImportPurpose) -> Effect {
        Job::try_task(CheckFile(path, purpose), |model, found| {
            if let Some(dialog) = import::dialog(model) {
                dialog.checked(found.map_err(import::problems));
            }
            Vec::new()
        })
        .latest(&mut self.jobs, FILES)
        .into()
    }

    pub(crate) fn read_contents(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadContents, export::looked_up);
        vec![job.latest(&mut self.jobs, CONTENTS).into()]
    }

    pub(crate) fn import_file(&mut self, path: String) -> Effect {
        Job::try_task(Import(path), import::ended).kept().into()
    }

    pub(crate) fn make_project(&mut self, source: String, project: String) -> Effect {
        let request = MakeProject { source, project };
        Job::try_task(request, import::made).kept().into()
    }

    pub(crate) fn export_file(&mut self, order: ExportOrder, overwrite: bool) -> Effect {
        Job::task(Export(order, overwrite), export::ended)
            .or_else(|model, error| {
                export::failed(model, &error.to_string());
                Vec::new()
            })
            .kept()
            .into()
    }
}
