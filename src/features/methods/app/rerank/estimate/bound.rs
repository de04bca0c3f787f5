//! An upper bound of the effort for a query, whatever the answers are.

use super::program;
use super::simulation::{simulated, steady};
use super::volume::Sum;
use crate::domain::candidate_question::Question;
use crate::features::methods::app::rerank::candidates::Candidates;
use crate::features::methods::app::rerank::prepared_method::PreparedMethod;
use crate::features::methods::app::rerank::question::Target;
use crate::features::methods::domain::reranking::{MethodKind, play};
use crate::judge::Usage;
use std::cmp::Reverse;
use std::collections::HashMap;

/// No document: it is shown as an empty text.
const NO_DOCUMENT: usize = usize::MAX;

/// The maximum effort of a method for a query.
pub(super) fn most(method: &PreparedMethod, candidates: &Candidates) -> Sum {
    if method.refusal(candidates).is_some() {
        return Sum::default();
    }
    let questions = questions(method, candidates);
    let mut known: HashMap<Question, Sum> = HashMap::new();
    let mut dearest_of = |question: &Question| {
        *known.entry(shape(question)).or_insert_with(|| {
            cost(
                method,
                candidates,
                &with_longest(method, candidates, question),
            )
        })
    };
    let looked_at = method.looks_at(candidates);
    let asks_judges = !method.program_judges().is_empty();
    match method.method.kind {
        // The answers decide how many questions are asked, all of similar form.
        MethodKind::Prp { .. }
        | MethodKind::Setwise { .. }
        | MethodKind::Zelo { .. }
        | MethodKind::InfoGain { .. }
        | MethodKind::Mohajer { .. } => {
            let most = method.method.most_calls(looked_at, method.judges.len());
            repeated(&questions, most, &mut dearest_of)
        }
        // A program decides which pairs it asks about; a repeated question is answered from the
        // project.
        MethodKind::Named(_) if asks_judges => {
            let most = program::most_calls(looked_at, method.judges.len());
            repeated(&questions, most, &mut dearest_of)
        }
        // The answers decide only which candidates a question is about.
        MethodKind::RankGpt { .. } | MethodKind::TourRank { .. } => {
            let mut sum = Sum::default();
            for question in &questions {
                sum.add(&dearest_of(question));
            }
            sum
        }
        // The questions are known in advance.
        MethodKind::Original | MethodKind::Pointwise { .. } | MethodKind::Named(_) => {
            let mut sum = Sum::default();
            for question in &questions {
                sum.add(&cost(method, candidates, question));
            }
            sum
        }
    }
}

/// Questions of these forms, each as expensive as the most expensive one.
fn repeated(
    questions: &[Question],
    calls: usize,
    dearest_of: &mut impl FnMut(&Question) -> Sum,
) -> Sum {
    let calls = calls as f64;
    let each = questions
        .iter()
        .map(dearest_of)
        .fold(Sum::default(), |a: Sum, b: Sum| Sum {
            calls: a.calls.max(b.calls),
            tokens_input: a.tokens_input.max(b.tokens_input),
            tokens_output: a.tokens_output.max(b.tokens_output),
            usd: a.usd.max(b.usd),
            unpriced: a.unpriced || b.unpriced,
        });
    Sum {
        calls: calls * each.calls,
        tokens_input: calls * each.tokens_input,
        tokens_output: calls * each.tokens_output,
        usd: calls * each.usd,
        unpriced: calls > 0.0 && each.unpriced,
    }
}

/// Questions of every form that the method may ask about a query. If their number does not depend
/// on the answers, these are all of them.
fn questions(method: &PreparedMethod, candidates: &Candidates) -> Vec<Question> {
    let asks_judges = !method.program_judges().is_empty();
    if asks_judges || matches!(method.method.kind, MethodKind::Zelo { .. }) {
        return (0..method.judges.len())
            .map(|judge| Question::Battle { a: 0, b: 1, judge })
            .collect();
    }
    let utility = steady(method, candidates);
    let mut questions = Vec::new();
    drop(play(
        method.strategy(candidates).as_mut(),
        &mut |question: &Question| {
            if let Some(answer) = method.own_answer(candidates, question) {
                return answer;
            }
            questions.push(question.clone());
            simulated(question, &utility)
        },
    ));
    questions
}

/// The same question about the first candidates: questions of the same shape have the same prompt,
/// apart from the documents.
fn shape(question: &Question) -> Question {
    about(question, &(0..question.shown().len()).collect::<Vec<_>>())
}

/// The same question about other candidates.
fn about(question: &Question, shown: &[usize]) -> Question {
    let at = |place: usize| shown.get(place).copied().unwrap_or(NO_DOCUMENT);
    let candidates = || shown.to_vec();
    match question {
        Question::Rank { .. } => Question::Rank {
            candidates: candidates(),
        },
        Question::Select { count, .. } => Question::Select {
            candidates: candidates(),
            count: *count,
        },
        Question::Best { .. } => Question::Best {
            candidates: candidates(),
        },
        Question::Score { .. } => Question::Score {
            candidates: candidates(),
        },
        Question::Compare { .. } => Question::Compare { a: at(0), b: at(1) },
        Question::Battle { judge, .. } => Question::Battle {
            a: at(0),
            b: at(1),
            judge: *judge,
        },
        Question::Grade { scale, .. } => Question::Grade {
            candidate: at(0),
            scale: *scale,
        },
    }
}

