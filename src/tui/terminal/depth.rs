//! Determines the color depth of the terminal: from the flag, then `NO_COLOR`, `COLORTERM`, `TERM`.

use std::env;

use crate::tui::theme::ColorDepth;

/// Values of `TERM` whose terminals support truecolor but lose `COLORTERM` over ssh.
const TRUE_TERMS: [&str; 6] = ["direct", "kitty", "ghostty", "alacritty", "wezterm", "foot"];

/// The depth requested by the flag, or else by the environment.
pub fn depth_from(flag: Option<ColorDepth>, lookup: impl Fn(&str) -> Option<String>) -> ColorDepth {
    if let Some(depth) = flag {
        return depth;
    }
    if lookup("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return ColorDepth::None;
    }
    let term = lookup("TERM").unwrap_or_default();
    if is_multiplexer(&term, &lookup) && !term.contains("direct") {
        return match term.as_str() {
            "dumb" | "none" => ColorDepth::None,
            "screen" => ColorDepth::Ansi16,
            _ => ColorDepth::Ansi256,
        };
    }
    let color_term = lookup("COLORTERM").unwrap_or_default().to_ascii_lowercase();
    if matches!(color_term.as_str(), "truecolor" | "24bit") || lookup("WT_SESSION").is_some() {
        return ColorDepth::True;
    }
    match term.as_str() {
        "dumb" | "none" => ColorDepth::None,
        "" if cfg!(unix) => ColorDepth::None,
        term if TRUE_TERMS.iter().any(|name| term.contains(name)) => ColorDepth::True,
        term if term.contains("256color") => ColorDepth::Ansi256,
        _ => ColorDepth::Ansi16,
    }
}

/// Whether the terminal is tmux or GNU screen. `COLORTERM` then describes the terminal outside, and
/// the multiplexer may not pass truecolor on, but replace it by few colors, some of them equal.
fn is_multiplexer(term: &str, lookup: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name| lookup(name).is_some_and(|value| !value.is_empty());
    ["screen", "tmux"].iter().any(|name| term.starts_with(name)) || is_set("TMUX") || is_set("STY")
}

/// [`depth_from`] with the process's environment.
pub fn detect_depth(flag: Option<ColorDepth>) -> ColorDepth {
    depth_from(flag, |name| env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(vars: &[(&str, &str)]) -> ColorDepth {
        depth_from(None, |name| {
            vars.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_is_asked_in_order() {
        assert_eq!(
            depth(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]),
            ColorDepth::None
        );
        assert_eq!(
            depth(&[("NO_COLOR", ""), ("COLORTERM", "24bit")]),
            ColorDepth::True
        );
        assert_eq!(
            depth(&[("COLORTERM", "yes"), ("TERM", "xterm-256color")]),
            ColorDepth::Ansi256
        );
        assert_eq!(depth(&[("TERM", "xterm-kitty")]), ColorDepth::True);
        assert_eq!(depth(&[("TERM", "xterm")]), ColorDepth::Ansi16);
        assert_eq!(depth(&[("TERM", "dumb")]), ColorDepth::None);
        assert_eq!(depth(&[("TERM", "none")]), ColorDepth::None);
    }

    #[test]
    fn a_multiplexer_gets_256_colors_unless_its_terminal_is_direct() {
        let outside = ("COLORTERM", "truecolor");
        for (term, expected) in [
            ("screen-256color", ColorDepth::Ansi256),
            ("tmux-256color", ColorDepth::Ansi256),
            ("tmux", ColorDepth::Ansi256),
            ("screen", ColorDepth::Ansi16),
            ("tmux-direct", ColorDepth::True),
        ] {
            assert_eq!(depth(&[outside, ("TERM", term)]), expected, "{term}");
        }
        for inside in ["TMUX", "STY"] {
            let vars = [outside, ("TERM", "xterm-256color"), (inside, "1")];
            assert_eq!(depth(&vars), ColorDepth::Ansi256, "{inside}");
            let vars = [("TERM", "dumb"), (inside, "1")];
            assert_eq!(depth(&vars), ColorDepth::None, "{inside}");
        }
    }

    #[test]
    fn a_flag_beats_the_environment() {
        assert_eq!(
            depth_from(Some(ColorDepth::True), |_| Some("1".into())),
            ColorDepth::True
        );
        assert_eq!("256".parse(), Ok(ColorDepth::Ansi256));
        assert!("512".parse::<ColorDepth>().is_err());
    }
}
