//! A folder that somebody else made: its files send no key to a server and run no program before
//! the user has allowed it.
#![cfg(unix)]

use crate::desk::{Desk, KEY, json_of, told};
use serde_json::Value;
use std::process::Output;

/// An address of the server that is not this machine's by its name.
fn elsewhere(desk: &Desk) -> String {
    desk.server.v1().replace("127.0.0.1", "0.0.0.0")
}

/// A judge that is sent the key in `variable`, and the same server as embedder and reranker.
fn foreign(desk: &Desk, variable: &str) {
    let url = elsewhere(desk);
    let server = format!("base_url = {url:?}\nkey_env = {variable:?}\ninsecure_http = true\n");
    let text = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"m\"\nprice = {{ input = 1.0, output = 1.0 }}\n{server}\n\
         [[embedder]]\nname = \"vectors\"\nprovider = \"compatible\"\nmodel = \"m\"\n{server}\n\
         [[reranker]]\nname = \"ranker\"\nprovider = \"compatible\"\nmodel = \"m\"\n{server}"
    );
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
}

fn run_with(desk: &Desk, secret: &str, arguments: &[&str]) -> Output {
    let mut command = desk.command(arguments);
    command.env(secret, KEY).output().unwrap()
}

#[test]
fn no_command_sends_a_key_that_the_folder_names_to_a_server_that_it_names() {
    let desk = Desk::new("");
    std::fs::write(desk.path("first.trec"), "q Q0 d1 1 2 first\n").unwrap();
    let imported = desk.run(&["import", "in.jsonl", "first.trec"]);
    assert!(imported.status.success(), "{}", told(&imported));
    for secret in [
        "aws_secret_access_key",
        "MYSQL_PWD",
        "GITHUB_PAT",
        "OPENAI_API_KEY",
        "HF_TOKEN",
    ] {
        foreign(&desk, secret);
        for arguments in [
            "annotate in.jsonl out.jsonl --yes",
            "annotate in.jsonl out.jsonl --yes --insecure-http",
            "annotate in.jsonl out.jsonl --yes --batch",
            "annotate in.jsonl out.jsonl --judges gpt --dry-run",
            "annotate --pair q d0 d1 --yes",
            "pick --judges gpt --yes",
            "rerank --method rankgpt@5 --yes",
            "rerank --method zelo@5 --yes",
            "rerank --method ranker --yes",
            "student sample --pairs 2 --plan --judges gpt --out s.jsonl",
            "sbr --run first --embed vectors --yes",
            "nine --a first --b original --embed vectors --queries 1",
        ] {
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let arguments = arguments.as_slice();
            let refused = run_with(&desk, secret, arguments);
            let said = told(&refused);
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(
                said.contains("may not send the key in"),
                "{arguments:?}: {said}"
            );
            assert!(!said.contains(KEY), "{said}");
        }
        for arguments in [
            &["doctor"][..],
            &["doctor", "--insecure-http"],
            &["doctor", "--offline"],
        ] {
            let checked = run_with(&desk, secret, arguments);
            let said = told(&checked);
            assert_eq!(checked.status.code(), Some(3), "{said}");
            for part in [
                "may not send the key in",
                secret,
                "0.0.0.0",
                "overrule allow",
            ] {
                assert!(said.contains(part), "{part} in {said}");
            }
        }
        // Reading needs no key.
        let status = run_with(&desk, secret, &["status"]);
        assert!(status.status.success(), "{}", told(&status));
        assert_eq!(desk.server.requests().len(), 0, "{secret}");
    }
}

#[test]
fn what_is_allowed_once_is_allowed_for_that_combination_only() {
    let desk = Desk::new("");
    foreign(&desk, "GATEWAY_KEY");
    let run = |arguments: &[&str]| run_with(&desk, "GATEWAY_KEY", arguments);
    let listed = json_of(&run(&["allow", "--list", "--json"]));
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(
        (
            &listed[0]["variable"],
            &listed[0]["allowed"],
            &listed[0]["for"]
        ),
        (
            &"GATEWAY_KEY".into(),
            &Value::Null,
            &"gpt, vectors, ranker".into()
        )
    );
    // Nobody is there to be asked.
    assert_eq!(run(&["allow"]).status.code(), Some(2));
    assert_eq!(run(&["doctor"]).status.code(), Some(3));
    assert!(run(&["allow", "--yes"]).status.success());
    let kept = std::fs::read_to_string(desk.path(".config/overrule/config.toml")).unwrap();
    assert!(
        kept.contains("[[permissions.keys]]") && !kept.contains(KEY),
        "{kept}"
    );
    let annotated = run(&["annotate", "in.jsonl", "out.jsonl", "--yes"]);
    assert!(annotated.status.success(), "{}", told(&annotated));
    let requests = desk.server.requests();
    let bearer = format!("Bearer {KEY}");
    assert!(!requests.is_empty());
    assert!(
        requests
            .iter()
            .all(|request| request.header("authorization") == Some(&bearer))
    );
    // Another variable, and the same one elsewhere, are other combinations.
    foreign(&desk, "OTHER_KEY");
    let other = run_with(
        &desk,
        "OTHER_KEY",
        &["annotate", "in.jsonl", "out.jsonl", "--yes"],
    );
    assert_eq!(other.status.code(), Some(2), "{}", told(&other));
    assert_eq!(desk.server.requests().len(), requests.len());
}

