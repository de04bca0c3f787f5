//! What an `overrule.toml` asks for is put to the user once, and the answer kept.

use super::Terminal;
use super::fake_provider::FakeProvider;
use std::path::Path;

fn doctor(folder: &Path) -> Terminal {
    let environment = [("GATEWAY_KEY", "sk-0123456789")];
    let arguments = ["--config", "mine.toml", "doctor"];
    Terminal::start(folder, &arguments, &environment, (100, 30))
}

#[test]
fn an_answer_is_kept_and_enter_alone_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = FakeProvider::start();
    let url = server.v1().replace("127.0.0.1", "0.0.0.0");
    let text = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = {url:?}\nkey_env = \"GATEWAY_KEY\"\n\
         insecure_http = true\n"
    );
    std::fs::write(folder.join("overrule.toml"), text).unwrap();
    let config = folder.join("mine.toml");
    let mine = "# mine\n[screen]\ntheme = \"dark\"";
    let asked = |keys: &str| {
        let mut terminal = doctor(folder);
        terminal.wait("send the key in GATEWAY_KEY to http://0.0.0.0");
        terminal.wait("Enter alone: not this time.");
        terminal.keys(keys);
        terminal.end()
    };
    let not_asked = || {
        let mut terminal = doctor(folder);
        let code = terminal.end();
        assert!(!terminal.screen().contains("Allow it?"));
        code
    };
    std::fs::write(&config, mine).unwrap();
    assert_eq!(asked("\r"), 3);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), mine);
    assert_eq!(asked("n\r"), 3);
    assert_eq!(not_asked(), 3);
    assert_eq!(server.total_calls(), 0);
    std::fs::write(&config, mine).unwrap();
    assert_eq!(asked("y\r"), 0);
    assert!(server.total_calls() > 0);
    assert_eq!(not_asked(), 0);
    let kept = std::fs::read_to_string(&config).unwrap();
    assert!(
        kept.starts_with(mine) && kept.contains("allow = true"),
        "{kept}"
    );
}
