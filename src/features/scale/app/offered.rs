//! Anchors and links for the whole project, priced before any call: the screen's version of
//! `overrule scale run`.

use super::anchors::prepare_anchor_run;
use super::links::prepare_link_run;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::question_set::{
    AddedQuestions, PreparedQuestions, QuestionChoice, QuestionOffer, QuestionSetPrice,
};
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::methods::app::PricedQuestions;
use crate::store::Store;

/// Default number of documents to grade per query.
pub const ANCHORS: u8 = 5;
/// Default number of links per query.
pub const LINKS: u8 = 4;

/// One judge grades all anchors, so each judge is a choice.
pub const ANCHOR_OFFER: QuestionOffer = QuestionOffer {
    title: "Anchors: one scale over queries",
    choices: |judges| {
        let doc = format!("grades {ANCHORS} documents of each query, 0 to 3");
        judges
            .iter()
            .map(|judge| alone(&Anchors, judge, &doc))
            .collect()
    },
};

/// The choices are all judges together, or one of them.
pub const LINK_OFFER: QuestionOffer = QuestionOffer {
    title: "Links: one scale over queries",
    choices: |judges| {
        let doc = format!("compares documents of two queries, {LINKS} times each query");
        let together = (judges.len() > 1).then(|| QuestionChoice {
            questions: &Links,
            judges: judges.to_vec(),
            name: format!("all {}", counted(judges.len(), "judge")),
            doc: format!("compare documents of two queries, {LINKS} times each query"),
        });
        together
            .into_iter()
            .chain(judges.iter().map(|judge| alone(&Links, judge, &doc)))
            .collect()
    },
};

fn alone(questions: &'static dyn AddedQuestions, judge: &str, doc: &str) -> QuestionChoice {
    QuestionChoice {
        questions,
        judges: vec![judge.to_owned()],
        name: sanitize::line(judge).into_owned(),
        doc: doc.to_owned(),
    }
}

/// Grades of a few documents of each query.
#[derive(Debug)]
pub struct Anchors;

impl AddedQuestions for Anchors {
    fn noun(&self) -> &'static str {
        "anchors"
    }

    fn answer_noun(&self) -> &'static str {
        "anchor"
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        _seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let [judge] = judges else {
            return Err(AppError::Failed("anchors need one judge".to_owned()));
        };
        let count = usize::from(ANCHORS);
        let run = prepare_anchor_run(store, configuration, judge, count, &[], false)?;
        let (open, already) = (run.plan.rankings(), run.plan.already);
        let notes = run.notes.clone();
        let of_run = PricedQuestions::of_run(store, run)?;
        Ok(Box::new(PricedQuestions {
            missing: of_run.price.calls,
            price: QuestionSetPrice {
                about: format!("{ANCHORS} documents of each of {}", counted(open, "query")),
                already: (already > 0)
                    .then(|| format!("The grades of {}", counted(already, "query"))),
                notes,
                ..of_run.price
            },
            // A query that failed as a whole has no scores, and its documents stay open.
            answers: |row| {
                let scores = row.scores.as_deref().unwrap_or_default();
                let unreadable = scores.iter().filter(|score| score.is_none()).count();
                (scores.len(), unreadable)
            },
            ..of_run
        }))
    }
}

/// Comparisons of documents of two queries.
#[derive(Debug)]
pub struct Links;

impl AddedQuestions for Links {
    fn noun(&self) -> &'static str {
        "links"
    }

    fn answer_noun(&self) -> &'static str {
        "answer"
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let rounds = usize::from(LINKS);
        let run = prepare_link_run(store, configuration, judges, rounds, seed, false)?;
        let estimate = run.estimate(store)?;
        let calls = estimate.expected.calls as usize;
        Ok(Box::new(PricedQuestions {
            price: QuestionSetPrice {
                about: format!(
                    "{}, so that each of {} takes part in {LINKS}",
                    counted(estimate.there + estimate.planned, "link"),
                    counted(estimate.queries, "query")
                ),
                calls,
                already: (estimate.answered > 0).then(|| counted(estimate.answered, "answer")),
                expected_usd: estimate.expected.usd,
                worst_usd: estimate.most.usd,
                notes: run.judges.notes.clone(),
                ..QuestionSetPrice::of(&run.judges.ensemble)
            },
            missing: calls,
            ask: Box::new(move |store, control, events| {
                Box::pin(async move {
                    let budget = control.borrow().budget_usd;
                    budget.map_or(Ok(()), |budget| run.judges.check_budget(budget))?;
                    run.run(&store, control, events).await?;
                    Ok(())
                })
            }),
            // A link has no result of a query.
            answers: |_| (0, 0),
        }))
    }
}
