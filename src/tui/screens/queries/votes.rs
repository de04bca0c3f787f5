//! Whose votes the list shows, and which servers could be judges.

use crate::app::text_format::first_of;
use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::Line;

/// Maximum number of models named.
const NAMED: usize = 2;

/// The lines below the totals.
pub(super) fn lines(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let cut = |words: &str| text::truncate(words, columns).into_owned();
    // No judge can be asked without its key, nor in a sample with recorded votes.
    let asked = match model.options.no_run {
        Some(_) => &[],
        None => model.options.judges.as_slice(),
    };
    let votes = model.votes.words(asked).map(|words| {
        if asked.is_empty() || model.votes.set_aside.is_empty() {
            vec![Line::styled(cut(&words), theme.muted())]
        } else {
            text::lines(&words, columns, theme.warn())
        }
    });
    let servers = model.servers.first().map(|server| {
        let models: Vec<&String> = server.judges().collect();
        let words = format!(
            "{} at {} has {}: {} sets up judges",
            sanitize::line(&server.provider),
            sanitize::line(&server.url),
            first_of(&models, NAMED),
            key_on(Command::SetUpJudges, Screen::QUERIES)
        );
        Line::styled(cut(&words), theme.warn())
    });
    votes.into_iter().flatten().chain(servers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::init::discovery::FoundServer;
    use crate::tui::screens::testing;

    #[test]
    fn a_server_is_offered_until_its_models_are_judges() {
        let mut model = testing::model(Screen::QUERIES);
        let shown = |model: &Model| {
            let lines = lines(model, &Theme::default(), 120);
            lines.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(shown(&model).is_empty());
        model.votes.counting = vec![(vec!["bm25".to_owned()], 8)];
        model.servers = vec![FoundServer {
            provider: "ollama".to_owned(),
            url: "http://127.0.0.1:11434".to_owned(),
            models: vec![
                "qwen3:8b".to_owned(),
                "all-minilm".to_owned(),
                "x\u{1b}[2J".to_owned(),
            ],
        }];
        assert_eq!(
            shown(&model),
            [
                "votes of bm25",
                "ollama at http://127.0.0.1:11434 has qwen3:8b, x␛[2J: + sets up judges"
            ]
        );
    }
}
