//! Reranking services, and judges that are asked reranking questions.

use super::{KEY, with_sources};
use crate::domain::candidate_question::{Answer, GradeScale};
use crate::domain::corpus::DocId;
use crate::domain::document_cut::DocumentCut;
use crate::judge::ensemble::{JudgesFile, rerank_judges_from};
use crate::judge::reranker::{RerankCandidate, Reranker};
use crate::judge::{
    FailureCause, Judge, JudgeQuestion, PoolText, PresentedQuestion, RerankAsk, Retry,
    call_adapting, read_answer, read_answer_strictly,
};
use crate::suites::fake_provider::{CURE, FakeProvider, Fault, relevance};
use std::sync::Arc;

const TEXTS: [&str; 4] = [
    "relevance=0.25 a warm kitchen",
    "relevance=0.75 aspirin",
    "relevance=1 fever",
    "relevance=0 ovens",
];

/// Services with a model, the path of their calls, and the price of a call to the fake server.
const SERVICES: [(&str, &str, &str); 9] = [
    ("zeroentropy", "zerank-2", "/v1/models/rerank"),
    ("cohere", "rerank-v3.5", "/v2/rerank"),
    ("voyage", "rerank-3", "/v1/rerank"),
    ("jina", "jina-reranker-v2-base-multilingual", "/v1/rerank"),
    ("mixedbread", "mxbai-rerank-large-v2", "/v1/reranking"),
    ("pinecone", "bge-reranker-v2-m3", "/rerank"),
    ("nim", "nvidia/llama-nemotron-rerank-1b-v2", "/v1/ranking"),
    ("tei", "", "/rerank"),
    ("compatible", "bge", "/rerank"),
];

fn reranker(fake: &FakeProvider, provider: &str, model: &str, more: &str) -> Reranker {
    let text = format!(
        "[[reranker]]\nname = \"r\"\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {:?}\n{more}\n",
        fake.root()
    );
    let file = JudgesFile::parse(&text).unwrap();
    with_sources(|sources| Reranker::new(&file.rerankers[0], None, sources)).unwrap()
}

fn candidates() -> Vec<RerankCandidate> {
    let numbered = TEXTS.iter().enumerate();
    numbered
        .map(|(at, text)| (DocId::new(format!("d{at}")), (*text).into()))
        .collect()
}

#[tokio::test]
async fn every_service_scores_and_says_what_it_took() {
    let fake = FakeProvider::start();
    for (provider, model, target) in SERVICES {
        let reranker = reranker(&fake, provider, model, "");
        let scored = reranker.score("q", &candidates(), None).await.unwrap();
        assert_eq!(
            scored.scores,
            TEXTS.map(|text| relevance("q", text)),
            "{provider}"
        );
        let request = fake.requests().pop().unwrap();
        assert_eq!(request.target, target);
        let keyless = matches!(provider, "tei" | "compatible");
        let (header, key) = match provider {
            "pinecone" => ("api-key", KEY.to_owned()),
            _ => ("authorization", format!("Bearer {KEY}")),
        };
        let sent = request.header(header);
        assert_eq!(sent, (!keyless).then_some(key.as_str()), "{provider}");
        let worst = reranker.worst("q", &candidates()).1;
        let cost = scored.exchange.cost_usd;
        // The price table does not have the others.
        let is_priced = !matches!(provider, "mixedbread" | "pinecone" | "nim");
        assert_eq!((worst.is_some(), cost.is_some()), (is_priced, is_priced));
        if let (Some(worst), Some(cost)) = (worst, cost) {
            assert!(
                cost <= worst && (cost > 0.0) != keyless,
                "{provider}: {cost} of {worst}"
            );
        }
        assert!(!scored.places_only);
    }
}

#[tokio::test]
async fn failures_of_services_are_those_of_judges() {
    for (provider, model, _) in SERVICES {
        for (fault, cause, again) in [
            (Fault::RateLimited, FailureCause::RateLimited, true),
            (Fault::Server500, FailureCause::Server, true),
            (Fault::Unauthorized, FailureCause::Unauthorized, false),
            (Fault::CutText, FailureCause::Malformed, false),
            (Fault::CutJson, FailureCause::Malformed, false),
            (Fault::WrongType, FailureCause::Malformed, false),
            (Fault::Reset, FailureCause::Connection, true),
        ] {
            let fake = FakeProvider::start();
            let reranker = reranker(&fake, provider, model, "");
            fake.fail_next(&[fault]);
            let error = reranker.score("q", &candidates(), None).await.unwrap_err();
            assert_eq!(error.cause, cause, "{provider} {fault:?}: {error}");
            assert_eq!(
                matches!(error.retry, Retry::After(_)),
                again,
                "{provider} {fault:?}"
            );
            assert!(reranker.score("q", &candidates(), None).await.is_ok());
        }
    }
}

