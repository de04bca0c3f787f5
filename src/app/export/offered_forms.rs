//! The forms in which the workbench offers an export.

use super::forms::{LABEL_FORMS, LabelForm, VERDICT_FORMS};
use super::request::{Export, LabelExport};

/// A form in which the workbench offers an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedForm {
    pub name: &'static str,
    /// Its content, in a few words.
    pub describe: &'static str,
    pub export: Export,
}

impl Export {
    /// The forms in which labels and verdicts can be written without further options; none for
    /// other exports. The first form is the one without `--form`.
    ///
    /// Forms that need the name of a search index are left out: an index is part of a command, which
    /// a script repeats, and the dialog asks only for a file.
    pub fn offered_forms(&self) -> Vec<OfferedForm> {
        match self {
            Self::Labels(labels) => {
                let columns = OfferedForm {
                    name: LabelForm::Trec.name(),
                    describe: "TREC's columns; .tsv: BEIR's, .parquet: a table",
                    export: self.clone(),
                };
                let tools = LABEL_FORMS.iter().filter_map(|form| match form {
                    LabelForm::Tool(format) if !format.info().needs_index => Some(OfferedForm {
                        name: format.names().name,
                        describe: format.names().describe,
                        export: Self::Labels(LabelExport {
                            form: Some(*form),
                            ..labels.clone()
                        }),
                    }),
                    LabelForm::Tool(_) | LabelForm::Trec | LabelForm::Beir => None,
                });
                std::iter::once(columns).chain(tools).collect()
            }
            Self::Verdicts(_) => {
                let table = OfferedForm {
                    name: "table",
                    describe: "everything; .csv, .jsonl or .parquet",
                    export: Self::Verdicts(None),
                };
                let tools = VERDICT_FORMS.iter().map(|form| OfferedForm {
                    name: form.names().name,
                    describe: form.names().describe,
                    export: Self::Verdicts(Some(*form)),
                });
                std::iter::once(table).chain(tools).collect()
            }
            _ => Vec::new(),
        }
    }
}
