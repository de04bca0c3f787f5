//! Prompt templates: ours or the user's, filled in so that no document can pose as instructions.
//!
//! A template is a text file: a line `answer: score`, `answer: choice` or `answer: letter`, a line
//! `=== system ===`, the system prompt, a line `=== case ===`, and the message of one case. In the
//! message, `{{query}}`, `{{a}}` and `{{b}}` stand for the texts, `{{mark}}` for twelve digits that
//! the author of a text cannot know (they are a hash of all three), and `{{cut_a}}`, `{{cut_b}}`
//! for a remark on a truncated document. `{{query_mark}}` is a mark that all messages about a query
//! share: it is a hash of the query and of all documents of its pool, so that the beginnings of
//! messages are equal and can be cached. Texts are inserted once and not expanded further, so a
//! `{{b}}` inside a document stays as it is.
//!
//! Optional placeholders show more: `{{title_a}}`, `{{metadata_a.FIELD}}` (and `_b`),
//! `{{narrative}}` and `{{description}}` of the query, which are empty where the data has none; and,
//! also in the system prompt, `{{guideline}}`, `{{domain}}` and `{{language}}` of the project, whose
//! texts are part of the prompt's hash. `{{examples}}` is the place of the examples of a trial.
//!
//! The templates for picks start with `answer: slots` or, for a verdict on each document,
//! `answer: verdicts`; their messages contain `{{query}}`, `{{documents}}`, `{{task}}` and
//! `{{mark}}`. So do those of reranking questions about several documents (`answer: ranking`,
//! `selection`, `best`). The template for two documents (`winner`) has the same placeholders as a
//! battle, and those for one (`grade`, `yesno`) have `{{query}}`, `{{document}}`, `{{mark}}` and
//! `{{cut}}`.

mod answer_form;
mod document;
mod inputs;
mod instructions;
mod template;
#[cfg(test)]
mod tests;

use super::metadata::MetadataFields;

pub use answer_form::AnswerForm;
pub use inputs::{ProjectTexts, PromptInput};
pub use instructions::{InstructionsError, check_instructions, instructions, with_instructions};
pub use template::{CASE, EXAMPLES, PromptText, Template, TemplateError};
pub(super) use template::{rerank_task_text, task_text};

/// The template that asks for a number.
pub const SCORE: &str = include_str!("../../assets/prompts/score.md");
/// The template that asks for A, B or a tie, with reasons.
pub const CHOICE: &str = include_str!("../../assets/prompts/choice.md");
/// The template that asks for one letter, for small models whose log-probabilities are read.
pub const LETTER: &str = include_str!("../../assets/prompts/letter.md");
/// The template that asks for the relevant documents of a pool.
pub const PICK: &str = include_str!("../../assets/prompts/pick.md");
/// The template that asks for a verdict on every document of a pool.
pub const VERDICTS: &str = include_str!("../../assets/prompts/verdicts.md");
/// The template that asks for a ranking of several documents.
pub const RANKING: &str = include_str!("../../assets/prompts/ranking.md");
/// The template that asks to select some of several documents.
pub const SELECTION: &str = include_str!("../../assets/prompts/selection.md");
/// The template that asks for the better of two documents, without reasons.
pub const WINNER: &str = include_str!("../../assets/prompts/winner.md");
/// The template that asks which of two documents answers its own query better.
pub const LINK: &str = include_str!("../../assets/prompts/link.md");
/// The template that asks for the best of several documents.
pub const BEST: &str = include_str!("../../assets/prompts/best.md");
/// The template that asks for the best and the worst of several documents.
pub const BEST_WORST: &str = include_str!("../../assets/prompts/bestworst.md");
/// The template that asks for a grade of one document.
pub const GRADE: &str = include_str!("../../assets/prompts/grade.md");
/// The template that asks whether one document is relevant, in one word whose probabilities are
/// read.
pub const YES_NO: &str = include_str!("../../assets/prompts/yesno.md");

/// The template that asks to revise the instructions of a judge.
pub const REVISION: &str = include_str!("../../assets/prompts/revision.md");

/// The embedded templates for battles, by the name that `prompt` in `overrule.toml` has. A text
/// never changes, because votes reference it by its hash: a better one gets another name.
pub const BATTLE_PROMPTS: [(&str, &str); 9] = [
    ("score", SCORE),
    ("choice", CHOICE),
    ("letter", LETTER),
    ("score-2", include_str!("../../assets/prompts/score-2.md")),
    ("choice-2", include_str!("../../assets/prompts/choice-2.md")),
    ("letter-2", include_str!("../../assets/prompts/letter-2.md")),
    (
        "score-2-claims",
        include_str!("../../assets/prompts/score-2-claims.md"),
    ),
    (
        "choice-2-claims",
        include_str!("../../assets/prompts/choice-2-claims.md"),
    ),
    (
        "letter-2-claims",
        include_str!("../../assets/prompts/letter-2-claims.md"),
    ),
];

/// The kind of queries that a prompt is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rubric {
    /// Questions and searches.
    #[default]
    Searches,
    /// Claims: evidence for them and evidence against them serve alike.
    Claims,
}

impl Rubric {
    /// The prompt for battles that new files get.
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Searches => "score-2",
            Self::Claims => "score-2-claims",
        }
    }

    /// The same for small models.
    pub fn letter_prompt(self) -> &'static str {
        match self {
            Self::Searches => "letter-2",
            Self::Claims => "letter-2-claims",
        }
    }

    /// The kind of these queries, judging by their form: claims are statements that end with a
    /// period, and most queries of a dataset of claims are such statements.
    pub fn of_queries<'a>(queries: impl Iterator<Item = &'a str>) -> Self {
        let (mut claims, mut all) = (0, 0);
        for query in queries {
            let query = query.trim();
            let is_sentence = query.split_whitespace().count() >= MIN_WORDS && query.ends_with('.');
            claims += usize::from(is_sentence);
            all += 1;
        }
        if claims * 5 > all * 3 {
            Self::Claims
        } else {
            Self::Searches
        }
    }
}

/// Minimum number of words of a claim.
const MIN_WORDS: usize = 4;

/// The embedded template for battles with this name.
pub fn battle_prompt(name: &str) -> Option<&'static str> {
    BATTLE_PROMPTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The embedded template for battles with this hash, and its name. A judge that is shown all
/// metadata has another hash; other metadata cannot be told from the hash.
pub fn battle_prompt_of_hash(hash: &str) -> Option<(&'static str, PromptText)> {
    BATTLE_PROMPTS.iter().find_map(|(name, text)| {
        let plain = Template::parse(text).ok()?;
        let with_metadata = plain.clone().with_metadata(&MetadataFields::All);
        [plain, with_metadata]
            .iter()
            .find(|template| template.hash == hash)
            .map(|template| (*name, template.stored()))
    })
}

/// The embedded template of a form of answer.
pub fn embedded(answer: AnswerForm) -> &'static str {
    match answer {
        AnswerForm::Score => SCORE,
        AnswerForm::Choice => CHOICE,
        AnswerForm::Letter => LETTER,
        AnswerForm::Slots => PICK,
        AnswerForm::Verdicts => VERDICTS,
        AnswerForm::Ranking => RANKING,
        AnswerForm::Selection => SELECTION,
        AnswerForm::Winner => WINNER,
        AnswerForm::Link => LINK,
        AnswerForm::Best => BEST,
        AnswerForm::BestWorst => BEST_WORST,
        AnswerForm::Grade => GRADE,
        AnswerForm::YesNo => YES_NO,
        AnswerForm::Revision => REVISION,
    }
}
