//! Finds the part of a reply after the model's reasoning and before the end of its turn.

use super::scan;
use super::written::Written;
use std::ops::Range;

/// Words in the names of tags around reasoning: `<think>`, `[THINK]`, `◁think▷`,
/// `<|begin_of_thought|>` and others.
const THINKING: [&str; 6] = [
    "think",
    "thought",
    "reasoning",
    "reflection",
    "analysis",
    "scratchpad",
];
/// Tokens that end a turn, for servers that do not strip them.
const TURN_ENDS: [&str; 10] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|call|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "</s>",
];
/// Words that start reasoning and those that start the answer after it: Granite, and Harmony
/// without its tokens.
const PHRASES: [(&str, &str); 3] = [
    ("Here is my thought process:", "Here is my response:"),
    ("Here's my thought process:", "Here's my response:"),
    ("analysis", "assistantfinal"),
];
/// Tags around a whole answer.
const WRAPPERS: [(&str, &str); 6] = [
    ("<answer>", "</answer>"),
    ("<response>", "</response>"),
    ("<output>", "</output>"),
    ("<|begin_of_box|>", "<|end_of_box|>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
];
/// Maximum length of a tag, in characters.
const TAG: usize = 48;

/// The kind of text after a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Thinking,
    Answer,
    /// Another turn, or nothing.
    Beyond,
}

#[derive(Clone, Debug)]
struct Mark {
    range: Range<usize>,
    section: Section,
}

/// The part of `text`, a reply, that may contain the answer: after the last mark that ends
/// reasoning, and before one that starts it again or ends the turn. Empty if there is only
/// reasoning.
///
/// Marks inside JSON objects are part of the answer. A mark is ignored if it and everything after
/// it was copied from a text shown to the judge.
pub(super) fn answer_part<'a>(text: &'a str, written: &Written<'_>) -> &'a str {
    let marks = marks(text);
    let quoted = text.trim_end_matches(|c: char| c.is_whitespace() || "\"'`*_.)]”’".contains(c));
    let objects = scan::objects(text);
    let start = marks
        .iter()
        .rfind(|mark| {
            let inside = objects.around(mark.range.start);
            mark.section == Section::Answer
                && !inside.is_some_and(|object| scan::is_json(&text[object.clone()]))
                && !quoted
                    .get(mark.range.start..)
                    .is_some_and(|rest| written.is_copied(rest, &text[mark.range.clone()]))
        })
        .map_or(0, |mark| mark.range.end);
    let part = &text[start..];
    let objects = scan::objects(part);
    let end = marks
        .iter()
        .filter(|mark| mark.section != Section::Answer)
        .filter_map(|mark| mark.range.start.checked_sub(start))
        .find(|at| objects.around(*at).is_none());
    unwrapped(part[..end.unwrap_or(part.len())].trim())
}

/// The content of a tag around the whole of `part`.
fn unwrapped(part: &str) -> &str {
    WRAPPERS
        .iter()
        .find_map(|(open, close)| {
            let inner = part.strip_prefix(open)?;
            Some(inner.strip_suffix(close).unwrap_or(inner).trim())
        })
        .unwrap_or(part)
}

/// The marks of `text`, in order.
fn marks(text: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = text
        .match_indices(['<', '[', '◁'])
        .filter_map(|(at, _)| mark_at(text, at))
        .collect();
    for (thinking, answer) in PHRASES {
        if !text.starts_with(thinking) {
            continue;
        }
        // The word "analysis" alone may start any text.
        let ends = text.rfind(answer).map(|at| at..at + answer.len());
        if ends.is_some() || thinking.ends_with(':') {
            marks.push(Mark {
                range: 0..thinking.len(),
                section: Section::Thinking,
            });
        }
        marks.extend(ends.map(|range| Mark {
            range,
            section: Section::Answer,
        }));
    }
    marks.sort_by_key(|mark| mark.range.start);
    marks
}

fn mark_at(text: &str, at: usize) -> Option<Mark> {
    let rest = &text[at..];
    if TURN_ENDS.iter().any(|end| rest.starts_with(end)) {
        return Some(Mark {
            range: at..at + 1,
            section: Section::Beyond,
        });
    }
    let close = match rest.chars().next()? {
        '[' => ']',
        '◁' => '▷',
        _ => '>',
    };
    let (last, _) = rest.char_indices().take(TAG).find(|(_, c)| *c == close)?;
    let length = last + close.len_utf8();
    let tag = &rest[..length];
    if tag == "<|channel|>" {
        return Some(harmony_channel(text, at..at + length));
    }
    let name = tag
        .trim_matches(|c: char| "<>[]|｜".contains(c) || c == '◁' || c == '▷')
        .to_ascii_lowercase();
    let word = name.trim_start_matches('/');
    let plain = word
        .chars()
        .all(|c| c.is_alphanumeric() || "_:-".contains(c));
    let thinks = match close {
        ']' => THINKING.contains(&word.trim_end_matches("ing")) || THINKING.contains(&word),
        _ => plain && THINKING.iter().any(|thinking| word.contains(thinking)),
    };
    let section = match (tag, thinks) {
        ("<channel|>", _) => Section::Answer,
        ("<|channel>", _) => Section::Thinking,
        (_, false) => return None,
        _ if name.starts_with('/') || name.starts_with("end") => Section::Answer,
        _ => Section::Thinking,
    };
    Some(Mark {
        range: at..at + length,
        section,
    })
}

/// The mark of a channel in Harmony: `<|channel|>final<|message|>` starts the answer; every other
/// channel is reasoning.
fn harmony_channel(text: &str, tag: Range<usize>) -> Mark {
    const MESSAGE: &str = "<|message|>";
    let rest = &text[tag.end..];
    let length = rest
        .char_indices()
        .nth(2 * TAG)
        .map_or(rest.len(), |(at, _)| at);
    let rest = &rest[..length];
    let name = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(length);
    let header = rest
        .find(MESSAGE)
        .map_or(name, |length| length + MESSAGE.len());
    Mark {
        range: tag.start..tag.end + header,
        section: match &rest[..name] {
            "final" => Section::Answer,
            _ => Section::Thinking,
        },
    }
}
