//! The list calls of a query with their answers.

use crate::domain::candidate_question::Answer;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::lists::domain::{AnswerForm, ListKind};
use crate::features::lists::store::{ListReply, StoredList};
use crate::features::methods::domain::reranking::validation::AnswerFault;
use crate::store::{Db, Result};

/// The plan of probes, which do not count as calls of a run.
pub(super) const PROBE: &str = "probe";

/// A list call with its answer.
#[derive(Clone, Debug)]
pub struct AnsweredList {
    pub list: StoredList,
    /// `None` for a kind of list that this version does not know.
    pub kind: Option<ListKind>,
    pub reply: Option<ListReply>,
    pub outcome: ListOutcome,
}

/// The state of a list call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    /// It has not been asked, or its calls failed.
    Outstanding,
    /// It is in an open batch.
    InBatch,
    /// The reply is not an answer to the question, with the reason. It is not repaired.
    Malformed(String),
    /// The shown documents in the order of the answer: places in the list, best first. Documents
    /// that are not asked for follow in the order in which they are shown, before the worst.
    Answered(Vec<usize>),
}

impl AnsweredList {
    fn of((list, reply): (StoredList, Option<ListReply>), is_in_batch: bool) -> Self {
        let form: Option<AnswerForm> = list.form.parse().ok();
        let kind = form.and_then(|form| ListKind::new(list.shown.len(), form).ok());
        let outcome = match (kind, &reply) {
            (_, None) if is_in_batch => ListOutcome::InBatch,
            (_, None) => ListOutcome::Outstanding,
            (None, Some(_)) => ListOutcome::Malformed("an unknown kind of list".to_owned()),
            (Some(kind), Some(reply)) => outcome(kind, &reply.answer),
        };
        Self {
            list,
            kind,
            reply,
            outcome,
        }
    }

    /// Whether it can be asked now: it has no answer, and is not in an open batch.
    pub(super) fn is_outstanding(&self) -> bool {
        self.outcome == ListOutcome::Outstanding
    }

    /// Whether it is in an open batch.
    pub(super) fn is_in_batch(&self) -> bool {
        self.outcome == ListOutcome::InBatch
    }

    /// Whether it is a probe of a judge, which counts in no ranking.
    pub fn is_probe(&self) -> bool {
        self.list.plan == PROBE
    }

    /// The places in the list of the documents that the answer names, best first; `None` without an
    /// answer.
    pub fn named(&self) -> Option<Vec<usize>> {
        let ListOutcome::Answered(order) = &self.outcome else {
            return None;
        };
        let mut named = order.clone();
        match self.kind?.form() {
            AnswerForm::Order => {}
            AnswerForm::BestWorst => drop(named.drain(1..order.len() - 1)),
            AnswerForm::Best(best) => named.truncate(best),
        }
        Some(named)
    }

    /// The answer, with these names of the places: `b > a > c`, or `b > … > c` for the best and the
    /// worst. `None` without an answer.
    pub fn words(&self, name: impl Fn(usize) -> String) -> Option<String> {
        let names: Vec<String> = self.named()?.into_iter().map(name).collect();
        let between = match self.kind?.form() {
            AnswerForm::BestWorst if self.list.shown.len() > names.len() => " > … > ",
            _ => " > ",
        };
        Some(names.join(between))
    }

    /// The shown documents in the order of the answer, if there is one.
    pub fn order(&self) -> Option<Vec<&DocId>> {
        let ListOutcome::Answered(order) = &self.outcome else {
            return None;
        };
        Some(
            order
                .iter()
                .filter_map(|at| self.list.shown.get(*at))
                .collect(),
        )
    }
}