/// The same question about those of the query's candidates that take the most room in its prompt.
fn with_longest(method: &PreparedMethod, candidates: &Candidates, question: &Question) -> Question {
    let count = question.shown().len();
    let length = |at: usize| {
        let mut shown = vec![NO_DOCUMENT; count];
        if let Some(first) = shown.first_mut() {
            *first = at;
        }
        method
            .parts(candidates, &about(question, &shown))
            .into_iter()
            .flatten()
            .map(|(_, _, target)| match target {
                Target::Judge { prompt, .. } | Target::Battle { prompt, .. } => prompt.user.len(),
                Target::Reranker { .. } => 0,
            })
            .sum::<usize>()
    };
    let mut by_length: Vec<(Reverse<usize>, usize)> = (0..method.looks_at(candidates))
        .map(|at| (Reverse(length(at)), at))
        .collect();
    by_length.sort_unstable();
    let longest: Vec<usize> = by_length
        .into_iter()
        .map(|(_, at)| at)
        .take(count)
        .collect();
    about(question, &longest)
}

/// The maximum effort of a question: each of its calls is charged as often as a call can be.
fn cost(method: &PreparedMethod, candidates: &Candidates, question: &Question) -> Sum {
    let mut sum = Sum::default();
    for (_, _, target) in method.parts(candidates, question).into_iter().flatten() {
        let times = u64::from(target.most_charged());
        let (usage, usd) = match &target {
            Target::Judge { judge, prompt, .. } if times == 1 => judge.worst(prompt),
            Target::Judge { judge, prompt, .. } | Target::Battle { judge, prompt, .. } => {
                judge.most(prompt)
            }
            Target::Reranker {
                reranker,
                query,
                candidates,
            } => {
                let (once, usd) = reranker.worst(query, candidates);
                let usage = Usage {
                    input: times * once.input,
                    output: times * once.output,
                    ..once
                };
                (usage, usd.map(|usd| usd * times as f64))
            }
        };
        sum.add(&Sum::of(times as f64, usage, usd));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate_question::Answer;
    use crate::domain::corpus::{DocId, QueryId};
    use crate::domain::numeric::best_first;
    use crate::features::methods::app::rerank::prepared_method::Asks;
    use crate::features::methods::domain::reranking::Method;
    use crate::judge::PoolText;
    use crate::judge::offline::ensemble;
    use crate::store::corpus::QueryKey;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Candidates with this many words.
    fn candidates(words: &[usize]) -> Candidates {
        let text = |words: &usize| Arc::from("w ".repeat(*words).as_str());
        Candidates {
            key: QueryKey(1),
            query: QueryId::new("q"),
            ids: (0..words.len())
                .map(|at| DocId::new(at.to_string()))
                .collect(),
            pool: Arc::new(PoolText::new("what", words.iter().map(text).collect())),
            hash: [0; 32],
        }
    }

    fn prepared(name: &str) -> PreparedMethod {
        let method: Method = name.parse().unwrap();
        let judges: Vec<_> = ensemble().into_iter().enumerate().collect();
        let asks = match method.kind {
            MethodKind::Zelo { .. } => Asks::Ensemble(judges),
            _ => Asks::Judge {
                service: 0,
                judge: judges.into_iter().next().unwrap().1,
            },
        };
        PreparedMethod::new(method, asks, 7)
    }

    /// The answer of a judge whose opinion of candidates is `utility`, which names the last
    /// candidate first if `contrary`.
    fn answer(question: &Question, utility: &[f64], contrary: bool) -> Answer {
        let shown = question.shown();
        match simulated(question, utility) {
            Answer::Numbers(_) if contrary => {
                let last = (1..=shown.len() as i64).rev();
                let wanted = match question {
                    Question::Select { count, .. } => *count,
                    Question::Best { .. } => 1,
                    _ => shown.len(),
                };
                Answer::Numbers(last.take(wanted).collect())
            }
            Answer::SecondWins(_) if contrary => Answer::SecondWins(shown.first() < shown.last()),
            other => other,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_answers_take_more_than_the_bound(
            words in prop::collection::vec(1..400usize, 2..16),
            seeds in prop::collection::vec(0.0..1.0f64, 16),
            contrary: bool,
        ) {
            let candidates = candidates(&words);
            let utility: Vec<f64> = best_first(&seeds[..words.len()])
                .into_iter()
                .map(|at| at as f64)
                .collect();
            for name in [
                "rankgpt@12:w4:s2",
                "tourrank@12:r2",
                "pointwise:grade",
                "prp@10:p3",
                "setwise@14:c4:k5",
                "zelo:b2",
                "infogain@12:r4",
                "mohajer@14:k3",
            ] {
                let method = prepared(name);
                let bound = most(&method, &candidates);
                let mut sum = Sum::default();
                let mut strategy = method.strategy(&candidates);
                drop(play(strategy.as_mut(), &mut |question: &Question| {
                    sum.add(&cost(&method, &candidates, question));
                    answer(question, &utility, contrary)
                }));
                prop_assert!(
                    sum.calls <= bound.calls && sum.tokens_input <= bound.tokens_input,
                    "{name}: {sum:?} is more than {bound:?}"
                );
            }
        }
    }
}
