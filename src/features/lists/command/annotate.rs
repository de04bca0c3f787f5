//! Options of `overrule annotate` that name the command for lists.

use clap::Args;
use std::convert::Infallible;

#[derive(Debug, Args)]
pub(crate) struct ListHints {
    #[arg(long, hide = true, value_name = "M", value_parser = size_hint)]
    lists: Option<Infallible>,
    #[arg(long, hide = true, value_name = "FORM", value_parser = answer_hint)]
    list_answer: Option<Infallible>,
}

fn size_hint(size: &str) -> Result<Infallible, String> {
    Err(hint("--size", size))
}

fn answer_hint(form: &str) -> Result<Infallible, String> {
    Err(hint("--answer", form))
}

fn hint(option: &str, value: &str) -> String {
    let is_plain = value
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-:".contains(c));
    let value = if is_plain { value } else { "…" };
    format!("annotate asks about pairs; ask about lists with `overrule lists ask {option} {value}`")
}
