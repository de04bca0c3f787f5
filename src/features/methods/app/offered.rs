//! Reranking from the workbench, priced before any call: the screen's version of
//! `overrule rerank`.

use super::priced_questions::PricedQuestions;
use super::rerank::{CandidateSource, LongDocuments, MethodChoice, RerankScope, prepare};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::question_set::{AddedQuestions, PreparedQuestions, QuestionChoice, QuestionOffer};
use crate::app::text_format::first_names;
use crate::features::methods::domain::reranking::{Method, MethodOptions};
use crate::store::Store;

/// A method that the workbench offers.
#[derive(Debug)]
pub struct OfferedMethod {
    /// Its name, as on the command line.
    method: &'static str,
    noun: &'static str,
    /// A description of the judge's task.
    doc: &'static str,
    /// Whether all judges answer its questions together.
    together: bool,
}

pub static OFFERED: [OfferedMethod; 6] = [
    OfferedMethod {
        method: "rankgpt@20",
        noun: "rankings by rankgpt@20",
        doc: "orders windows of candidates",
        together: false,
    },
    OfferedMethod {
        method: "prp@20:p3",
        noun: "rankings by prp@20:p3",
        doc: "compares neighbors in both orders",
        together: false,
    },
    OfferedMethod {
        method: "tourrank@20:r2",
        noun: "rankings by tourrank@20:r2",
        doc: "selects the best of groups, in two tournaments",
        together: false,
    },
    OfferedMethod {
        method: "setwise@20:c3",
        noun: "rankings by setwise@20:c3",
        doc: "names the best of three candidates",
        together: false,
    },
    OfferedMethod {
        method: "pointwise@20:grade",
        noun: "rankings by pointwise@20:grade",
        doc: "grades each candidate 0 to 3",
        together: false,
    },
    OfferedMethod {
        method: "zelo@20:b2",
        noun: "rankings by zelo@20:b2",
        doc: "compare the most informative pairs",
        together: true,
    },
];

/// The methods with the judges that can be asked.
pub const METHOD_OFFER: QuestionOffer = QuestionOffer {
    title: "Run a method",
    choices: |judges| {
        OFFERED
            .iter()
            .flat_map(|method| method.choices(judges))
            .collect()
    },
};

impl OfferedMethod {
    /// The choices are all judges together if they answer together, and each judge otherwise.
    fn choices(&'static self, judges: &[String]) -> Vec<QuestionChoice> {
        let choice = |judges: &[String]| QuestionChoice {
            questions: self,
            judges: judges.to_vec(),
            name: self.method.to_owned(),
            doc: format!("{} {}", first_names(judges), self.doc),
        };
        let at_a_time = if self.together { judges.len() } else { 1 };
        judges.chunks(at_a_time.max(1)).map(choice).collect()
    }
}

impl AddedQuestions for OfferedMethod {
    fn noun(&self) -> &'static str {
        self.noun
    }

    fn answer_noun(&self) -> &'static str {
        "ranking"
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let method: Method = self.method.parse().map_err(AppError::failed)?;
        let choice = MethodChoice {
            methods: &[method],
            judges,
            options: MethodOptions::default(),
            seed,
        };
        let scope = RerankScope {
            dataset: None,
            queries: &[],
            candidates: CandidateSource::Pools,
            shuffle: None,
            max_queries: None,
            retry_failed: false,
            one_at_a_time: false,
            long_documents: LongDocuments::default(),
        };
        let prepared = prepare(store, configuration, &choice, &scope)?;
        Ok(Box::new(PricedQuestions::of_run(store, prepared)?))
    }
}
