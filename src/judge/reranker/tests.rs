#![allow(
    clippy::single_range_in_vec_init,
    reason = "lists of ranges are what is compared"
)]
//! Rerankers as configured, the batches in which they are asked, and programs.

use super::*;
use crate::judge::call::{FailureCause, Retry};
use crate::judge::ensemble::{Dotenv, JudgesFile};
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::registry::PROVIDERS;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::path::Path;

const KEY: &str = "key-0123456789abcdef";

fn made_in(folder: &Path, text: &str) -> Result<Reranker, String> {
    let file = JudgesFile::parse(&format!("[[reranker]]\nname = \"r\"\n{text}"))
        .map_err(|error| error.to_string())?;
    made_of(&file, folder)
}

fn made_of(file: &JudgesFile, folder: &Path) -> Result<Reranker, String> {
    let sources = JudgeSources {
        providers: &PROVIDERS,
        env: &|name| (name.ends_with("_KEY") && name != "JINA_API_KEY").then(|| KEY.to_owned()),
        key_commands: &crate::judge::provider::KeyCommands::default(),
        dotenv: &Dotenv::parse(""),
        folder,
        today: jiff::civil::date(2026, 11, 21),
        insecure_http: false,
        timeouts: Timeouts::default(),
        trusted_hosts: &[],
        allows: &|_, _| false,
        project_texts: &|| Ok(Default::default()),
    };
    Reranker::new(&file.rerankers[0], None, &sources).map_err(|error| error.to_string())
}

fn made(text: &str) -> Result<Reranker, String> {
    made_in(Path::new("."), text)
}

fn candidates(texts: &[&str]) -> Vec<RerankCandidate> {
    let numbered = texts.iter().enumerate();
    numbered
        .map(|(at, text)| (DocId::new(format!("d{at}")), (*text).into()))
        .collect()
}

#[test]
fn a_service_needs_its_name_its_key_and_a_model() {
    let of = |text: &str| made(text).map(|made| made.model().to_owned());
    assert_eq!(
        of("provider = \"cohere\"\nmodel = \"rerank-v3.5\""),
        Ok("cohere rerank-v3.5".to_owned())
    );
    assert_eq!(of("provider = \"tei\""), Ok("tei".to_owned()));
    for (text, why) in [
        (
            "provider = \"openai\"\nmodel = \"m\"",
            "the services are zeroentropy, cohere, voyage, jina, mixedbread, pinecone, nim, tei, compatible, or give \
             a command",
        ),
        ("", "no rerank service is called \"\""),
        ("provider = \"cohere\"", "the model is empty"),
        (
            "provider = \"jina\"\nmodel = \"m\"\nkey_env = \"JINA_API_KEY\"",
            "needs a key: set JINA_API_KEY",
        ),
        (
            "provider = \"compatible\"\nmodel = \"m\"",
            "there is no address; set base_url",
        ),
        (
            "provider = \"cohere\"\nmodel = \"m\"\nbatch = 0",
            "a limit of 0",
        ),
        (
            "provider = \"cohere\"\nmodel = \"m\"\nparams = { top_n = 3 }",
            "params may not hold \"top_n\"",
        ),
        (
            "provider = \"cohere\"\nmodel = \"m\"\nprice = { input = 1, search = 1 }",
            "price: expected input",
        ),
        (
            "provider = \"cohere\"\nmodel = \"m\"\nheaders = { Authorization = \"x\" }",
            "carries a secret",
        ),
        (
            "provider = \"cohere\"\nmodel = \"m\"\nkey_env = \"CO_API_KEY\"\nbase_url = \"https://gw.example.com\"",
            "may not send the key in CO_API_KEY to https://gw.example.com: overrule.toml asks for it",
        ),
        (
            "command = [\"x\"]\nprovider = \"cohere\"",
            "a program needs none of these",
        ),
        ("command = [\"\"]", "command names no program"),
        ("command = [\"x\"]\ntimeout_s = -1", "timeout_s = -1"),
    ] {
        let found = of(text).unwrap_err();
        assert!(
            found.starts_with("reranker \"r\": ") && found.contains(why),
            "{text}: {found}"
        );
    }
}

#[test]
fn no_reranker_takes_the_name_of_a_method_or_an_offline_judge() {
    for name in [
        "bm25",
        "ngram",
        "original",
        "prp",
        "rankgpt_sliding_window",
        "a@20",
        "a:b",
        "a b",
    ] {
        let text = format!("[[reranker]]\nname = {name:?}\ncommand = [\"true\"]");
        let file = JudgesFile::parse(&text).unwrap();
        let why = made_of(&file, Path::new(".")).unwrap_err();
        assert!(why.contains("give it another name"), "{name}: {why}");
    }
}