/// Reads an answer to a question of this kind. It is never repaired.
pub(super) fn outcome(kind: ListKind, answer: &Answer) -> ListOutcome {
    let numbers = match answer {
        Answer::Numbers(numbers) => numbers,
        Answer::Unreadable(why) => return ListOutcome::Malformed(why.clone()),
        _ => return ListOutcome::Malformed("an answer of another kind".to_owned()),
    };
    let expected = match kind.form() {
        AnswerForm::Order => kind.size(),
        AnswerForm::BestWorst => 2,
        AnswerForm::Best(best) => best,
    };
    if let Some(fault) = AnswerFault::of(numbers, expected, kind.size()) {
        return ListOutcome::Malformed(fault.to_string());
    }
    let named: Vec<usize> = numbers.iter().map(|number| *number as usize - 1).collect();
    let unnamed = (0..kind.size()).filter(|at| !named.contains(at));
    let mut order = named.clone();
    // The worst document comes last.
    let worst = (kind.form() == AnswerForm::BestWorst)
        .then(|| order.pop())
        .flatten();
    order.extend(unnamed);
    order.extend(worst);
    ListOutcome::Answered(order)
}

/// The list calls of a query, or of all queries, in the order in which they were planned.
pub fn answered_lists(db: &Db, query: Option<&QueryId>) -> Result<Vec<AnsweredList>> {
    let lists = db.answered_list_calls(query)?.into_iter();
    lists
        .map(|(list, reply)| {
            let is_in_batch = reply.is_none() && db.is_list_being_made(&list.key)?;
            Ok(AnsweredList::of((list, reply), is_in_batch))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(form: AnswerForm, numbers: &[i64]) -> ListOutcome {
        let kind = ListKind::new(4, form).unwrap();
        outcome(kind, &Answer::Numbers(numbers.to_vec()))
    }

    #[test]
    fn the_words_of_an_answer_name_only_the_documents_asked_for() {
        for (form, numbers, words) in [
            (AnswerForm::Order, &[3, 1, 4, 2][..], "3 > 1 > 4 > 2"),
            (AnswerForm::Best(2), &[3, 1], "3 > 1"),
            (AnswerForm::BestWorst, &[3, 1], "3 > … > 1"),
        ] {
            let list = StoredList {
                uid: String::new(),
                query: QueryId::new("q"),
                judge: "one".to_owned(),
                identity: [0; 32],
                form: form.to_string(),
                shown: ["a", "b", "c", "d"].map(DocId::new).to_vec(),
                plan: "swiss".to_owned(),
                round: 0,
                key: [0; 32],
                created_ms: 0,
            };
            let reply = ListReply {
                answer: Answer::Numbers(numbers.to_vec()),
                model: None,
                raw: None,
                tokens_input: 0,
                tokens_output: 0,
                cost_usd: None,
            };
            let answered = AnsweredList::of((list.clone(), Some(reply)), false);
            let number = |at: usize| (at + 1).to_string();
            assert_eq!(answered.words(number).unwrap(), words);
            assert_eq!(AnsweredList::of((list, None), false).words(number), None);
        }
    }

    #[test]
    fn a_complete_answer_is_an_order_and_any_other_is_malformed() {
        let answered = |order: &[usize]| ListOutcome::Answered(order.to_vec());
        assert_eq!(
            of(AnswerForm::Order, &[3, 1, 4, 2]),
            answered(&[2, 0, 3, 1])
        );
        assert_eq!(of(AnswerForm::Best(2), &[3, 1]), answered(&[2, 0, 1, 3]));
        assert_eq!(of(AnswerForm::BestWorst, &[3, 1]), answered(&[2, 1, 3, 0]));
        for bad in [&[3, 3][..], &[3], &[3, 1, 2], &[3, 5], &[0, 3]] {
            let outcome = of(AnswerForm::BestWorst, bad);
            assert!(matches!(outcome, ListOutcome::Malformed(_)), "{bad:?}");
        }
        for bad in [
            &[3, 1, 4][..],
            &[3, 1, 4, 4],
            &[3, 1, 4, 5],
            &[0, 1, 2, 3],
            &[],
        ] {
            let outcome = of(AnswerForm::Order, bad);
            assert!(matches!(outcome, ListOutcome::Malformed(_)), "{bad:?}");
        }
    }
}
