//! Splits several texts into tokens once, for all that compare them.

use super::each_token;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;

/// The tokens of several texts. Equal tokens have the same number, from 0 in the order in which
/// they first occur.
#[derive(Debug)]
pub struct NumberedTokens {
    /// By number: the normalized token.
    forms: Vec<Box<str>>,
    texts: Vec<Vec<NumberedToken>>,
}

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedToken {
    /// Its bytes in the text.
    start: u32,
    end: u32,
    pub number: u32,
}

impl NumberedToken {
    /// Its bytes in the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl NumberedTokens {
    pub fn of(texts: &[impl AsRef<str>]) -> Self {
        let mut numbers: HashMap<Box<str>, u32, RandomState> = HashMap::default();
        let mut read = |text: &str| {
            let mut tokens = Vec::new();
            each_token(text, |range, form| {
                let number = match numbers.get(form) {
                    Some(number) => *number,
                    None => {
                        let next = numbers.len() as u32;
                        *numbers.entry(form.into()).or_insert(next)
                    }
                };
                tokens.push(NumberedToken {
                    start: range.start as u32,
                    end: range.end as u32,
                    number,
                });
            });
            tokens
        };
        let texts = texts.iter().map(|text| read(text.as_ref())).collect();
        let mut forms = vec![Box::default(); numbers.len()];
        for (form, number) in numbers {
            forms[number as usize] = form;
        }
        Self { forms, texts }
    }

    /// The distinct tokens, normalized, by number.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(Box::as_ref)
    }

    /// The tokens of each text, in order.
    pub fn texts(&self) -> &[Vec<NumberedToken>] {
        &self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tokens_have_one_number() {
        let texts = ["Cells, cell's", "", "漢字 cells"];
        let tokens = NumberedTokens::of(&texts);
        let forms: Vec<&str> = tokens.forms().collect();
        assert_eq!(forms, ["cells", "cell", "漢", "漢字", "字"]);
        let found = tokens.texts().iter().zip(texts).map(|(tokens, text)| {
            let of = |token: &NumberedToken| (token.number, &text[token.range()]);
            tokens.iter().map(of).collect::<Vec<_>>()
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found[0], [(0, "Cells"), (1, "cell's")]);
        assert_eq!(found[1], []);
        assert_eq!(found[2], [(2, "漢"), (3, "漢字"), (4, "字"), (0, "cells")]);
    }
}
