//! Reads a measurement and draws its next document; stores rulings.

use super::state::{LEVEL, OpenMeasurement};
use super::update;
use crate::app::adjudication::data::ruling_context;
use crate::app::error::{AppError, invalid};
use crate::domain::adjudication::Finding;
use crate::domain::corpus::DocId;
use crate::features::measure::app::{
    MeasureReport, MeasureRequest, ReportOptions, next_document, read_measurement,
};
use crate::features::measure::domain::IntervalKind;
use crate::store::corpus::QueryKey;
use crate::store::rulings::{NewRuling, RulingContext};
use crate::store::{self, Db, Store};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::widgets::toast::Level;

const MEASUREMENT: Slot = Slot::of(Screen::MEASURE, "measurement");

/// Reads a measurement, by default the latest of the project, and draws a document for the person.
#[derive(Debug, PartialEq)]
pub(super) struct ReadMeasurement {
    request: Option<MeasureRequest>,
    margin: f64,
    seed: u64,
}

impl Task for ReadMeasurement {
    type Answer = OpenMeasurement;

    fn run(self, context: &JobContext) -> Result<OpenMeasurement, AppError> {
        let store = context.store();
        let request = match self.request {
            Some(request) => request,
            None => latest(&store)?,
        };
        let measurement = read_measurement(&store, &request)?;
        let design = measurement.design();
        let options = ReportOptions {
            interval: IntervalKind::Sequence,
            margin: self.margin,
        };
        let report = MeasureReport::new(&measurement, &design, options);
        let (annotator, now) = (context.annotator(), context.asked_ms);
        let next = next_document(&store, &measurement, &design, annotator, self.seed, now)?;
        Ok(OpenMeasurement {
            request,
            report,
            next,
        })
    }
}

fn latest(store: &Store) -> Result<MeasureRequest, AppError> {
    let stored = store
        .read_blocking(|db| db.measurements())?
        .into_iter()
        .next();
    let Some(stored) = stored else {
        return Err(invalid!(
            "No measurement in this project yet. In the shell: `overrule measure --run A --baseline \
             B`."
        ));
    };
    Ok(MeasureRequest {
        run: stored.run,
        baseline: stored.baseline,
        metric: stored.metric.parse().map_err(AppError::invalid)?,
        level: LEVEL,
    })
}

/// Stores a ruling that was made with label and picks hidden.
#[derive(Debug, PartialEq)]
struct RuleOnDraw {
    query: QueryKey,
    document: DocId,
    finding: Finding,
    active_ms: Option<i64>,
}

impl Request for RuleOnDraw {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<()> {
        let about = RulingContext {
            blind: true,
            active_ms: self.active_ms,
            // Not drawn as a control of the disagreements.
            control_of: Some(0),
            ..ruling_context(db, self.query, &self.document, LEVEL)?
        };
        db.add_ruling(&NewRuling {
            query: self.query,
            document: self.document,
            finding: self.finding,
            fault: None,
            note: None,
            annotator: context.annotator().to_owned(),
            created_ms: context.asked_ms,
            about,
            after_reveal: false,
        })?;
        Ok(())
    }
}

impl Model {
    /// Reads the measurement, after all earlier writes.
    pub(super) fn read_measurement(&mut self) -> Effect {
        let state = self.measure_mut();
        state.is_stale = true;
        let task = ReadMeasurement {
            request: state.request.clone(),
            margin: state.margin,
            seed: self.options.request.seed,
        };
        Job::try_task(task, update::found)
            .latest(&mut self.jobs, MEASUREMENT)
            .into()
    }

    /// Stores the ruling on the shown document.
    pub(super) fn rule_on_draw(
        &mut self,
        query: QueryKey,
        document: DocId,
        finding: Finding,
        active_ms: Option<i64>,
    ) -> Effect {
        self.saving += 1;
        self.undone_rulings.clear();
        let what = "the ruling was not stored";
        let ruling = RuleOnDraw {
            query,
            document,
            finding,
            active_ms,
        };
        Job::write(ruling, |model: &mut Model, ()| {
            model.saving = model.saving.saturating_sub(1);
            Vec::new()
        })
        .about(what)
        .or_else(move |model, error| {
            model.saving = model.saving.saturating_sub(1);
            model.say(Level::Error, &format!("{what}: {error}"));
            Vec::new()
        })
        .into()
    }
}