#[test]
fn prices_come_from_the_user_or_the_table_and_a_server_on_this_machine_is_free() {
    let worst = |text: &str| made(text).unwrap().worst("q", &candidates(&["document"])).1;
    let tokens = (1 + 8 + 150) as f64 / 1e6;
    assert_eq!(
        worst("provider = \"zeroentropy\"\nmodel = \"zerank-2\""),
        Some(tokens * 0.025)
    );
    assert_eq!(
        worst("provider = \"cohere\"\nmodel = \"rerank-v3.5\""),
        Some(0.002)
    );
    assert_eq!(worst("provider = \"voyage\"\nmodel = \"unheard-of\""), None);
    assert_eq!(
        worst("provider = \"voyage\"\nmodel = \"unheard-of\"\nprice = { search = 0.5 }"),
        Some(0.5)
    );
    assert_eq!(worst("provider = \"tei\""), Some(0.0));
    assert_eq!(worst("command = [\"true\"]"), Some(0.0));
}

#[test]
fn batches_keep_to_documents_and_bytes() {
    let texts = |count: usize, length: usize| {
        let text = "x".repeat(length);
        candidates(&vec![text.as_str(); count])
    };
    let of =
        |text: &str, candidates: &[RerankCandidate]| made(text).unwrap().batches("q", candidates);
    let one = |count: usize| std::iter::once(0..count).collect::<Vec<_>>();
    let tei = "provider = \"tei\"";
    assert_eq!(of(tei, &texts(70, 10)).unwrap(), [0..32, 32..64, 64..70]);
    assert_eq!(
        of("provider = \"tei\"\nbatch = 2", &texts(3, 10)).unwrap(),
        [0..2, 2..3]
    );
    assert!(of(tei, &[]).unwrap().is_empty());
    // 5,000,000 bytes, each document 20,000 and 151 of them: 248 documents.
    let zero = "provider = \"zeroentropy\"\nmodel = \"zerank-2\"";
    assert_eq!(of(zero, &texts(300, 20_000)).unwrap(), [0..248, 248..300]);
    // Truncated text is not counted.
    assert_eq!(
        of(
            "provider = \"zeroentropy\"\nmodel = \"m\"\nmax_document_chars = 10",
            &texts(300, 20_000)
        )
        .unwrap(),
        one(300)
    );
    let jina = "provider = \"jina\"\nmodel = \"jina-reranker-v3\"\nbase_url = \"http://127.0.0.1:1\"\nbatch = 10";
    assert_eq!(of(jina, &texts(10, 10)).unwrap(), one(10));
    let expected = TooManyCandidates {
        model: "jina-reranker-v3".to_owned(),
        candidates: 11,
        fits: 10,
    };
    assert_eq!(of(jina, &texts(11, 10)), Err(expected));
    assert_eq!(
        of("command = [\"true\"]", &texts(500, 10)).unwrap(),
        one(500)
    );
}

#[test]
fn long_documents_are_cut_and_counted() {
    let made = made("provider = \"tei\"\nmax_document_chars = 3").unwrap();
    let texts = ["äöü", "äöüß", "a"];
    assert_eq!(made.truncates(texts.into_iter()), 1);
    assert_eq!(made.heads(&candidates(&texts)), ["äöü", "äöü", "a"]);
}

