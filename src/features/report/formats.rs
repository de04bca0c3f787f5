//! Renders a report as one HTML page without scripts and external resources, and as Markdown.

use super::domain::ProjectReport;
use askama::Template;
use askama::filters::Escaper;
use std::fmt::{self, Write};

#[derive(Template)]
#[template(path = "page.html", config = "src/features/report/askama.toml")]
struct HtmlPage<'a> {
    report: &'a ProjectReport,
}

#[derive(Template)]
#[template(path = "page.md", config = "src/features/report/askama.toml")]
struct MarkdownPage<'a> {
    report: &'a ProjectReport,
}

/// The report as one HTML page.
///
/// # Errors
/// If the page cannot be formatted.
pub fn html(report: &ProjectReport) -> Result<String, askama::Error> {
    HtmlPage { report }.render()
}

/// The report as Markdown, without pictures and document texts.
///
/// # Errors
/// If the page cannot be formatted.
pub fn markdown(report: &ProjectReport) -> Result<String, askama::Error> {
    MarkdownPage { report }.render()
}

/// Escapes text so that Markdown shows it as it is: no markup, no HTML, no link and no row of a
/// table begins in it.
#[derive(Clone, Copy, Debug)]
pub struct MarkdownText;

impl Escaper for MarkdownText {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_link = letter == '.' && letters.peek().is_some_and(|next| next.is_alphabetic());
            if is_link || "\\`*_{}[]()#+!|<>&~:@$=".contains(letter) {
                out.write_char('\\')?;
            }
            match letter {
                // A line break would end the paragraph, the list or the table.
                '\n' => out.write_char(' ')?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
