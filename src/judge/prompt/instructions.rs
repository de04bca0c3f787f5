//! The standing instructions of a prompt, which are the same for every case and can be revised.

use super::template::{CASE, SYSTEM, divide, next_placeholder};

/// Why a text cannot replace standing instructions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstructionsError {
    #[error("the instructions are empty")]
    Empty,
    #[error("the instructions contain the line {0:?}, which ends a part of a prompt")]
    Divider(&'static str),
    #[error("the instructions contain {{{{{0}}}}}, which the present ones do not")]
    NewPlaceholder(String),
}

/// The standing instructions of a prompt; `None` if it is not divided into its parts.
pub fn instructions(prompt: &str) -> Option<&str> {
    let (_, rest) = divide(prompt, SYSTEM)?;
    Some(divide(rest, CASE)?.0.trim())
}

/// The prompt with other standing instructions.
pub fn with_instructions(prompt: &str, instructions: &str) -> Option<String> {
    let (head, rest) = divide(prompt, SYSTEM)?;
    let (_, case) = divide(rest, CASE)?;
    let instructions = instructions.trim();
    Some(format!("{head}{SYSTEM}\n{instructions}\n{CASE}\n{case}"))
}

/// Checks that a text can replace the standing instructions `old`.
///
/// # Errors
/// It is empty, contains a line that divides prompts, or names a placeholder that `old` does not
/// name.
pub fn check_instructions(old: &str, new: &str) -> Result<(), InstructionsError> {
    if new.trim().is_empty() {
        return Err(InstructionsError::Empty);
    }
    let divider = |line: &str| [SYSTEM, CASE].into_iter().find(|of| line.trim_end() == *of);
    if let Some(found) = new.lines().find_map(divider) {
        return Err(InstructionsError::Divider(found));
    }
    let known: Vec<&str> = placeholders(old).collect();
    match placeholders(new).find(|name| !known.contains(name)) {
        Some(name) => Err(InstructionsError::NewPlaceholder(name.to_owned())),
        None => Ok(()),
    }
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next_placeholder(rest)?;
        rest = after;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::prompt::{BATTLE_PROMPTS, Template};

    #[test]
    fn instructions_are_replaced_and_the_rest_of_a_prompt_stays() {
        for (name, prompt) in BATTLE_PROMPTS {
            let old = instructions(prompt).unwrap();
            assert_eq!(with_instructions(prompt, old).unwrap(), prompt, "{name}");
            let new = with_instructions(prompt, "Prefer evidence.\n").unwrap();
            assert_eq!(instructions(&new), Some("Prefer evidence."));
            let (_, case) = divide(prompt, CASE).unwrap();
            assert!(new.ends_with(case));
            Template::parse(&new).unwrap();
        }
        assert_eq!(instructions("Judge."), None);
    }

    #[test]
    fn instructions_that_would_break_a_prompt_are_rejected() {
        let old = "Follow {{ guideline }}.";
        assert_eq!(check_instructions(old, "Be strict. {{guideline}}"), Ok(()));
        let error = |new| check_instructions(old, new).unwrap_err();
        assert_eq!(error(" \n"), InstructionsError::Empty);
        assert_eq!(
            error("Judge.\n=== case === \n{{a}}"),
            InstructionsError::Divider(CASE)
        );
        assert_eq!(
            error("Judge {{a}}."),
            InstructionsError::NewPlaceholder("a".to_owned())
        );
    }
}