#[test]
fn what_changes_scores_changes_the_identity_and_nothing_else_does() {
    let identity = |text: &str| made(text).unwrap().identity().to_owned();
    let base = "provider = \"voyage\"\nmodel = \"rerank-3\"\n";
    let same = identity(base);
    for more in [
        "batch = 5",
        "price = { input = 1 }",
        "timeout_s = 5",
        "concurrency = 2",
    ] {
        assert_eq!(identity(&format!("{base}{more}")), same, "{more}");
    }
    for more in ["max_document_chars = 5", "params = { truncation = false }"] {
        assert_ne!(identity(&format!("{base}{more}")), same, "{more}");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = || {
        let made = made_in(folder.path(), "command = [\"python3\", \"mine.py\"]");
        made.unwrap().identity().to_owned()
    };
    std::fs::write(folder.path().join("mine.py"), "1").unwrap();
    let first = program();
    assert_eq!(program(), first);
    std::fs::write(folder.path().join("mine.py"), "2").unwrap();
    assert_ne!(program(), first);
    // A model of many gigabytes is not read: it is identified by its size and modification time.
    let model = std::fs::File::create(folder.path().join("mine.py")).unwrap();
    model.set_len(1 << 40).unwrap();
    let large = program();
    assert_eq!(program(), large);
    model
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_ne!(program(), large);
}

#[cfg(unix)]
mod programs {
    use super::*;

    async fn ask(program: &Reranker) -> Result<RerankScores, CallError> {
        program.permit();
        program.score("q", &candidates(&["one", "two"]), None).await
    }

    /// A shell program that runs this script for each question that it has read.
    fn for_each_question(script: &str) -> String {
        let script = format!("while read -r question; do {script}; done");
        format!("command = [\"sh\", \"-c\", {script:?}]")
    }

    #[tokio::test]
    async fn a_program_that_goes_on_answering_is_asked_again() {
        let text = for_each_question(r#"echo '{"scores": [0.25, 2]}'"#);
        let program = made(&text).unwrap();
        for _ in 0..3 {
            let scored = ask(&program).await.unwrap();
            assert_eq!(
                (scored.scores, scored.places_only),
                (vec![0.25, 2.0], false)
            );
            assert_eq!(
                (scored.exchange.cost_usd, scored.exchange.sent),
                (Some(0.0), false)
            );
        }
    }

    #[tokio::test]
    async fn a_line_before_the_question_is_no_answer() {
        let answers = r#"while read -r question; do echo '{"scores": [0.25, 2]}'; done"#;
        for first in [
            r#"echo '{"scores": [2, 1]}'"#,
            "echo ready",
            "sleep 0.1; printf loading",
            r#"printf '\n\n  '; echo '{"ranking": ["d0", "d1"]}'"#,
        ] {
            let script = format!("{first}; {answers}");
            let program = made(&format!("command = [\"sh\", \"-c\", {script:?}]")).unwrap();
            for _ in 0..2 {
                let error = ask(&program).await.unwrap_err();
                assert_eq!(
                    (error.cause, error.stops_judge),
                    (FailureCause::Malformed, false),
                    "{first}: {error}"
                );
                assert!(
                    error
                        .message
                        .contains("sh wrote a line before it was asked"),
                    "{error}"
                );
            }
        }
        // Blank lines are not answers.
        let script = format!("echo; echo; {answers}");
        let program = made(&format!("command = [\"sh\", \"-c\", {script:?}]")).unwrap();
        assert_eq!(ask(&program).await.unwrap().scores, [0.25, 2.0]);
    }

    #[tokio::test]
    async fn a_second_line_after_an_answer_fails_the_next_query_and_a_new_process_goes_on() {
        let text = for_each_question(r#"echo '{"scores": [0.25, 2]}'; echo '{"scores": [9, 0]}'"#);
        let program = made(&text).unwrap();
        for _ in 0..2 {
            assert_eq!(ask(&program).await.unwrap().scores, [0.25, 2.0]);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            let error = ask(&program).await.unwrap_err();
            assert!(error.message.contains("before it was asked"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_large_question_is_written_while_it_is_read() {
        let text = for_each_question(r#"echo "{\"scores\": [${#question}, 2]}""#);
        let program = made(&text).unwrap();
        let long = "x".repeat(300_000);
        program.permit();
        let candidates = candidates(&[long.as_str(), "two"]);
        let scored = program.score("q", &candidates, None).await.unwrap();
        assert!(scored.scores[0] > 300_000.0, "{scored:?}");
    }

    #[tokio::test]
    async fn what_a_program_has_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = "sleep 1000 & echo $! > pid; read -r question; wait";
        let text = format!("command = [\"sh\", \"-c\", {script:?}]\ntimeout_s = 0.5");
        let program = made_in(folder.path(), &text).unwrap();
        let error = ask(&program).await.unwrap_err();
        assert_eq!(error.cause, FailureCause::TimedOut, "{error}");
        let pid: i32 = std::fs::read_to_string(&pid)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let mut looks = 0..500;
        // Init reaps the killed process at its own pace.
        while rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid) {
            assert!(looks.next().is_some(), "it goes on");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    fn is_zombie(pid: rustix::process::Pid) -> bool {
        let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
        std::fs::read_to_string(path).is_ok_and(|stat| stat.contains(") Z "))
    }

    #[tokio::test]
    async fn one_that_ends_after_its_answer_is_started_again() {
        let program = made(r#"command = ["printf", '\n{"ranking": ["d1", "d0"]}']"#).unwrap();
        for _ in 0..3 {
            let scored = ask(&program).await.unwrap();
            assert_eq!((scored.scores, scored.places_only), (vec![1.0, 2.0], true));
        }
    }

    #[tokio::test]
    async fn a_crash_a_delay_and_an_answer_that_is_none_fail_the_query_only() {
        for (command, cause, why) in [
            (
                r#"command = ["true"]"#,
                FailureCause::Crashed,
                "true ended without an answer: exit status: 0",
            ),
            (
                r#"command = ["ls", "/nowhere/at/all"]"#,
                FailureCause::Crashed,
                "it said",
            ),
            (
                "command = [\"sleep\", \"1000\"]\ntimeout_s = 0.05",
                FailureCause::TimedOut,
                "sleep gave no answer within 0.05 s",
            ),
            (
                &for_each_question(r#"echo "$question""#),
                FailureCause::Malformed,
                "neither ranking nor scores",
            ),
            (
                &for_each_question(r#"echo '{"scores": [1]}'"#),
                FailureCause::Malformed,
                "1 scores came for 2",
            ),
            (
                &for_each_question("cat /dev/zero"),
                FailureCause::Malformed,
                "is longer than",
            ),
            (
                r#"command = ["yes", '{"scores": [1, 2]}']"#,
                FailureCause::Malformed,
                "before it was asked",
            ),
        ] {
            let program = made(command).unwrap();
            for _ in 0..2 {
                let error = ask(&program).await.unwrap_err();
                assert_eq!(
                    (error.cause, error.retry, error.stops_judge),
                    (cause, Retry::Never, false),
                    "{command}: {error}"
                );
                assert!(error.message.contains(why), "{error}");
            }
        }
    }

    #[tokio::test]
    async fn none_starts_without_permission() {
        let folder = tempfile::tempdir().unwrap();
        let program = made_in(folder.path(), "command = [\"touch\", \"started\"]").unwrap();
        let asked = program.score("q", &candidates(&["one", "two"]), None).await;
        let error = asked.unwrap_err();
        assert!(
            error.stops_judge && error.message.contains("it is not allowed"),
            "{error}"
        );
        assert!(!folder.path().join("started").exists());
    }

    #[tokio::test]
    async fn one_that_cannot_be_started_stops_all() {
        let program = made(r#"command = ["./not-there"]"#).unwrap();
        let error = ask(&program).await.unwrap_err();
        assert!(
            error.stops_judge && error.message.contains("cannot start ./not-there"),
            "{error}"
        );
    }

    /// Judges that prefer the document with the higher number, and what they were asked.
    #[derive(Default)]
    struct Panel {
        asked: std::sync::Mutex<Vec<AskedPair>>,
        delay: Duration,
        over: bool,
    }

    impl AskedJudges for Panel {
        fn ask<'a>(
            &'a self,
            pairs: &'a [AskedPair],
        ) -> BoxFuture<'a, Result<Vec<PairReply>, CallError>> {
            async move {
                tokio::time::sleep(self.delay).await;
                if self.over {
                    return Err(CallError::new(FailureCause::Crashed, "no more calls"));
                }
                self.asked.lock().unwrap().extend(pairs);
                let reply = |pair: &AskedPair| {
                    let vote = JudgeVote {
                        judge: "gpt".to_owned(),
                        margin: if pair.b > pair.a { 0.5 } else { -0.5 },
                    };
                    PairReply::new(vec![vote], Vec::new())
                };
                Ok(pairs.iter().map(reply).collect())
            }
            .boxed()
        }
    }

    async fn ask_with(program: &str, panel: &Panel) -> Result<RerankScores, CallError> {
        let program = made(&format!("{program}\nasks = true")).unwrap();
        program.permit();
        let candidates = candidates(&["one", "two", "three"]);
        program.score("q", &candidates, Some(panel)).await
    }

    #[tokio::test]
    async fn a_program_asks_the_judges_as_often_as_it_wants_and_then_answers() {
        let panel = Panel::default();
        let script = r#"echo '{"ask": {"a": "d0", "b": "d2"}}'; read -r one; echo '{"ask": [{"a": "d1", "b": "d0"}, {"a": "d0", "b": "d1"}]}'; read -r two; echo "$one $two" >&2; case "$one" in *'{"margin":0.5,"votes":[{"judge":"gpt","margin":0.5}],"failures":[]}'*) echo '{"ranking": ["d2", "d0", "d1"]}';; esac"#;
        let scored = ask_with(&for_each_question(script), &panel).await.unwrap();
        assert_eq!(scored.scores, [2.0, 1.0, 3.0]);
        let pair = |a, b| AskedPair { a, b };
        assert_eq!(
            *panel.asked.lock().unwrap(),
            [pair(0, 2), pair(1, 0), pair(0, 1)]
        );
    }

    #[tokio::test]
    async fn a_question_may_list_all_pairs_in_both_orders() {
        let panel = Panel::default();
        let script = r#"pairs=$(for a in $(seq 0 59); do for b in $(seq 0 59); do [ $a = $b ] || printf ',{"a": "d%s", "b": "d%s"}' $a $b; done; done); echo "{\"ask\": [${pairs#,}]}"; read -r reply; scores=$(for a in $(seq 0 59); do printf ',%s' $a; done); echo "{\"scores\": [${scores#,}]}""#;
        let program = made(&format!("{}\nasks = true", for_each_question(script))).unwrap();
        program.permit();
        let candidates = candidates(&["text"; 60]);
        let scored = program.score("q", &candidates, Some(&panel)).await.unwrap();
        assert_eq!(scored.scores.len(), 60);
        assert_eq!(panel.asked.lock().unwrap().len(), 60 * 59);
    }

    #[tokio::test]
    async fn the_time_that_judges_take_is_not_the_program_s() {
        let panel = Panel {
            delay: Duration::from_millis(400),
            ..Panel::default()
        };
        let script = r#"echo '{"ask": {"a": "d0", "b": "d2"}}'; read -r reply; echo '{"scores": [1, 2, 3]}'"#;
        let timed = format!("{}\ntimeout_s = 0.35", for_each_question(script));
        let scored = ask_with(&timed, &panel).await.unwrap();
        assert!(scored.exchange.latency < Duration::from_millis(350));
    }

    #[tokio::test]
    async fn a_hostile_program_fails_its_query_with_the_reason_and_ends() {
        let asking = |script: &str| for_each_question(script);
        for (program, why) in [
            (
                asking(
                    r#"while true; do echo '{"ask": {"a": "d0", "b": "d1"}}'; read -r reply; done"#,
                ),
                "more than 60 pairs of 3 documents",
            ),
            (
                asking(r#"echo '{"ask": {"a": "d0", "b": "d9"}}'; read -r reply"#),
                "names \"d9\", which was not sent",
            ),
            (
                asking(r#"echo '{"ask": 1}'; read -r reply"#),
                "its question to the judges cannot be read: 1",
            ),
            (
                asking(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; read -r reply; echo garbage"#),
                "its answer cannot be read",
            ),
            (
                asking(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; read -r reply; cat /dev/zero"#),
                "is longer than",
            ),
            (
                asking(
                    r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; echo '{"scores": [1, 2, 3]}'; read -r reply"#,
                ),
                "before it was asked",
            ),
            (
                asking(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; exit 3"#),
                "exit status: 3",
            ),
            (
                format!(
                    "{}\ntimeout_s = 0.2",
                    asking(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; sleep 1000"#)
                ),
                "gave no answer within 0.2 s",
            ),
        ] {
            let error = ask_with(&program, &Panel::default()).await.unwrap_err();
            assert!(error.message.contains(why), "{program}: {error}");
            assert_eq!((error.retry, error.stops_judge), (Retry::Never, false));
        }
    }

    #[tokio::test]
    async fn a_program_without_permission_to_ask_learns_how_to_get_it() {
        let text = for_each_question(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; read -r reply"#);
        let error = ask(&made(&text).unwrap()).await.unwrap_err();
        assert!(error.message.contains("`asks = true`"), "{error}");
        let refused = made("provider = \"tei\"\nasks = true").unwrap_err();
        assert!(refused.contains("only a program asks"), "{refused}");
    }

    #[tokio::test]
    async fn judges_that_make_no_more_calls_end_the_program() {
        let panel = Panel {
            over: true,
            ..Panel::default()
        };
        let text = for_each_question(r#"echo '{"ask": {"a": "d0", "b": "d1"}}'; read -r reply"#);
        let error = ask_with(&text, &panel).await.unwrap_err();
        assert_eq!(error.message, "no more calls");
    }
}
