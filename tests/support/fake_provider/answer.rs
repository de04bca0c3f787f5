//! Answers that follow from the texts in a prompt and the model's name, so that any run can be foretold.

use sha2::{Digest, Sha256};

/// The texts that a prompt shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) query: String,
    pub(crate) a: String,
    pub(crate) b: String,
}

impl Shown {
    /// Finds the texts between the lines that our templates put around them.
    pub(crate) fn of(prompt: &str) -> Self {
        let between = |name: &str| {
            let after = prompt
                .split_once(&format!("[[{name} "))
                .map_or("", |(_, after)| after);
            let text = after.split_once('\n').map_or("", |(_, text)| text);
            text.split_once(&format!("\n[[/{name} "))
                .map_or("", |(text, _)| text)
                .to_owned()
        };
        Self {
            query: between("query"),
            a: between("document A"),
            b: between("document B"),
        }
    }

    /// The same for the same texts in the same order.
    pub(crate) fn key(&self) -> String {
        let digest = hash(&[&self.query, &self.a, &self.b]);
        digest[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    pub(crate) fn thoughts(&self) -> [String; 2] {
        let start = |text: &str| {
            text.split_whitespace()
                .take(4)
                .collect::<Vec<_>>()
                .join(" ")
        };
        [
            format!("A says \"{}\"", start(&self.a)),
            format!("B says \"{}\"", start(&self.b)),
        ]
    }
}

/// What `model` answers: −1..=1 in hundredths, the opposite when the documents are exchanged.
pub(crate) fn margin(model: &str, shown: &Shown) -> f64 {
    let strength = |text: &str| i32::from(hash(&[model, &shown.query, text])[0]) * 100 / 255;
    f64::from(strength(&shown.b) - strength(&shown.a)) / 100.0
}

pub(super) fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}