#[test]
fn a_linked_dotenv_is_refused_by_every_command_that_reads_it() {
    let desk = Desk::new("");
    std::fs::create_dir(desk.path("aws")).unwrap();
    let secret = format!("[default]\naws_secret_access_key = {KEY}\n");
    std::fs::write(desk.path("aws/credentials"), &secret).unwrap();
    let judge = |url: &str| {
        format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = {url:?}\nkey_env = \"aws_secret_access_key\"\ninsecure_http = true\n"
        )
    };
    std::os::unix::fs::symlink("aws/credentials", desk.path(".env")).unwrap();
    for url in [desk.server.v1(), elsewhere(&desk)] {
        std::fs::write(desk.path("overrule.toml"), judge(&url)).unwrap();
        for arguments in [
            &["doctor"][..],
            &["annotate", "in.jsonl", "out.jsonl", "--yes"],
            &["allow", "--list"],
            &[
                "init",
                "--dry-run",
                "--server",
                "vllm=http://127.0.0.1:1/v1",
            ],
        ] {
            let refused = desk.run(arguments);
            let said = told(&refused);
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(
                said.contains(".env: is a symbolic link; copy the file here"),
                "{said}"
            );
            assert!(!said.contains(KEY), "{said}");
        }
    }
    assert_eq!(desk.server.requests().len(), 0);
    // A copy is the folder's own, and goes to this machine without a question.
    std::fs::remove_file(desk.path(".env")).unwrap();
    std::fs::copy(desk.path("aws/credentials"), desk.path(".env")).unwrap();
    std::fs::write(desk.path("overrule.toml"), judge(&desk.server.v1())).unwrap();
    let annotated = desk.annotate(&["--yes"]);
    assert!(annotated.status.success(), "{}", told(&annotated));
}

/// A program that leaves a trace when it is started.
fn program(desk: &Desk, name: &str) {
    let text = format!("[[reranker]]\nname = {name:?}\ncommand = [\"sh\", \"mine.sh\", name]\n")
        .replace("name]", "\"--fast\"]");
    std::fs::write(desk.path("overrule.toml"), text).unwrap();
    let script = "touch started; while read line; do echo '{\"scores\": [9, 8, 7, 6, 5, 4, 3, 2, 1]}'; done\n";
    std::fs::write(desk.path("mine.sh"), script).unwrap();
}

#[test]
fn a_program_is_run_only_where_it_was_allowed_and_shown_before() {
    let desk = Desk::new("");
    program(&desk, "mine");
    let rerank = ["rerank", "in.jsonl", "--method", "mine", "--yes"];
    let refused = desk.run(&rerank);
    let said = told(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for part in [
        "reranker \"mine\" may not run `sh mine.sh --fast` in /",
        "overrule allow",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let dry = ["rerank", "--method", "mine", "--dry-run"];
    let shown = told(&desk.run(&dry));
    assert!(
        shown.contains("mine would run `sh mine.sh --fast` in /"),
        "{shown}"
    );
    assert!(shown.contains("you have not allowed it yet"), "{shown}");
    let shown = json_of(&desk.run(&[&dry[..], &["--json"]].concat()));
    assert_eq!(shown["programs"][0]["command"][2], "--fast", "{shown}");
    assert_eq!(shown["programs"][0]["allowed"], false, "{shown}");
    for looks in [
        &["doctor"][..],
        &["allow", "--list"],
        &["allow"],
        &["methods"],
    ] {
        desk.run(looks);
    }
    assert!(!desk.path("started").exists());
    assert!(desk.run(&["allow", "--yes"]).status.success());
    assert!(!told(&desk.run(&dry)).contains("not allowed"));
    assert!(!desk.path("started").exists());
    let ran = desk.run(&rerank);
    assert!(ran.status.success(), "{}", told(&ran));
    assert!(desk.path("started").exists());
    // Another command in this folder, and this one in another folder, are to be allowed again.
    std::fs::remove_file(desk.path("started")).unwrap();
    let text = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let other = text.replace("--fast", "--slow");
    std::fs::write(desk.path("overrule.toml"), &other).unwrap();
    assert_eq!(desk.run(&rerank).status.code(), Some(2));
    let folder = desk.path("copy");
    std::fs::create_dir(&folder).unwrap();
    for file in ["in.jsonl", "mine.sh"] {
        std::fs::copy(desk.path(file), folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("overrule.toml"), text).unwrap();
    let elsewhere = desk.command(&rerank).current_dir(&folder).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(2), "{}", told(&elsewhere));
    assert!(!desk.path("started").exists() && !folder.join("started").exists());
    // A link to the folder is the folder.
    std::fs::write(
        desk.path("overrule.toml"),
        other.replace("--slow", "--fast"),
    )
    .unwrap();
    let link = desk.path("link");
    std::os::unix::fs::symlink(desk.folder.path(), &link).unwrap();
    let linked = [&rerank[..], &["--retry-failed"]].concat();
    let linked = desk.command(&linked).current_dir(&link).output().unwrap();
    assert!(linked.status.success(), "{}", told(&linked));
}

#[test]
fn no_program_takes_the_place_of_a_method_a_ranking_or_a_file() {
    let desk = Desk::new("");
    let run: String = (0..9)
        .map(|at| format!("q Q0 d{at} {} {} first\n", at + 1, 9 - at))
        .collect();
    std::fs::write(desk.path("first.trec"), &run).unwrap();
    let imported = desk.run(&["import", "in.jsonl", "first.trec"]);
    assert!(imported.status.success(), "{}", told(&imported));
    for (name, why) in [
        ("bm25", "give it another name"),
        (
            "first",
            "a ranking of the project; give the reranker another name",
        ),
        ("first.trec", "a file; give the reranker another name"),
    ] {
        program(&desk, name);
        let allowed = desk.run(&["allow", "--yes"]);
        let refused = desk.run(&["rerank", "--method", name, "--yes"]);
        let said = told(&refused);
        assert_eq!(refused.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(why), "{said} {}", told(&allowed));
    }
    assert!(!desk.path("started").exists());
}