#[tokio::test]
async fn what_is_too_long_is_cut_and_no_key_is_repeated() {
    let fake = FakeProvider::start();
    let reranker = reranker(&fake, "voyage", "rerank-3", "max_document_chars = 14");
    let scored = reranker.score("q", &candidates(), None).await.unwrap();
    assert_eq!(scored.scores[1], 0.75);
    let sent = fake.requests().pop().unwrap().body;
    assert_eq!(sent["documents"][1], "relevance=0.75");
    fake.fail_next(&[Fault::KeyEcho]);
    let scored = reranker.score("q", &candidates(), None).await.unwrap();
    assert_eq!(scored.exchange.model.as_deref(), Some("[key]"));
    assert_eq!(scored.exchange.request_id.as_deref(), Some("[key]"));
}

const ASKS: [RerankAsk; 9] = [
    RerankAsk::Rank,
    RerankAsk::Select { count: 2 },
    RerankAsk::Best,
    RerankAsk::BestWorst,
    RerankAsk::Compare,
    RerankAsk::Link,
    RerankAsk::Grade(GradeScale::ZeroToThree),
    RerankAsk::Grade(GradeScale::YesNo),
    RerankAsk::Revise,
];

fn question(ask: RerankAsk) -> PresentedQuestion {
    let documents = TEXTS.iter().map(|text| (*text).into()).collect();
    PresentedQuestion {
        pool: Arc::new(PoolText::new("what lowers fever", documents)),
        shown: match ask {
            RerankAsk::Compare | RerankAsk::Link => vec![3, 1],
            RerankAsk::Grade(_) => vec![2],
            _ => vec![3, 1, 0, 2],
        },
        ask,
    }
}

fn judge(
    fake: &FakeProvider,
    provider: &str,
    model: &str,
    v1: bool,
    ask: RerankAsk,
    more: &str,
) -> Arc<dyn Judge> {
    let url = if v1 { fake.v1() } else { fake.root() };
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {url:?}\n{more}\n"
    );
    let file = JudgesFile::parse(&text).unwrap();
    let made = with_sources(|sources| rerank_judges_from(&file, sources, ask.kind()));
    made.unwrap().0.remove(0)
}

#[tokio::test]
async fn judges_of_every_provider_answer_reranking_questions() {
    let fake = FakeProvider::start();
    for (provider, model, v1) in super::PROVIDERS
        .into_iter()
        .filter(|(name, ..)| !name.ends_with("-decisions"))
    {
        for ask in ASKS {
            let judge = judge(&fake, provider, model, v1, ask, "");
            let question = question(ask);
            let prompt = judge.prompt(JudgeQuestion::Rerank(&question));
            let reply = call_adapting(|| judge.call(JudgeQuestion::Rerank(&question), &prompt))
                .await
                .unwrap();
            let answer = read_answer_strictly(&question, &reply).unwrap();
            let expected = match ask {
                RerankAsk::Rank => Answer::Numbers(vec![4, 2, 3, 1]),
                RerankAsk::Select { .. } => Answer::Numbers(vec![4, 2]),
                RerankAsk::Best => Answer::Numbers(vec![4]),
                RerankAsk::BestWorst => Answer::Numbers(vec![4, 1]),
                RerankAsk::Compare | RerankAsk::Link => Answer::SecondWins(true),
                RerankAsk::Grade(_) => Answer::Grade(1.0),
                RerankAsk::Revise => Answer::Text(format!("what lowers fever\n{CURE}")),
            };
            match (answer, expected) {
                // Computed from its logarithm.
                (Answer::Grade(found), Answer::Grade(grade)) => {
                    assert!((found - grade).abs() < 1e-6, "{provider} {ask:?}: {found}");
                }
                (answer, expected) => assert_eq!(answer, expected, "{provider} {ask:?}"),
            }
            let (usage, worst) = judge.worst(&prompt);
            assert!(worst.unwrap_or(f64::MAX) >= reply.cost_usd.unwrap_or(0.0));
            assert!(usage.output >= reply.usage.output, "{provider} {ask:?}");
            for other in ASKS.into_iter().filter(|other| other.kind() != ask.kind()) {
                let other = self::question(other);
                assert!(!judge.can_answer(JudgeQuestion::Rerank(&other)));
            }
            assert!(
                judge
                    .reask(&prompt, FailureCause::Malformed)
                    .unwrap()
                    .user
                    .starts_with(&prompt.user)
            );
        }
    }
}

#[tokio::test]
async fn a_yes_is_weighed_by_its_probability_where_the_server_gives_it() {
    let fake = FakeProvider::start();
    let ask = RerankAsk::Grade(GradeScale::YesNo);
    let judge = judge(&fake, "compatible", "qwen3-8b", true, ask, "");
    let question = PresentedQuestion {
        shown: vec![1],
        ..question(ask)
    };
    let prompt = judge.prompt(JudgeQuestion::Rerank(&question));
    let answer = async || {
        let reply = call_adapting(|| judge.call(JudgeQuestion::Rerank(&question), &prompt))
            .await
            .unwrap();
        read_answer(&question, &reply).unwrap()
    };
    let Answer::Grade(grade) = answer().await else {
        panic!("no grade");
    };
    assert!((grade - 0.75).abs() < 1e-6, "{grade}");
    fake.give_no_logprobs();
    assert_eq!(answer().await, Answer::Grade(1.0));
}

