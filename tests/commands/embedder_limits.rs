//! Embedding servers with limits, habits and faults of their own: what they refuse, leave out, or
//! answer in place of vectors.

use crate::support::{Ran, Sandbox};
use rstest::rstest;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const BUILD: &str = "pool build --beir b --out pools.jsonl --embed e --yes";

/// A server on loopback that answers each call as a function of its texts.
struct EmbeddingServer {
    port: u16,
    /// The texts of each call.
    calls: Arc<Mutex<Vec<Vec<String>>>>,
}

impl EmbeddingServer {
    fn start(reply: impl Fn(&[String]) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let calls: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
        let (seen, reply) = (Arc::clone(&calls), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, seen, reply) =
                    (stream.unwrap(), Arc::clone(&seen), Arc::clone(&reply));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut length = 0;
                    loop {
                        let mut line = String::new();
                        if reader.read_line(&mut line).unwrap_or(0) == 0 {
                            return;
                        }
                        let line = line.trim().to_lowercase();
                        if line.is_empty() {
                            break;
                        }
                        if let Some(value) = line.strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap();
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let body: Value = serde_json::from_slice(&body).unwrap();
                    let texts = body["input"].as_array().unwrap().iter();
                    let texts: Vec<String> = texts
                        .map(|text| text.as_str().unwrap().to_owned())
                        .collect();
                    let (status, body) = reply(&texts);
                    seen.lock().unwrap().push(texts);
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all((head + &body).as_bytes());
                });
            }
        });
        Self { port, calls }
    }

    fn calls(&self) -> Vec<Vec<String>> {
        self.calls.lock().unwrap().clone()
    }

    /// A folder with an embedder of this server.
    fn sandbox(&self, provider: &str, more: &str) -> Sandbox {
        let sandbox = Sandbox::new();
        let path = if provider == "ollama" { "" } else { "/v1" };
        sandbox.write(
            "overrule.toml",
            format!(
                "[[embedder]]\nname = \"e\"\nprovider = {provider:?}\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{}{path}\"\n{more}",
                self.port
            ),
        );
        sandbox
    }
}

fn vector(text: &str) -> Value {
    json!([1.0, (text.len() % 7 + 1) as f64])
}

fn openai(texts: &[String]) -> Value {
    let data = texts.iter().enumerate();
    let data: Vec<Value> = data
        .map(|(at, text)| json!({"object": "embedding", "index": at, "embedding": vector(text)}))
        .collect();
    json!({"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 5, "total_tokens": 5}})
}

fn error(status: u16, message: &str) -> (u16, String) {
    (
        status,
        json!({"error": {"message": message, "type": "t"}}).to_string(),
    )
}

/// A benchmark of these documents (d0, d1, …) and one query.
fn benchmark(sandbox: &Sandbox, documents: &[String]) {
    std::fs::create_dir_all(sandbox.path("b/qrels")).unwrap();
    let record = |(at, text): (usize, &String)| {
        json!({"_id": format!("d{at}"), "text": text}).to_string() + "\n"
    };
    let corpus: String = documents.iter().enumerate().map(record).collect();
    sandbox.write("b/corpus.jsonl", corpus);
    sandbox.write(
        "b/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"word3\"}\n",
    );
    sandbox.write(
        "b/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\nq1\td3\t1\n",
    );
}

fn documents(count: usize, words: impl Fn(usize) -> usize) -> Vec<String> {
    (0..count)
        .map(|at| format!("word{at} and ").repeat(words(at)))
        .collect()
}

#[rstest]
#[case::tei("compatible", 413, "batch size 64 > maximum allowed batch size 4")]
#[case::infinity(
    "compatible",
    422,
    "List should have at most 4 items after validation, not 8"
)]
#[case::openai(
    "openai",
    400,
    "'input' array too long. Expected an array with maximum length 4"
)]
#[case::openai_tokens(
    "openai",
    400,
    "Requested 384000 tokens, max 300000 tokens per request (max_tokens_per_request)"
)]
#[case::mistral("mistral", 400, "Too many inputs in request, split into more batches.")]
#[case::cap_words("compatible", 400, "max_tokens: at most 16384 tokens in a call")]
fn a_call_that_is_too_large_is_halved(
    #[case] provider: &str,
    #[case] status: u16,
    #[case] message: &'static str,
) {
    let server = EmbeddingServer::start(move |texts| match texts.len() {
        0..=4 => (200, openai(texts).to_string()),
        _ => error(status, message),
    });
    let sandbox = server.sandbox(provider, "key_env = \"KEY\"\nconcurrency = 2\n");
    benchmark(&sandbox, &documents(40, |_| 3));
    let ran = with_key(&sandbox, BUILD);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let calls = server.calls();
    let mut embedded: Vec<&String> = calls
        .iter()
        .filter(|call| call.len() <= 4)
        .flatten()
        .collect();
    assert_eq!(embedded.len(), 41, "each text once");
    embedded.sort();
    embedded.dedup();
    assert_eq!(embedded.len(), 41);
    // Not more often than it takes to find out what the server takes, though two calls are in
    // flight.
    assert!(
        calls.len() - calls.iter().filter(|call| call.len() <= 4).count() <= 6,
        "{calls:?}"
    );
}

