//! The forms of exported labels and verdicts, which are the values of `--form`.

use crate::app::output_file::{BEIR, FileForm, TREC};
use crate::formats::judgments::JudgmentFormat;
use crate::formats::pairs::PairForm;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::sync::LazyLock;

/// The format of exported labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelForm {
    Trec,
    Beir,
    /// That of another tool.
    Tool(JudgmentFormat),
}

/// All forms of labels.
pub(super) static LABEL_FORMS: LazyLock<Vec<LabelForm>> = LazyLock::new(|| {
    let tools = JudgmentFormat::value_variants().iter().copied();
    let tools = tools.filter(|format| format.info().is_written);
    [LabelForm::Trec, LabelForm::Beir]
        .into_iter()
        .chain(tools.map(LabelForm::Tool))
        .collect()
});

/// The formats of exported verdicts, besides tables.
pub(super) static VERDICT_FORMS: LazyLock<Vec<PairForm>> =
    LazyLock::new(|| PairForm::all().collect());

impl LabelForm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trec => "trec",
            Self::Beir => "beir",
            Self::Tool(format) => format.names().name,
        }
    }

    pub(super) fn file_form(self) -> FileForm {
        match self {
            Self::Trec => TREC,
            Self::Beir => BEIR,
            Self::Tool(format) => {
                let info = format.info();
                FileForm::new(info.file_words, info.endings)
            }
        }
    }
}

/// The name of a form of labels or verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormName(&'static str);

static FORM_NAMES: LazyLock<Vec<FormName>> = LazyLock::new(|| {
    let mut names: Vec<FormName> = Vec::new();
    let labels = LABEL_FORMS.iter().map(|form| form.name());
    let verdicts = VERDICT_FORMS.iter().map(|form| form.names().name);
    for name in labels.chain(verdicts).map(FormName) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
});

impl FormName {
    /// The form of labels with this name.
    ///
    /// # Errors
    /// If there is none; the others are named.
    pub fn of_labels(self) -> Result<LabelForm, String> {
        let mut forms = LABEL_FORMS.iter();
        let found = forms.find(|form| form.name() == self.0);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = LABEL_FORMS.iter().map(|form| form.name()).collect();
            format!("qrels are written as {}", names.join(", "))
        })
    }

    /// The form of verdicts with this name.
    ///
    /// # Errors
    /// If there is none; the others are named.
    pub fn of_verdicts(self) -> Result<PairForm, String> {
        let mut forms = VERDICT_FORMS.iter();
        let found = forms.find(|form| form.names().name == self.0);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = VERDICT_FORMS.iter().map(|form| form.names().name).collect();
            format!(
                "verdicts are written as {}; without --form, as a table",
                names.join(", ")
            )
        })
    }
}

impl ValueEnum for FormName {
    fn value_variants<'a>() -> &'a [Self] {
        &FORM_NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let of_labels = match self.of_labels() {
            Ok(LabelForm::Tool(format)) => Some(format.names().describe),
            Ok(LabelForm::Trec | LabelForm::Beir) | Err(_) => None,
        };
        let of_verdicts = self.of_verdicts().map(|form| form.names().describe).ok();
        let value = PossibleValue::new(self.0);
        Some(match (of_labels, of_verdicts) {
            (Some(labels), Some(verdicts)) => value.help(format!("{labels}; {verdicts}")),
            (Some(one), None) | (None, Some(one)) => value.help(one),
            (None, None) => value,
        })
    }
}
