//! State of the prompt of a judge, of its trial, and of the regression set.

use crate::domain::battle::Pair;
use crate::features::prompts::app::trial::{
    BothReasonings, TrialPairs, TrialReading, TrialRequest, TriedPair,
};
use crate::features::prompts::app::{RegressionSet, RequestPreview};
use crate::features::prompts::domain::{PromptVersion, SetPart};
use crate::features::prompts::store::PromptLook;
use crate::store::corpus::QueryKey;
use crate::tui::model::Model;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The title, or else the first words, of a pair's low and high document.
pub(super) type PairTitles = [String; 2];

/// A prompt, and a pair for its preview.
#[derive(Debug)]
pub(super) struct FoundPrompt {
    pub(super) version: PromptVersion,
    pub(super) case: Option<(QueryKey, Pair)>,
    pub(super) is_undoable: bool,
}

/// What a person is asked to confirm.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum PendingConfirm {
    #[default]
    Nothing,
    FinalTest,
    Use(PromptChoice),
}

/// A prompt, and the judge that is to be asked with it: a judge of the project, or a new one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptChoice {
    pub(super) judge: String,
    /// The name of the judge afterwards.
    pub(super) name: String,
    pub(super) hash: String,
}

/// A trial with what its screen shows about the pairs.
#[derive(Debug)]
pub(crate) struct OpenTrial {
    /// `None` for a final test that is incomplete: each look at a result counts.
    pub(super) reading: Option<Arc<TrialReading>>,
    /// Number of questions without an answer.
    pub(super) missing: usize,
    pub(super) titles: HashMap<(QueryKey, Pair), PairTitles>,
    /// All queries of the tuning part, whose verdicts would decide the trial.
    pub(super) tuning: HashSet<QueryKey>,
}

/// A pair under both prompts.
#[derive(Debug)]
pub(crate) struct OpenReasonings {
    pub(super) tried: TriedPair,
    pub(super) titles: PairTitles,
    pub(super) query: String,
    pub(super) found: Option<BothReasonings>,
}

#[derive(Debug, Default)]
pub(crate) struct OpenSet {
    pub(super) set: RegressionSet,
    /// Number of pairs for tuning and of pairs that are held out.
    pub(super) parts: [usize; 2],
    pub(super) titles: HashMap<(QueryKey, Pair), PairTitles>,
    pub(super) looks: Vec<PromptLook>,
}

#[derive(Debug)]
pub(crate) struct PromptState {
    pub(super) judge: String,
    /// The stored version that the draft was made from, or that it is.
    pub(super) version: Option<PromptVersion>,
    /// The text on screen.
    pub(super) draft: String,
    /// Why there is no text, or why the draft is not stored.
    pub(super) problem: Option<String>,
    /// The pair of the preview.
    pub(super) case: Option<(QueryKey, Pair)>,
    pub(super) preview: Option<Result<RequestPreview, String>>,
    /// The first visible line of the text and of the preview.
    pub(super) scroll: [usize; 2],
    /// Whether the preview is scrolled instead of the text.
    pub(super) in_preview: bool,
    /// Whether the prompt of a judge was replaced, which can be undone.
    pub(super) is_undoable: bool,
    pub(super) confirming: PendingConfirm,
    pub(super) part: SetPart,
    pub(super) pairs: TrialPairs,
    pub(super) trial: Option<Result<Box<OpenTrial>, String>>,
    /// Index of the pair under the cursor.
    pub(super) cursor: usize,
    pub(super) reasonings: Option<OpenReasonings>,
    pub(super) reasonings_scroll: usize,
    pub(super) set: Option<OpenSet>,
    pub(super) set_cursor: usize,
}

impl Default for PromptState {
    fn default() -> Self {
        Self {
            judge: String::new(),
            version: None,
            draft: String::new(),
            problem: None,
            case: None,
            preview: None,
            scroll: [0; 2],
            in_preview: false,
            is_undoable: false,
            confirming: PendingConfirm::Nothing,
            part: SetPart::Tuning,
            pairs: TrialPairs::All,
            trial: None,
            cursor: 0,
            reasonings: None,
            reasonings_scroll: 0,
            set: None,
            set_cursor: 0,
        }
    }
}

impl PromptState {
    /// Whether the draft differs from the stored version.
    pub(super) fn is_changed(&self) -> bool {
        let stored = self.version.as_ref().and_then(|of| of.text.as_deref());
        stored != Some(self.draft.as_str())
    }

    /// The trial of the draft on a part of the regression set.
    pub(super) fn request(&self) -> TrialRequest {
        let version = self.version.as_ref();
        TrialRequest {
            judge: self.judge.clone(),
            text: self.draft.clone(),
            examples_of: version.map_or_else(Vec::new, |of| of.examples.clone()),
            examples: 0,
            model: None,
            pairs: self.pairs,
            part: self.part,
            retry: false,
        }
    }

    pub(super) fn found(&self) -> Option<&OpenTrial> {
        self.trial.as_ref()?.as_deref().ok()
    }

    pub(super) fn reading(&self) -> Option<&Arc<TrialReading>> {
        self.found()?.reading.as_ref()
    }

    /// The tried pair under the cursor.
    pub(super) fn tried(&self) -> Option<&TriedPair> {
        self.reading()?.result.pairs.get(self.cursor)
    }
}

impl Model {
    pub(super) fn prompt(&self) -> &PromptState {
        self.state()
    }

    pub(super) fn prompt_mut(&mut self) -> &mut PromptState {
        self.state_mut()
    }
}