/// Runs a command with the key of the embedder.
fn with_key(sandbox: &Sandbox, command: &str) -> Ran {
    let mut command = sandbox.command(command);
    command.env("KEY", "a-key-of-tests");
    Ran::of(command)
}

#[test]
fn a_call_stays_below_the_tokens_that_openai_takes() {
    let tokens = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    // Chinese: three bytes and about one token a character.
    let server = EmbeddingServer::start(move |texts| match tokens(texts) {
        0..=300_000 => (200, openai(texts).to_string()),
        _ => error(
            400,
            "Requested too many tokens, max 300000 tokens per request",
        ),
    });
    let sandbox = server.sandbox("compatible", "batch = 64\n");
    let long: Vec<String> = (0..40)
        .map(|at| format!("{at}{}", "中国".repeat(10_000)))
        .collect();
    benchmark(&sandbox, &long);
    assert_eq!(sandbox.run(BUILD).code, Some(0));
    assert!(server.calls().iter().all(|call| tokens(call) <= 300_000));
}

#[rstest]
#[case::llamacpp("llamacpp", 500, json!({"error": {"code": 500, "message": "input is too large to process. increase the physical batch size", "type": "server_error"}}), "--ubatch-size")]
#[case::ollama_nan("ollama", 500, json!({"error": "failed to encode response: json: unsupported value: NaN"}), "unsupported value: NaN")]
#[case::ollama_length("ollama", 500, json!({"error": "the input length exceeds the context length"}), "context length")]
#[case::tei("compatible", 413, json!({"error": "`inputs` must have less than 512 tokens. Given: 1500", "error_type": "Validation"}), "512 tokens")]
#[case::openai("openai", 400, json!({"error": {"message": "This model's maximum context length is 8192 tokens, however you requested 9000 tokens", "type": "invalid_request_error", "param": null, "code": null}}), "8192 tokens")]
#[case::vllm("vllm", 400, json!({"object": "error", "message": "This model's maximum context length is 512 tokens. However, you requested 1500 tokens in the input for embedding generation. Please reduce the length of the input.", "type": "BadRequestError", "code": 400}), "512 tokens")]
fn a_text_that_is_too_long_fails_at_once_and_is_named(
    #[case] provider: &str,
    #[case] status: u16,
    #[case] body: Value,
    #[case] words: &str,
) {
    let ollama = provider == "ollama";
    let server = EmbeddingServer::start(move |texts| {
        if texts.iter().any(|text| text.len() > 2_000) {
            return (status, body.to_string());
        }
        let vectors: Vec<Value> = texts.iter().map(|text| vector(text)).collect();
        if ollama {
            (
                200,
                json!({"model": "m", "embeddings": vectors}).to_string(),
            )
        } else {
            (200, openai(texts).to_string())
        }
    });
    let sandbox = server.sandbox(provider, "key_env = \"KEY\"\nconcurrency = 1\n");
    benchmark(&sandbox, &documents(8, |at| if at == 3 { 500 } else { 5 }));
    let ran = with_key(&sandbox, BUILD);
    let named = [
        "embedder \"e\": document \"d3\" (",
        " characters): prompt too long: ",
    ];
    ran.refused(1, &[named[0], named[1], words, "lower max_document_chars"]);
    let long = |call: &&Vec<String>| call.iter().any(|text| text.len() > 2_000);
    assert_eq!(
        server.calls().iter().filter(long).count(),
        4,
        "8, 4, 2 and 1"
    );

    let config = sandbox.read("overrule.toml") + "max_document_chars = 1000\n";
    sandbox.write("overrule.toml", config);
    assert_eq!(with_key(&sandbox, BUILD).code, Some(0));
}

