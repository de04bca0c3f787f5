//! Whom a key is sent to, and what may be spent, as the files say that the binary reads.

use crate::desk::{Desk, KEY, told};

#[test]
fn a_foreign_file_does_not_lead_the_users_own_key_away() {
    let desk = Desk::new("");
    let foreign = "[[judge]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = \"https://gw.example.com/v1\"\n";
    std::fs::write(desk.path("overrule.toml"), foreign).unwrap();
    let doctor = desk.run(&["doctor", "--offline"]);
    let (code, said) = (doctor.status.code(), told(&doctor));
    assert_eq!(code, Some(3), "{said}");
    for part in ["OPENAI_API_KEY", "gw.example.com", "overrule allow"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains(KEY), "{said}");
    // Neither file beside the project can say that the server is trusted.
    let trust = "[keys]\ntrusted_hosts = [\"gw.example.com\"]\n";
    std::fs::write(desk.path("config.toml"), trust).unwrap();
    std::fs::write(desk.path(".env"), "OVERRULE_CONFIG=config.toml\n").unwrap();
    assert_eq!(desk.run(&["doctor", "--offline"]).status.code(), Some(3));
    let embedder = foreign.replace("[[judge]]", "[[embedder]]");
    std::fs::write(desk.path("overrule.toml"), &embedder).unwrap();
    let embed = ["pool", "build", ".", "out.jsonl", "--embed", "gpt"];
    let embed = desk.run(&embed);
    assert_ne!(embed.status.code(), Some(0), "{}", told(&embed));
    // The user can.
    std::fs::write(desk.path("overrule.toml"), foreign).unwrap();
    let trusting = ["--config", "config.toml", "doctor", "--offline"];
    let trusted = told(&desk.run(&trusting));
    assert!(!trusted.contains("may not"), "{trusted}");
}

#[test]
fn a_budget_wants_a_limit_of_every_answer() {
    let desk = Desk::new("");
    let server = desk.server.v1();
    let judge = |params: &str| {
        let text = format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = {server:?}\nparams = {params}\n"
        );
        std::fs::write(desk.path("overrule.toml"), text).unwrap();
    };
    judge("{ max_completion_tokens = \"\" }");
    let refused = desk.annotate(&["--budget", "1"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("the length of an answer of gpt is not limited"),
        "{}",
        told(&refused)
    );
    assert_eq!(desk.server.total_calls(), 0);
    // One call may write for 5 dollars: not one is begun.
    judge("{ max_completion_tokens = 1000000 }");
    let broke = desk.annotate(&["--budget", "1"]);
    assert_eq!(desk.server.total_calls(), 0, "{}", told(&broke));
}
