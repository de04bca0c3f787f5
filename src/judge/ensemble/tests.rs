use super::*;
use crate::domain::adjudication::PickMode;
use crate::domain::permission::PermissionRequest;
use crate::judge::JudgePrompt;
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::registry::PROVIDERS;

const KEY: &str = "sk-test-0123456789";

type Made = Result<(JudgeEnsemble, Vec<MissingKey>), String>;

fn make(text: &str, env: &[(&str, &str)], dotenv: &str) -> Made {
    make_asking(text, env, dotenv, &|_, _| true)
}

fn make_asking(
    text: &str,
    env: &[(&str, &str)],
    dotenv: &str,
    allows: &dyn Fn(&PermissionRequest, &str) -> bool,
) -> Made {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("own.md"),
        "answer: choice\n=== system ===\nDecide.\n=== case ===\n{{query}} {{a}} {{b}}\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("prices.json"),
        r#"{"models": [{"id": "gpt-new", "provider": "openai", "input": 7, "output": 70}]}"#,
    )
    .unwrap();
    let dotenv = Dotenv::parse(dotenv);
    let sources = JudgeSources {
        providers: &PROVIDERS,
        env: &|name| {
            env.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        },
        key_commands: &crate::judge::provider::KeyCommands::default(),
        dotenv: &dotenv,
        folder: folder.path(),
        today: jiff::civil::date(2026, 11, 21),
        insecure_http: false,
        timeouts: Timeouts::default(),
        trusted_hosts: &[],
        allows,
        project_texts: &|| Ok(Default::default()),
    };
    let file = JudgesFile::parse(text).map_err(|error| error.to_string())?;
    ensemble_from(&file, &sources).map_err(|error| error.to_string())
}

fn one(lines: &str) -> String {
    format!("[[judge]]\nname = \"j\"\n{lines}")
}

#[test]
fn the_default_is_one_judge_of_each_provider_and_keys_come_from_both_places() {
    let (ensemble, missing) = make(
        DEFAULT,
        &[("OPENAI_API_KEY", KEY), ("GOOGLE_API_KEY", " ")],
        "GEMINI_API_KEY=g\n",
    )
    .unwrap();
    let models: Vec<_> = ensemble
        .iter()
        .map(|judge| judge.spec().model.as_str())
        .collect();
    assert_eq!(models, ["gpt-6.1-terra", "gemini-3.8-flash"]);
    assert_eq!(
        missing,
        [MissingKey {
            judge: "claude".to_owned(),
            problem: KeyProblem::NotSet("ANTHROPIC_API_KEY".to_owned())
        }]
    );
    for judge in &ensemble {
        assert!(judge.estimate(&JudgePrompt::default()).1.unwrap() > 0.0);
        assert!(
            judge.worst(&JudgePrompt::default()).1.unwrap()
                > judge.estimate(&JudgePrompt::default()).1.unwrap()
        );
        assert!(judge.batch().is_some());
    }
    let (none, missing) = make(DEFAULT, &[], "").unwrap();
    assert!(none.is_empty() && missing.len() == 3);
}