#[tokio::test]
async fn an_endpoint_for_decisions_compares_two_and_answers_nothing_else() {
    let fake = FakeProvider::start();
    for ask in ASKS {
        let judge = judge(&fake, "openai-decisions", "gpt-6-luna", true, ask, "");
        let question = question(ask);
        let asked = JudgeQuestion::Rerank(&question);
        assert_eq!(judge.can_answer(asked), ask == RerankAsk::Compare);
        if judge.can_answer(asked) {
            let prompt = judge.prompt(asked);
            let reply = judge
                .call(JudgeQuestion::Rerank(&question), &prompt)
                .await
                .unwrap();
            assert!(matches!(
                read_answer(&question, &reply),
                Ok(Answer::SecondWins(_))
            ));
        }
    }
}

#[test]
fn every_question_shows_the_same_part_of_a_long_document() {
    let fake = FakeProvider::start();
    let words: Vec<String> = (0..600).map(|at| format!("zq{at}")).collect();
    let text: Arc<str> = words.join(" ").into();
    // The number of documents that are truncated, and of words of the first one that are shown.
    let shown = |more: &str, limit: Option<usize>, count: usize, ask: RerankAsk| {
        let limit = limit.map(|chars| DocumentCut { chars });
        let judge = judge(&fake, "openai", "gpt-6.1-terra", true, ask, more);
        let pool = PoolText::new("q", vec![Arc::clone(&text); count]).with_limit(limit);
        let question = PresentedQuestion {
            pool: Arc::new(pool),
            shown: (0..count).collect(),
            ask,
        };
        let question = JudgeQuestion::Rerank(&question);
        let prompt = judge.prompt(question).user;
        let truncated = judge.truncated(question);
        assert_eq!(prompt.matches("(cut: the first").count(), truncated);
        (truncated, prompt.matches("zq").count() / count)
    };
    let asks = [
        (RerankAsk::Compare, 2),
        (RerankAsk::Grade(GradeScale::YesNo), 1),
        (RerankAsk::Rank, 3),
        (RerankAsk::Rank, 20),
        (RerankAsk::Select { count: 10 }, 100),
        (RerankAsk::Best, 3),
    ];
    for (ask, count) in asks {
        assert_eq!(shown("", None, count, ask), (0, 600), "{ask:?} of {count}");
        let lower = "max_document_chars = 1000";
        let (truncated, words) = shown(lower, None, count, ask);
        assert_eq!(truncated, count);
        // Words of up to 6 characters.
        assert!((1000 / 7..1000 / 5).contains(&words), "{ask:?} of {count}");
        let limited = |limit| shown(lower, Some(limit), count, ask);
        assert_eq!(
            limited(2000),
            (count, words),
            "the judge's own limit is lower"
        );
        assert!(limited(500).1 < words && limited(500).0 == count);
        assert_eq!(shown("", Some(1000), count, ask), (count, words));
    }
}

const CHAPTER: &str = include_str!("../../../assets/manual/rerankers.md");

#[test]
fn every_block_of_the_manual_is_a_reranker() {
    let made = CHAPTER.split("```toml\n").skip(1).map(|block| {
        let file = JudgesFile::parse(block.split("```").next().unwrap()).unwrap();
        let made = with_sources(|sources| Reranker::new(&file.rerankers[0], None, sources));
        let made = made.unwrap();
        let worst = made.worst("q", &candidates()).1;
        assert!(worst.is_some(), "{}: no price is known", made.name());
        made.model().to_owned()
    });
    assert_eq!(
        made.collect::<Vec<_>>(),
        [
            "zeroentropy zerank-2",
            "cohere rerank-v4.0-fast",
            "voyage rerank-3",
            "jina jina-reranker-v3",
            "mixedbread mxbai-rerank-large-v2",
            "pinecone bge-reranker-v2-m3",
            "nim nvidia/llama-3.2-nv-rerankqa-1b-v2",
            "tei",
            "compatible BAAI/bge-reranker-v2-m3",
            "program python3 mine.py",
            "program python3 judged.py",
        ]
    );
}

#[test]
fn the_programs_of_the_manual_are_short() {
    let lines = CHAPTER.split("```python\n").skip(1).map(|after| {
        let program = after.split("```").next().unwrap();
        program.lines().count()
    });
    let [scoring, asking] = lines.collect::<Vec<_>>()[..] else {
        panic!("the chapter has two programs");
    };
    assert!(scoring <= 15 && asking <= 30, "{scoring}, {asking}");
}