#[test]
fn vectors_of_another_model_are_not_compared() {
    let model = Arc::new(Mutex::new("BAAI/bge-small-en-v1.5".to_owned()));
    let served = Arc::clone(&model);
    let server = EmbeddingServer::start(move |texts| {
        let mut reply = openai(texts);
        reply["model"] = json!(*served.lock().unwrap());
        (200, reply.to_string())
    });
    let sandbox = server.sandbox("compatible", "");
    let mut texts = documents(8, |_| 1);
    benchmark(&sandbox, &texts);
    let summary = sandbox.json(&format!("{BUILD} --json"));
    assert_eq!(summary["fusion"]["served_model"], "BAAI/bge-small-en-v1.5");

    *model.lock().unwrap() = "intfloat/e5-small-v2".to_owned();
    texts.push("word3 again".to_owned());
    benchmark(&sandbox, &texts);
    let words = [
        "answered as the model \"intfloat/e5-small-v2\"",
        "made by \"BAAI/bge-small-en-v1.5\"",
        "in another file",
    ];
    sandbox.run(BUILD).refused(1, &words);
    // What the other model made was not kept.
    sandbox.run(BUILD).refused(1, &words);
    assert_eq!(
        sandbox.run(&format!("{BUILD} --vectors e5.db")).code,
        Some(0)
    );
    *model.lock().unwrap() = "BAAI/bge-small-en-v1.5".to_owned();
    assert_eq!(sandbox.run(BUILD).code, Some(0));
    // A server that names no model says nothing of a change.
    *model.lock().unwrap() = String::new();
    texts.push("word3 once more".to_owned());
    benchmark(&sandbox, &texts);
    assert_eq!(sandbox.run(BUILD).code, Some(0));
}

const SBR: &str = "sbr --in in.csv --embed e --out o.csv --yes";

fn sbr(server: &EmbeddingServer, more: &str, second: &str) -> (Sandbox, Ran) {
    let sandbox = server.sandbox("compatible", more);
    sandbox.write(
        "in.csv",
        format!("qid,docno,score,text\n1,a,3.0,alpha text\n1,b,2.0,{second}\n1,c,1.0,gamma text\n"),
    );
    let ran = sandbox.run(SBR);
    (sandbox, ran)
}

#[rstest]
#[case::empty("", "")]
#[case::blank("passage_prefix = \"passage: \"\n", "   ")]
fn a_blank_text_is_not_sent_and_is_like_nothing(#[case] more: &str, #[case] text: &str) {
    let server = EmbeddingServer::start(|texts| {
        let blank = |text: &String| text.trim_start_matches("passage: ").trim().is_empty();
        if texts.iter().any(blank) {
            error(400, "'$.input' is invalid")
        } else {
            (200, openai(texts).to_string())
        }
    });
    let (sandbox, ran) = sbr(&server, more, text);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(sandbox.read("o.csv").lines().count(), 1 + 3);
    assert_eq!(server.calls().concat().len(), 2);
    sandbox
        .run(&format!("{SBR} --dry-run"))
        .says("would embed 0 of 2 texts");
}

