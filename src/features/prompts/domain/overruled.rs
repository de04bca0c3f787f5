//! A judgment that people overruled, as a judge that revises the prompt is shown it.

use super::examples::on_one_line;
use crate::domain::number_words::signed;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{Margin, Outcome};
use std::fmt::Write as _;

/// A judgment with the decision of the people. A is the document that the judge saw first.
#[derive(Clone, Debug, PartialEq)]
pub struct OverruledJudgment {
    pub query: String,
    pub a: String,
    pub b: String,
    /// Negative if the judge preferred A.
    pub judge: Margin,
    /// What the judge wrote; empty if that is unknown.
    pub reasoning: String,
    pub people: Outcome,
    pub cause: Option<ErrorCause>,
    pub note: Option<String>,
}

fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::A => "document A is better",
        Outcome::B => "document B is better",
        Outcome::Tie => "neither is better",
    }
}

impl OverruledJudgment {
    /// Its text; long parts are cut.
    pub fn text(&self) -> String {
        let mut text = format!(
            "Query: {}\nDocument A: {}\nDocument B: {}\nThe judge decided: {}, with a score of \
             {} from −1 (A) to 1 (B).\n",
            on_one_line(&self.query),
            on_one_line(&self.a),
            on_one_line(&self.b),
            words(self.judge.outcome()),
            signed(self.judge.get(), 2),
        );
        let mut add = |label: &str, value: &str| {
            let value = on_one_line(value);
            if !value.is_empty() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{label}: {value}");
            }
        };
        add("The judge wrote", &self.reasoning);
        add("People decided", words(self.people));
        add("Cause", self.cause.map_or("", ErrorCause::words));
        add("Note", self.note.as_deref().unwrap_or_default());
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgment_has_one_line_for_each_part_and_none_for_what_is_unknown() {
        let mut judgment = OverruledJudgment {
            query: "trams\nin town".to_owned(),
            a: "x".repeat(700),
            b: "short".to_owned(),
            judge: Margin::new(-0.5).unwrap(),
            reasoning: "A is longer.".to_owned(),
            people: Outcome::B,
            cause: Some(ErrorCause::JudgeWrong),
            note: Some("length is no evidence".to_owned()),
        };
        let text = judgment.text();
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(text.starts_with("Query: trams in town\nDocument A: xxx"));
        assert!(text.contains(&format!("{} …\nDocument B: short\n", "x".repeat(600))));
        assert!(text.contains("document A is better, with a score of −0.50 from"));
        assert!(text.ends_with(
            "\nThe judge wrote: A is longer.\nPeople decided: document B is better\nCause: the \
             judges are wrong\nNote: length is no evidence"
        ));
        (judgment.cause, judgment.note) = (None, None);
        judgment.reasoning.clear();
        assert_eq!(judgment.text().lines().count(), 5);
    }
}
