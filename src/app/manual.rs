//! The manual: finds chapters by topic and lays them out for a terminal.

mod layout;

pub use layout::{Emphasis, LineKind, ManualLine, ManualPage};

/// One chapter: `assets/manual/TOPIC.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The topic by which it is requested.
    pub topic: &'static str,
    pub text: &'static str,
}

macro_rules! chapters {
    ($($topic:literal),* $(,)?) => {
        &[$(Chapter {
            topic: $topic,
            text: include_str!(concat!("../../assets/manual/", $topic, ".md")),
        }),*]
    };
}

/// All chapters, in reading order.
pub const CHAPTERS: &[Chapter] = chapters![
    "start",
    "screens",
    "keys",
    "annotate",
    "sampling",
    "judges",
    "prompts",
    "gate",
    "drift",
    "battery",
    "providers",
    "rerankers",
    "money",
    "batches",
    "machines",
    "limits",
    "numbers",
    "review",
    "accept",
    "judge-report",
    "people",
    "pools",
    "picks",
    "adjudication",
    "evaluate",
    "measure",
    "methods",
    "lists",
    "student",
    "scale",
    "duel",
    "report",
    "notebooks",
    "agents",
    "science",
    "checks",
    "formats",
    "merge",
    "project",
    "configuration",
    "safety",
    "trouble",
];

impl Chapter {
    /// The chapter with that topic, or the only one whose topic starts with it.
    pub fn find(topic: &str) -> Option<Self> {
        let exact = CHAPTERS.iter().find(|chapter| chapter.topic == topic);
        let mut beginning = CHAPTERS
            .iter()
            .filter(|chapter| !topic.is_empty() && chapter.topic.starts_with(topic));
        exact
            .or_else(|| beginning.next().filter(|_| beginning.next().is_none()))
            .copied()
    }

    pub fn title(&self) -> &'static str {
        let heading = self.text.lines().next().unwrap_or_default();
        heading.trim_start_matches("# ")
    }

    /// Its subject in one line.
    pub fn summary(&self) -> &'static str {
        self.text
            .lines()
            .skip(1)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    }

    /// Its text for a terminal of `width` columns: tables aligned, examples indented, links as
    /// topics.
    pub fn plain(&self, width: usize) -> String {
        layout::layout(self.text, width, true).plain()
    }

    /// Its text without the title in lines of at most `width` columns.
    pub fn body(&self, width: usize) -> ManualPage {
        let (_, body) = self.text.split_once('\n').unwrap_or_default();
        layout::layout(body, width, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_chapter_file_is_listed_once_and_begins_with_a_title_and_a_summary() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/manual");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut topics: Vec<String> = CHAPTERS
            .iter()
            .map(|it| format!("{}.md", it.topic))
            .collect();
        topics.sort();
        assert_eq!(topics, files);
        for chapter in CHAPTERS {
            assert!(chapter.text.starts_with("# "), "{}", chapter.topic);
            let summary = chapter.summary();
            assert!(summary.ends_with('.'), "{}: {summary}", chapter.topic);
            assert!(
                summary.chars().count() <= 65,
                "{}: {summary}",
                chapter.topic
            );
        }
    }

    #[test]
    fn links_lead_to_chapters_and_headings_are_plain() {
        for chapter in CHAPTERS {
            for link in chapter.text.split("](").skip(1) {
                let target = link.split(')').next().unwrap();
                let topic = target
                    .strip_suffix(".md")
                    .unwrap_or_else(|| panic!("{target}"));
                let found = CHAPTERS.iter().any(|it| it.topic == topic);
                assert!(found, "{}: {target}", chapter.topic);
            }
        }
    }

    #[test]
    fn a_topic_may_be_cut_short_where_that_is_clear() {
        let topic = |word| Chapter::find(word).map(|chapter| chapter.topic);
        assert_eq!(topic("adj"), Some("adjudication"));
        assert_eq!(topic("pro"), None, "providers or project");
        assert_eq!(topic("keys"), Some("keys"));
        assert_eq!(topic(""), None);
        assert_eq!(topic("nothing"), None);
    }

    #[test]
    fn sentences_and_tables_fit_any_terminal() {
        for chapter in CHAPTERS {
            for width in [56, 76, 86] {
                for line in chapter.body(width).lines {
                    let text = line.text();
                    let words = text.trim_start().trim_start_matches("- ");
                    let fits = line.kind == LineKind::Example
                        || !words.contains(' ')
                        || text.width() <= width;
                    assert!(fits, "{}: {}", chapter.topic, line.text());
                }
            }
        }
    }

    #[test]
    fn plain_text_has_no_markup_left() {
        for chapter in CHAPTERS {
            let text = chapter.plain(80);
            for markup in ["](", "**", "```", "<!--", "| ---"] {
                assert!(!text.contains(markup), "{}: {markup}", chapter.topic);
            }
        }
    }
}