#[rstest]
#[case::no_index(|texts: &[String]| texts.iter().map(|text| json!({"embedding": vector(text)})).collect(), None)]
#[case::one_too_few(|texts: &[String]| texts[1..].iter().map(|text| json!({"embedding": vector(text)})).collect(), Some("2 vectors came for 3 texts"))]
#[case::some_have_none(|texts: &[String]| texts.iter().enumerate().map(|(at, text)| match at { 1 => json!({"embedding": vector(text)}), _ => json!({"index": at, "embedding": vector(text)}) }).collect(), Some("not numbered from 0"))]
#[case::null_numbers(|texts: &[String]| texts.iter().enumerate().map(|(at, _)| json!({"index": at, "embedding": [null, null]})).collect(), Some("its vector is empty, zero or not finite"))]
#[case::null_vector(|texts: &[String]| texts.iter().enumerate().map(|(at, text)| json!({"index": at, "embedding": if text == "beta" { Value::Null } else { vector(text) }})).collect(), Some("document \"b\" of query \"1\" (4 characters): malformed reply: its vector is empty, zero or not finite"))]
#[case::zeros(|texts: &[String]| texts.iter().enumerate().map(|(at, text)| json!({"index": at, "embedding": if text == "beta" { json!([0.0, 0.0]) } else { vector(text) }})).collect(), Some("document \"b\" of query \"1\""))]
fn odd_answers_are_read_or_named(
    #[case] data: fn(&[String]) -> Vec<Value>,
    #[case] refusal: Option<&str>,
) {
    let server = EmbeddingServer::start(move |texts| {
        (200, json!({"data": data(texts), "model": "m"}).to_string())
    });
    let (_, ran) = sbr(&server, "", "beta");
    match refusal {
        None => assert_eq!(ran.code, Some(0), "{}", ran.stderr),
        Some(words) => ran.refused(1, &[words]),
    }
    assert_eq!(server.calls().len(), 1, "asked once");
}

/// Python writes NaN, which is no JSON.
#[test]
fn the_other_vectors_of_a_call_are_kept() {
    let server = EmbeddingServer::start(|texts| {
        let reply = openai(texts).to_string();
        if texts.iter().any(|text| text == "beta") {
            (200, reply.replace("[1.0,5.0]", "[NaN,-Infinity]"))
        } else {
            (200, reply)
        }
    });
    let (sandbox, ran) = sbr(&server, "", "beta");
    ran.refused(1, &["document \"b\" of query \"1\"", "not finite"]);
    sandbox
        .run(&format!("{SBR} --dry-run"))
        .says("would embed 1 of 3 texts");
}

#[test]
fn files_of_vectors_may_begin_with_a_byte_order_mark() {
    let server = EmbeddingServer::start(|texts| (200, openai(texts).to_string()));
    let (sandbox, _) = sbr(&server, "", "beta");
    let lines = "\u{feff}{\"docno\": \"a\", \"vector\": [1, 2]}\r\n{\"docno\": \"b\", \"vector\": [2, 1]}\r\n{\"docno\": \"c\", \"vector\": [1, 1]}\r\n";
    sandbox.write("v.jsonl", lines);
    sandbox.done("sbr --in in.csv --vectors v.jsonl --out o.csv");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend(
        [1.0f32, 2.0, 2.0, 1.0, 1.0, 1.0]
            .iter()
            .flat_map(|x| x.to_le_bytes()),
    );
    std::fs::write(sandbox.path("v.npy"), npy).unwrap();
    sandbox.write("names.txt", "\u{feff}a\r\nb\r\nc\r\n");
    sandbox.done("sbr --in in.csv --vectors v.npy --vector-names names.txt --out o.csv");
}
