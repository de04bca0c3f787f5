//! Chooses the final answer of a reply among all answers that it states.
//!
//! A reply may draft its answer first. The last statement is the answer if no earlier one differs,
//! or if it stands by itself after them, and if no later words retract it. Statements copied from a
//! text shown to the judge do not count.

use super::afterwards::{self, Stance};
use super::error::{NoAnswer, shown};
use super::scan::{Statement, statements};
use super::written::Written;

/// Words that introduce an alternative to an answer but do not replace it.
const ALTERNATIVES: [&str; 7] = [
    "or",
    "either",
    "alternatively",
    "otherwise",
    "if",
    "option",
    "example",
];
/// Maximum number of words on a line that only introduces an answer.
const INTRODUCTION: usize = 5;

/// The final answer for `key` in `text`, with the statement that contains it; `None` if there is
/// none.
pub(super) fn concluded<'a, T, E>(
    written: &Written<'_>,
    text: &'a str,
    key: &str,
    read: impl Fn(&Statement<'a>) -> Result<T, E>,
    stance: impl Fn(&T) -> Stance,
) -> Result<Option<(T, Statement<'a>)>, E>
where
    T: PartialEq,
    E: From<NoAnswer>,
{
    let all = statements(text, key)?;
    let (copied, own): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|statement| written.is_copied(&text[statement.range().clone()], key));
    let Some((last, earlier)) = own.split_last() else {
        return if all.is_empty() {
            Ok(None)
        } else {
            Err(NoAnswer::Copied.into())
        };
    };
    let answer = read(last)?;
    let differs = |statement: &&&Statement<'a>| read(statement).is_ok_and(|read| read != answer);
    let after = without(&text[last.range().end..], last.range().end, &copied);
    if let Some(draft) = earlier.iter().rfind(differs) {
        let before = &text[draft.range().end..last.range().start];
        if !is_final(before, &after) {
            return Err(NoAnswer::Differ.into());
        }
    }
    if goes_on(&after) || afterwards::takes_back(&after, stance(&answer)) {
        return Err(NoAnswer::TakenBack(shown(after.trim())).into());
    }
    // An object includes the thoughts; a tag that repeats its value does not.
    let object = own.iter().rfind(|statement| {
        matches!(statement, Statement::Object { .. })
            && read(statement).is_ok_and(|read| read == answer)
    });
    Ok(Some((answer, (*object.unwrap_or(last)).clone())))
}

/// `after`, which starts at `start` of a text, without the `copied` statements.
fn without(after: &str, start: usize, copied: &[&Statement<'_>]) -> String {
    let mut words = String::with_capacity(after.len());
    let mut at = 0;
    for range in copied.iter().map(|statement| statement.range()) {
        if let (Some(begin), Some(end)) =
            (range.start.checked_sub(start), range.end.checked_sub(start))
            // An object inside a tag was already removed with the tag.
            && begin >= at
        {
            words.push_str(&after[at..begin]);
            at = end;
        }
    }
    words.push_str(&after[at..]);
    words
}

/// Whether an answer stands by itself after a different draft: the words `before` it lead away from
/// the draft and end before the answer starts, and there are no words `after` it.
fn is_final(before: &str, after: &str) -> bool {
    let ends = |c: char| !c.is_alphanumeric() && !",;([{".contains(c);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let apart = line
        .trim_end_matches(|c: char| c.is_whitespace() || "`\"'*_".contains(c))
        .chars()
        .next_back()
        .is_none_or(ends);
    let lines: Vec<Vec<String>> = before
        .lines()
        .filter(|line| !line.trim_start().starts_with("```"))
        .map(|line| {
            line.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect()
        })
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect();
    let leads_away = lines.last().is_some_and(|words| {
        words.len() > INTRODUCTION
            || !words
                .iter()
                .any(|word| ALTERNATIVES.contains(&word.as_str()))
    });
    apart && leads_away && !after.contains(char::is_alphanumeric)
}

/// Whether the sentence continues after an answer, which is then only mentioned in it.
fn goes_on(after: &str) -> bool {
    let line = after.lines().next().unwrap_or_default();
    line.trim_start_matches(|c: char| c.is_whitespace() || "`\"'”’".contains(c))
        .chars()
        .next()
        .is_some_and(|c| c.is_lowercase() || c.is_ascii_digit() || ",;".contains(c))
}
