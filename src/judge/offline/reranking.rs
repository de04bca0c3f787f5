//! Answers reranking questions with a lexical measure: always by the documents' scores in the whole
//! pool, so that the order in which they are shown does not matter.

use crate::domain::candidate_question::GradeScale;
use crate::judge::call::AnswerProbabilities;
use crate::judge::lexical::LexicalMethod;
use crate::judge::presented::{PresentedQuestion, RerankAsk};
use serde_json::json;

/// Minimum shares of the pool's best score for grade 3, for grade 2, and for a relevant document.
const GRADE_3: f64 = 0.75;
const GRADE_2: f64 = 0.5;

/// The text of an answer, its number of words, and the measure's probability of a yes.
pub(super) fn answer(
    method: LexicalMethod,
    question: &PresentedQuestion,
) -> (String, u64, Option<AnswerProbabilities>) {
    let numbers = ranked(method, question);
    let first = numbers.first().copied().unwrap_or(1);
    let answer = match question.ask {
        RerankAsk::Rank => json!({ "ranking": numbers }),
        RerankAsk::Select { count } => {
            let selected: Vec<usize> = numbers.iter().take(count).copied().collect();
            return (
                json!({ "selected": selected }).to_string(),
                selected.len() as u64,
                None,
            );
        }
        RerankAsk::Best => json!({ "best": first }),
        RerankAsk::BestWorst => json!({ "best": first, "worst": numbers.last() }),
        // Such a judge cannot write, so it is not asked.
        RerankAsk::Revise => json!({ "prompt": question.pool.query }),
        // Lexical scores of two queries are not comparable, so such a judge is not asked.
        RerankAsk::Compare | RerankAsk::Link => {
            json!({ "winner": if first == 1 { "A" } else { "B" } })
        }
        RerankAsk::Grade(scale) => {
            let share = share(method, question);
            if scale == GradeScale::YesNo {
                let word = if share >= GRADE_2 { "Yes" } else { "No" };
                let odds = AnswerProbabilities {
                    a: share,
                    b: 1.0 - share,
                    tie: 0.0,
                };
                return (word.to_owned(), 1, Some(odds));
            }
            json!({ "grade": match share {
                share if share >= GRADE_3 => 3,
                share if share >= GRADE_2 => 2,
                share if share > 0.0 => 1,
                _ => 0,
            }})
        }
    };
    let words = match question.ask {
        RerankAsk::Rank => numbers.len() as u64,
        RerankAsk::BestWorst => 2,
        _ => 1,
    };
    (answer.to_string(), words, None)
}

/// The numbers of the documents shown, from 1, best first. Ties are ordered by text.
fn ranked(method: LexicalMethod, question: &PresentedQuestion) -> Vec<usize> {
    let analysis = question.pool.analysis();
    let mut ranked: Vec<(usize, f64, &str)> = (1..)
        .zip(question.shown.iter().zip(question.texts()))
        .map(|(number, (at, text))| (number, analysis.score(method, *at), text))
        .collect();
    ranked.sort_by(|x, y| y.1.total_cmp(&x.1).then_with(|| x.2.cmp(y.2)));
    ranked.into_iter().map(|(number, ..)| number).collect()
}

/// The score of the document shown, as a share of the pool's best.
fn share(method: LexicalMethod, question: &PresentedQuestion) -> f64 {
    let analysis = question.pool.analysis();
    let score = |at: usize| analysis.score(method, at);
    let best = (0..question.pool.documents.len())
        .map(score)
        .fold(0.0, f64::max);
    let own = question.shown.first().map_or(0.0, |at| score(*at));
    if best > 0.0 { own / best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use crate::domain::candidate_question::{Answer, GradeScale};
    use crate::judge::{
        Judge, JudgeQuestion, PoolText, PresentedQuestion, RerankAsk, offline, read_answer_strictly,
    };
    use futures::executor::block_on;
    use std::sync::Arc;

    const TEXTS: [&str; 4] = [
        "Bread rises in a warm kitchen.",
        "Aspirin lowers fever in adults.",
        "Fever is common.",
        "Ovens are hot.",
    ];

    fn ask(judge: &dyn Judge, shown: &[usize], ask: RerankAsk) -> Answer {
        let documents = TEXTS.iter().map(|text| (*text).into()).collect();
        let question = PresentedQuestion {
            pool: Arc::new(PoolText::new("does aspirin lower fever", documents)),
            shown: shown.to_vec(),
            ask,
        };
        let asked = JudgeQuestion::Rerank(&question);
        assert!(judge.can_answer(asked));
        let prompt = judge.prompt(asked);
        assert!(prompt.user.contains(TEXTS[shown[0]]), "{prompt:?}");
        let reply = block_on(judge.call(asked, &prompt)).unwrap();
        assert_eq!(reply.cost_usd, Some(0.0));
        read_answer_strictly(&question, &reply).unwrap()
    }

    #[test]
    fn every_question_is_answered_and_the_order_shown_decides_nothing() {
        for judge in offline::ensemble() {
            let judge = judge.as_ref();
            let documents = |shown: &[usize], answer: Answer| match answer {
                Answer::Numbers(numbers) => numbers
                    .iter()
                    .map(|at| shown[*at as usize - 1])
                    .collect::<Vec<_>>(),
                other => panic!("{other:?}"),
            };
            let (one, other) = ([0, 1, 2, 3], [2, 0, 3, 1]);
            for shown in [
                RerankAsk::Rank,
                RerankAsk::Select { count: 2 },
                RerankAsk::Best,
                RerankAsk::BestWorst,
            ] {
                let first = documents(&one, ask(judge, &one, shown));
                assert_eq!(
                    first,
                    documents(&other, ask(judge, &other, shown)),
                    "{judge:?}"
                );
                assert_eq!(first[0], 1);
                assert_eq!(
                    first.len(),
                    match shown {
                        RerankAsk::Rank => 4,
                        RerankAsk::Select { count } => count,
                        RerankAsk::BestWorst => 2,
                        _ => 1,
                    }
                );
            }
            assert_eq!(
                ask(judge, &[1, 2], RerankAsk::Compare),
                Answer::SecondWins(false)
            );
            assert_eq!(
                ask(judge, &[2, 1], RerankAsk::Compare),
                Answer::SecondWins(true)
            );
            for scale in [GradeScale::YesNo, GradeScale::ZeroToThree] {
                let ask = |at| ask(judge, &[at], RerankAsk::Grade(scale));
                assert_eq!(ask(1), Answer::Grade(1.0));
                assert_eq!(ask(3), Answer::Grade(0.0));
            }
        }
    }
}