#[test]
fn what_changes_answers_is_in_the_spec_and_the_key_is_nowhere() {
    let spec = |lines: &str| {
        make(&one(lines), &[("OPENAI_API_KEY", KEY)], "").unwrap().0[0]
            .spec()
            .clone()
    };
    let openai = "provider = \"openai\"\nmodel = \"gpt-6.1-terra\"\n";
    let plain = spec(openai);
    assert_eq!(plain.params, r#"{"max_document_chars":24000}"#);
    for more in [
        "prompt = \"choice\"",
        "prompt = \"own.md\"",
        "max_document_chars = 9",
        "max_document_tokens = 9",
        "params = { temperature = 0.7 }",
        "params = { reasoning_effort = \"high\" }",
    ] {
        assert_ne!(spec(&format!("{openai}{more}")), plain, "{more}");
    }
    // The identity that projects have recorded; metadata is part of the prompt's version.
    assert_eq!(plain.prompt_hash, "2673a2810eda5a51");
    let metadata = |setting: &str| spec(&format!("{openai}metadata = {setting}"));
    let shown = ["\"all\"", "[\"price\"]", "[\"price\", \"brand\"]"].map(metadata);
    for (at, one) in shown.iter().enumerate() {
        assert_eq!(one.params, plain.params);
        let others = shown[..at].iter().chain([&plain]);
        assert!(others.into_iter().all(|other| !one.is_same_judge(other)));
    }
    assert_eq!(metadata("[\"brand\", \"price\", \"brand\"]"), shown[2]);
    for more in [
        "concurrency = 3",
        "headers = { X-Team = \"search\" }",
        "max_output_tokens = 9",
        "timeout_s = 9",
        "params = { seed = 1 }",
        "requests_per_minute = 3",
        "base_model = \"gpt-6\"",
        "price = { input = 1, output = 2 }",
        "base_url = \"https://eu.api.openai.com/v1\"",
    ] {
        assert_eq!(spec(&format!("{openai}{more}")), plain, "{more}");
    }
    let (ensemble, _) = make(&one(openai), &[("OPENAI_API_KEY", KEY)], "").unwrap();
    let shown = format!("{:?} {:?}", ensemble[0], ensemble[0].spec());
    assert!(
        shown.contains("gpt-6.1-terra") && !shown.contains(KEY),
        "{shown}"
    );
}

/// The settings of a section of the documented file, each with its comment.
fn documented(from: &str, to: &str) -> Vec<(String, String)> {
    let more = [
        crate::embedding::defaults(),
        crate::judge::reranker::defaults(),
    ]
    .concat();
    let text = documented_file(&more);
    assert!(!text.contains("<<"), "{text}");
    JudgesFile::parse(&text).unwrap();
    let mut settings: Vec<(String, String)> = Vec::new();
    let section = text
        .lines()
        .skip_while(|line| !line.starts_with(from))
        .skip(1)
        .take_while(|line| !line.starts_with(to));
    for line in section.filter_map(|line| line.strip_prefix("# ")) {
        assert!(line.len() < 124, "{line}");
        let (setting, comment) = line.split_once(" # ").unwrap_or((line, ""));
        if setting.contains(" = ") {
            settings.push((setting.trim().to_owned(), comment.to_owned()));
        } else if let Some((_, earlier)) = settings.last_mut() {
            earlier.push_str(&format!(" {}", line.trim_start_matches([' ', '#'])));
        }
    }
    settings
}

/// The documented value of a setting for a provider: `N for a, b and c` in the comment, or else the
/// value itself.
fn documented_value(setting: &str, comment: &str, provider: &str) -> String {
    comment
        .split([';', '.'])
        .filter_map(|part| part.split_once(" for "))
        .find(|(value, names)| {
            value.trim().parse::<u64>().is_ok()
                && names.split([',', ' ']).any(|name| name.trim() == provider)
        })
        .map_or_else(
            || setting.to_owned(),
            |(value, _)| {
                let (name, _) = setting.split_once(" = ").unwrap();
                format!("{name} = {}", value.trim())
            },
        )
}

#[test]
fn a_documented_default_that_is_written_out_changes_nothing() {
    let judge = |provider: &str, more: &str| {
        let text = one(&format!(
            "provider = {provider:?}\nmodel = \"m\"\nbase_url = \"https://models.example/v1\"\nkey_env = \"MY_KEY\"\n{more}"
        ));
        let (ensemble, _) = make(&text, &[("MY_KEY", KEY)], "").unwrap();
        format!("{:#?}", ensemble[0])
    };
    let mut tried = Vec::new();
    for (setting, comment) in documented("# model = \"qwen3-8b\"", "# [judge.params]") {
        if comment.starts_with("example") || setting.starts_with("model ") {
            continue;
        }
        for provider in PROVIDERS.iter().map(|provider| provider.name()) {
            // These providers have their own prompts.
            if setting.starts_with("prompt ") && provider.ends_with("-decisions") {
                continue;
            }
            let setting = documented_value(&setting, &comment, provider);
            let (written, plain) = (judge(provider, &setting), judge(provider, ""));
            assert_eq!(written, plain, "{provider}: {setting}");
        }
        tried.push(setting.split_once(" = ").unwrap().0.to_owned());
    }
    assert_eq!(
        tried,
        [
            "prompt",
            "max_document_chars",
            "max_document_tokens",
            "max_output_tokens",
            "connect_timeout_s",
            "first_byte_timeout_s",
            "timeout_s",
            "give_up_after_s",
            "insecure_http"
        ]
    );
}

#[test]
fn documented_parameters_are_those_that_are_sent() {
    let models = [
        ("openai", "gpt-6.1-terra"),
        ("anthropic", "claude-sonnet-5-5"),
        ("gemini", "gemini-3.8-flash"),
        ("ollama", "qwen3:8b"),
        ("compatible", "m"),
    ];
    let judge = |provider: &str, params: &str| {
        let (_, model) = models.iter().find(|(name, _)| *name == provider).unwrap();
        let text = one(&format!(
            "provider = {provider:?}\nmodel = {model:?}\nbase_url = \"https://models.example/v1\"\nkey_env = \"MY_KEY\"\n\
             [judge.params]\n{params}"
        ));
        let (ensemble, _) = make(&text, &[("MY_KEY", KEY)], "").unwrap();
        (ensemble[0].spec().clone(), ensemble[0].seed())
    };
    let mut tried = 0;
    for (setting, comment) in documented("# [judge.params]", "# Much cheaper models:") {
        if comment.starts_with("example") || setting.starts_with("[[") {
            continue;
        }
        let named = comment.split_whitespace().next().unwrap_or_default();
        let provider = models
            .iter()
            .map(|(name, _)| *name)
            .find(|name| *name == named)
            .unwrap_or("compatible");
        assert_eq!(judge(provider, &setting), judge(provider, ""), "{setting}");
        tried += 1;
    }
    assert!(tried >= 6, "{tried}");
}

#[test]
fn a_seed_is_known_where_answers_are_drawn_at_random() {
    let seed = |provider: &str, params: &str| {
        let text = one(&format!(
            "provider = {provider:?}\nmodel = \"m\"\nbase_url = \"https://models.example/v1\"\nkey_env = \"MY_KEY\"\n\
             params = {{ {params} }}"
        ));
        let (ensemble, _) = make(&text, &[("MY_KEY", KEY)], "").unwrap();
        ensemble[0].seed()
    };
    for (provider, params, known) in [
        ("compatible", "", None),
        ("compatible", "seed = 4", None),
        ("compatible", "temperature = 0, seed = 4", None),
        ("compatible", "temperature = 0.7", Some("0")),
        ("compatible", "temperature = 0.7, seed = 4", Some("4")),
        ("mistral", "temperature = 0.7, random_seed = 4", Some("4")),
        (
            "ollama",
            "options = { temperature = 0.7, seed = 4 }",
            Some("4"),
        ),
        (
            "gemini",
            "generationConfig = { temperature = 0.7, seed = 4 }",
            Some("4"),
        ),
    ] {
        assert_eq!(
            seed(provider, params).as_deref(),
            known,
            "{provider}: {params}"
        );
    }
}

#[test]
fn picks_are_asked_for_in_ones_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let template = |answer: &str, case: &str| {
        format!("answer: {answer}\n=== system ===\nMine.\n=== case ===\n{{{{query}}}}{case}")
    };
    let case = "{{documents}}{{task}}";
    for (name, text) in [
        ("slots.md", template("slots", case)),
        ("verdicts.md", template("verdicts", case)),
        ("bare.md", template("slots", "{{documents}}")),
        ("odd.md", template("slots", "{{documents}}{{task}}{{a}}")),
        ("score.md", template("score", "{{a}}{{b}}")),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let picker = |more: &str, way: PickMode| {
        let text = one(&format!("provider = \"ollama\"\nmodel = \"m\"\n{more}"));
        let sources = JudgeSources {
            providers: &PROVIDERS,
            env: &|_| None,
            key_commands: &crate::judge::provider::KeyCommands::default(),
            dotenv: &Dotenv::parse(""),
            folder: folder.path(),
            today: jiff::civil::date(2026, 11, 21),
            insecure_http: false,
            timeouts: Timeouts::default(),
            trusted_hosts: &[],
            allows: &|_, _| false,
            project_texts: &|| Ok(Default::default()),
        };
        pickers_from(&JudgesFile::parse(&text).unwrap(), &sources, way)
            .map(|(judges, _)| judges[0].spec().prompt_hash.clone())
            .map_err(|error| error.to_string())
    };
    let embedded = [
        PickMode::Exactly,
        PickMode::AnyNumber,
        PickMode::PerDocument,
    ]
    .map(|way| picker("", way));
    assert_eq!(embedded[0], embedded[1]);
    assert_ne!(embedded[1], embedded[2]);
    let both = "pick_prompt = \"slots.md\"\nverdict_prompt = \"verdicts.md\"";
    let own = [
        PickMode::Exactly,
        PickMode::AnyNumber,
        PickMode::PerDocument,
    ]
    .map(|way| picker(both, way));
    assert_eq!(own[0], own[1]);
    for (own, embedded) in own.iter().zip(&embedded) {
        assert!(own.is_ok() && own != embedded, "{own:?}");
    }
    for (more, way, message) in [
        (
            "pick_prompt = \"verdicts.md\"",
            PickMode::AnyNumber,
            "asks for verdicts; begin it with \"answer: slots\"",
        ),
        (
            "verdict_prompt = \"score.md\"",
            PickMode::PerDocument,
            "asks for score; begin it with \"answer: verdicts\"",
        ),
        (
            "pick_prompt = \"bare.md\"",
            PickMode::Exactly,
            "pick_prompt \"bare.md\": the prompt's case does not contain {{task}}",
        ),
        (
            "pick_prompt = \"odd.md\"",
            PickMode::Exactly,
            "the prompt contains {{a}}",
        ),
        (
            "pick_prompt = \"none.md\"",
            PickMode::Exactly,
            "pick_prompt is a file",
        ),
    ] {
        let error = picker(more, way).unwrap_err();
        assert!(error.contains(message), "{more}: {error}");
    }
}

#[test]
fn wrong_judges_say_what_is_wrong() {
    for (lines, message) in [
        (
            "provider = \"opnai\"\nmodel = \"m\"",
            "no provider is called \"opnai\"",
        ),
        ("provider = \"openai\"\nmodel = \"\"", "the model is empty"),
        (
            "provider = \"openai\"\nmodel = \"m\"\nmetadata = \"price\"",
            "metadata: expected \"all\" or a list of fields, such as [\"price\"], found \"price\"",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nmetadata = []",
            "metadata: the list names no field",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nmetadata = true",
            "\"all\" or a list of fields",
        ),
        (
            "provider = \"offline\"\nmodel = \"bm25\"\nmetadata = \"all\"",
            "metadata: the offline judges read texts only",
        ),
        (
            "provider = \"azure\"\nmodel = \"m\"",
            "set base_url, or AZURE_OPENAI_ENDPOINT",
        ),
        ("provider = \"compatible\"\nmodel = \"m\"", "set base_url"),
        (
            "provider = \"openai\"\nmodel = \"m\"\nkey_env = \"MY_KEY\"\nbase_url = \"http://gpu.lan/v1\"",
            "unencrypted",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://api.openai.com/v1\"\ninsecure_http = true",
            "OPENAI_API_KEY is not sent to api.openai.com unencrypted",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nprice = { input = -1, output = 1 }",
            "price: expected dollars",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nprice = { input = 1, output = inf }",
            "price: expected dollars",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\ntimeout_s = 0",
            "timeout_s = 0: expected seconds above 0",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nconnect_timeout_s = -1.5",
            "connect_timeout_s = -1.5",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nfirst_byte_timeout_s = nan",
            "first_byte_timeout_s",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\ngive_up_after_s = 1e9",
            "give_up_after_s",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"nonsense\"",
            "base_url is not an address",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nprompt = \"none.md\"",
            "cannot be read",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nparams = { messages = 1 }",
            "params may not hold \"messages\"",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nmax_document_chars = 0",
            "a limit of 0",
        ),
        (
            "provider = \"offline\"\nmodel = \"m\"",
            "the offline judges are bm25, proximity, ngram",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\nmodle = \"m\"",
            "modle",
        ),
        (
            "provider = \"openai\"\nmodel = \"m\"\n[[judge]]\nname = \"j\"\nprovider = \"openai\"\nmodel = \"n\"",
            "used twice",
        ),
    ] {
        let error = make(
            &one(lines),
            &[
                ("OPENAI_API_KEY", KEY),
                ("AZURE_OPENAI_API_KEY", KEY),
                ("MY_KEY", KEY),
            ],
            "",
        )
        .unwrap_err();
        assert!(
            error.contains(message) && !error.contains(KEY),
            "{lines}: {error}"
        );
    }
    let error = make(
        &one("provider = \"openai\"\nmodel = \"m\""),
        &[("OPENAI_API_KEY", "a\u{7}b")],
        "",
    )
    .unwrap_err();
    assert!(
        error.contains("copy it again") && !error.contains('\u{7}'),
        "{error}"
    );
}

#[test]
fn local_servers_need_no_key_and_cost_nothing() {
    for lines in [
        "provider = \"ollama\"\nmodel = \"qwen3:8b\"",
        "provider = \"llamacpp\"\nmodel = \"m\"\nprompt = \"letter\"",
        "provider = \"compatible\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:8000/v1\"",
    ] {
        let (ensemble, missing) = make(&one(lines), &[], "").unwrap();
        assert!(missing.is_empty());
        assert_eq!(ensemble[0].estimate(&JudgePrompt::default()).1, Some(0.0));
        assert!(ensemble[0].batch().is_none());
    }
    let (ensemble, _) = make(
        &one("provider = \"compatible\"\nmodel = \"m\"\nbase_url = \"http://gpu.lan/v1\""),
        &[],
        "",
    )
    .unwrap();
    assert_eq!(ensemble[0].estimate(&JudgePrompt::default()).1, None);
    let (_, missing) = make(&one("provider = \"compatible\"\nmodel = \"m\"\nbase_url = \"https://gpu.lan/v1\"\nkey_env = \"MINE\""), &[], "").unwrap();
    assert_eq!(missing[0].problem, KeyProblem::NotSet("MINE".to_owned()));
}

#[test]
fn prices_of_ones_own_come_first() {
    let text = format!(
        "prices = \"prices.json\"\n{}",
        one("provider = \"openai\"\nmodel = \"gpt-new\"")
    );
    let cost = |text: &str| {
        make(text, &[("OPENAI_API_KEY", KEY)], "").unwrap().0[0]
            .estimate(&JudgePrompt::default())
            .1
    };
    assert!((cost(&text).unwrap() - 400.0 * 70.0 / 1e6).abs() < 1e-12);
    assert_eq!(
        cost(&one("provider = \"openai\"\nmodel = \"gpt-new\"")),
        None
    );
    let own =
        one("provider = \"openai\"\nmodel = \"gpt-new\"\nprice = { input = 1.0, output = 5.0 }");
    assert!((cost(&own).unwrap() - 400.0 * 5.0 / 1e6).abs() < 1e-12);
}

#[test]
fn an_address_is_not_taken_from_a_file_beside_the_project() {
    let text = one("provider = \"openai\"\nmodel = \"m\"");
    let (ensemble, _) = make(
        &text,
        &[("OPENAI_API_KEY", KEY)],
        "OPENAI_BASE_URL=https://evil.example/v1\n",
    )
    .unwrap();
    assert!(format!("{:?}", ensemble[0]).contains("https://api.openai.com/v1/chat/completions"));
    let (ensemble, _) = make(
        &text,
        &[
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", "https://eu.api.openai.com/v1/"),
        ],
        "",
    )
    .unwrap();
    assert!(format!("{:?}", ensemble[0]).contains("https://eu.api.openai.com/v1/chat/completions"));
}

/// The judges, and what they lack, with the requests made to a user who answers `allow`.
fn asked(text: &str, env: &[(&str, &str)], dotenv: &str, allow: bool) -> (Made, Vec<String>) {
    let requests = std::cell::RefCell::<Vec<String>>::default();
    let made = make_asking(text, env, dotenv, &|request, judge| {
        requests.borrow_mut().push(format!("{judge}: {request}"));
        allow
    });
    (made, requests.into_inner())
}

#[test]
fn a_variable_and_a_server_that_are_no_pair_need_permission_wherever_the_key_lies() {
    let gateway = "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://gpu.lan/v1\"";
    let open = "provider = \"compatible\"\nmodel = \"m\"\nbase_url = \"http://gpu.lan:8000/v1\"\ninsecure_http = true";
    let named = |name: &str| format!("{open}\nkey_env = {name:?}");
    for (lines, variable, request) in [
        (
            gateway.to_owned(),
            "OPENAI_API_KEY",
            "j: send the key in OPENAI_API_KEY to https://gpu.lan",
        ),
        (
            named("aws_secret_access_key"),
            "aws_secret_access_key",
            "j: send the key in aws_secret_access_key to http://gpu.lan:8000, unencrypted",
        ),
        (
            named("MYSQL_PWD"),
            "MYSQL_PWD",
            "j: send the key in MYSQL_PWD to http://gpu.lan:8000, unencrypted",
        ),
    ] {
        let text = one(&lines);
        for (env, dotenv) in [
            (vec![(variable, KEY)], String::new()),
            (vec![], format!("{variable}={KEY}\n")),
        ] {
            let (refused, requests) = asked(&text, &env, &dotenv, false);
            let (judges, missing) = refused.unwrap();
            assert_eq!(requests, [request]);
            assert!(judges.is_empty());
            assert!(
                matches!(missing[0].problem, KeyProblem::NotAllowed(_)),
                "{missing:?}"
            );
            let (allowed, _) = asked(&text, &env, &dotenv, true);
            assert_eq!(allowed.unwrap().0.len(), 1);
        }
    }
}

#[test]
fn nobody_is_asked_about_a_key_that_is_not_sent() {
    // The user's own environment may set a gateway for this provider's key, but for no other key.
    let gateway = ("OPENAI_BASE_URL", "https://gateway.lan/v1");
    let usual = one("provider = \"openai\"\nmodel = \"m\"");
    let (made, requests) = asked(&usual, &[("OPENAI_API_KEY", KEY), gateway], "", false);
    assert_eq!((made.unwrap().0.len(), requests.len()), (1, 0));
    let other = format!("{usual}\nkey_env = \"GROQ_API_KEY\"");
    let (_, requests) = asked(&other, &[("GROQ_API_KEY", KEY), gateway], "", false);
    assert_eq!(
        requests,
        ["j: send the key in GROQ_API_KEY to https://gateway.lan"]
    );
    // A local Ollama needs no key, and must not get that of its cloud.
    let ollama = one("provider = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://gpu.lan:11434\"");
    let (made, requests) = asked(&ollama, &[("OLLAMA_API_KEY", KEY)], "", false);
    assert_eq!((made.unwrap().0.len(), requests.len()), (1, 0));
    // Unencrypted, and overrule.toml does not even allow it.
    let open = one(
        "provider = \"compatible\"\nmodel = \"m\"\nkey_env = \"K\"\nbase_url = \"http://gpu.lan/v1\"",
    );
    let (made, requests) = asked(&open, &[("K", KEY)], "", false);
    assert!(made.unwrap_err().contains("unencrypted") && requests.is_empty());
}

#[test]
fn no_judge_takes_the_name_of_an_offline_one() {
    for name in ["bm25", "proximity", "ngram", "offline"] {
        let text = format!(
            "[[judge]]\nname = {name:?}\nprovider = \"compatible\"\nmodel = \"bm25\"\nbase_url = \"https://gpu.lan/v1\""
        );
        let error = make(&text, &[], "").unwrap_err();
        assert!(error.contains("belongs to the offline judges"), "{error}");
    }
    let own = "[[judge]]\nname = \"bm25\"\nprovider = \"offline\"\nmodel = \"bm25\"";
    assert!(make(own, &[], "").is_ok());
}

#[test]
fn time_outs_are_the_judges_own_and_no_part_of_who_it_is() {
    let made = |lines: &str| {
        let (mut ensemble, _) = make(&one(lines), &[("OPENAI_API_KEY", KEY)], "").unwrap();
        ensemble.remove(0)
    };
    let plain = made("provider = \"openai\"\nmodel = \"m\"");
    let timed = made(
        "provider = \"openai\"\nmodel = \"m\"\nconnect_timeout_s = 3\nfirst_byte_timeout_s = 20.5\ntimeout_s = 40\ngive_up_after_s = 90",
    );
    assert_eq!(plain.spec(), timed.spec());
    let patience = |judge: &Arc<dyn crate::judge::Judge>| {
        let limits = judge.limits();
        (
            limits.give_up_after.as_secs(),
            limits.silent_after.as_secs(),
        )
    };
    // A call times out by itself before silence ends it, unless the user sets a shorter time.
    assert_eq!(patience(&plain), (60, 310));
    assert_eq!(patience(&timed), (90, 90));
    let slow = made("provider = \"openai\"\nmodel = \"m\"\nfirst_byte_timeout_s = 900");
    assert_eq!(patience(&slow), (60, 910));
    let shown = format!("{timed:?}");
    for part in ["connect: 3s", "first_byte: 20.5s", "whole: 40s"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    for local in ["ollama", "vllm", "llamacpp", "lmstudio"] {
        let judge = made(&format!("provider = {local:?}\nmodel = \"m\""));
        assert_eq!(patience(&judge), (300, 910), "{local}");
    }
}

#[test]
fn models_on_the_users_own_machine_begin_with_short_answers_unless_they_think_or_somebody_chose() {
    for local in ["ollama", "vllm", "llamacpp", "lmstudio"] {
        for (more, short) in [
            ("", true),
            ("max_output_tokens = 3000", false),
            ("params = { reasoning_effort = \"high\" }", false),
            ("params = { think = true }", false),
            (
                "params = { chat_template_kwargs = { enable_thinking = true } }",
                false,
            ),
            (
                "params = { chat_template_kwargs = { enable_thinking = false } }",
                true,
            ),
            ("params = { thinking = { type = \"disabled\" } }", true),
            ("params = { reasoning_effort = \"none\" }", true),
        ] {
            let (ensemble, _) = make(
                &one(&format!("provider = {local:?}\nmodel = \"m\"\n{more}")),
                &[],
                "",
            )
            .unwrap();
            let shown = format!("{:?}", ensemble[0]);
            assert_eq!(
                shown.contains("short_cap: Some(1024)"),
                short,
                "{local}, {more}"
            );
        }
    }
}

#[test]
fn an_address_that_was_pasted_with_its_route_is_understood() {
    for (provider, pasted, url) in [
        (
            "compatible",
            "http://127.0.0.1:8000/v1/chat/completions",
            "http://127.0.0.1:8000/v1/chat/completions",
        ),
        (
            "ollama",
            "http://127.0.0.1:11434/v1",
            "http://127.0.0.1:11434/api/chat",
        ),
        (
            "ollama",
            "http://127.0.0.1:11434/v1/chat/completions",
            "http://127.0.0.1:11434/api/chat",
        ),
        (
            "ollama",
            "http://127.0.0.1:11434/api",
            "http://127.0.0.1:11434/api/chat",
        ),
        (
            "anthropic",
            "https://api.anthropic.com/v1",
            "https://api.anthropic.com/v1/messages",
        ),
    ] {
        let lines = format!("provider = \"{provider}\"\nmodel = \"m\"\nbase_url = \"{pasted}\"");
        let keys = [("ANTHROPIC_API_KEY", KEY)];
        let (ensemble, _) = make(&one(&lines), &keys, "").unwrap();
        let shown = format!("{:?}", ensemble[0]);
        assert!(shown.contains(&format!("{url:?}")), "{url} in {shown}");
    }
}

#[test]
fn secrets_do_not_stand_in_headers() {
    for (headers, why) in [
        ("{ Authorization = \"Bearer x\" }", "key_env"),
        ("{ \"no name\" = \"x\" }", "is not a valid header name"),
        ("{ Host = \"x\" }", "set by the judge"),
        ("{ X-A = \"a\\nb\" }", "headers cannot contain"),
    ] {
        let lines = format!(
            "provider = \"compatible\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nheaders = {headers}"
        );
        let error = make(&one(&lines), &[], "").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_gateways_model_has_the_price_of_what_it_really_is() {
    let lines = |base: &str| {
        format!(
            "provider = \"compatible\"\nmodel = \"team-judge\"\nbase_url = \"https://gateway.example.com/v1\"\nkey_env = \"GATEWAY\"\n{base}"
        )
    };
    let price = |base: &str| {
        let (ensemble, _) = make(&one(&lines(base)), &[("GATEWAY", KEY)], "").unwrap();
        ensemble[0].estimate(&JudgePrompt::default()).1
    };
    assert_eq!(price(""), None);
    assert!(price("base_model = \"openai/gpt-6.1-terra\"").unwrap() > 0.0);
    assert_eq!(price("base_model = \"nobody/knows\""), None);
}
