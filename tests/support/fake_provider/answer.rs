//! Answers that follow from the texts in a prompt and the model's name, so that any run can be
//! foretold.

use sha2::{Digest, Sha256};

/// The texts that a prompt shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) query: String,
    pub(crate) a: String,
    pub(crate) b: String,
    /// Whether the prompt holds the sentence that cures the model `longest`.
    pub(crate) is_cured: bool,
}

/// The sentence that stops the model `longest` from naming the longer text.
pub(crate) const CURE: &str = "Ignore how long a document is.";

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
            is_cured: prompt.contains(CURE),
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

/// The documents that a prompt for picks shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lineup {
    pub(crate) documents: Vec<String>,
    /// How many are asked for; any number where there is none.
    pub(crate) wanted: Option<usize>,
    /// Whether each document is to get a verdict.
    pub(crate) per_document: bool,
}

impl Lineup {
    /// The lineup of a prompt, where it is one.
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let document = |number: usize| {
            let (_, after) = prompt.split_once(&format!("[[document {number} "))?;
            let (_, text) = after.split_once('\n')?;
            let (text, _) = text.split_once(&format!("\n[[/document {number} "))?;
            Some(text.to_owned())
        };
        let documents: Vec<String> = (1..).map_while(document).collect();
        let wanted = prompt
            .rsplit_once("holds exactly ")
            .and_then(|(_, after)| after.split(' ').next()?.parse().ok());
        (!documents.is_empty()).then_some(Self {
            documents,
            wanted,
            per_document: prompt.contains("\"verdicts\" has "),
        })
    }

    /// What a model answers, by its name: `oracle` names the documents that call themselves gold,
    /// `first` the first slots, `echo` repeats an example whatever is asked, `careless` proves its
    /// verdicts on gold with a sentence of its own and those on the first slot with none, and puts
    /// a sentence beside the others, `garbage` says nothing at all, and any other what a die says.
    pub(crate) fn answer(&self, model: &str) -> String {
        let gold = |at: &usize| self.documents[at - 1].contains("gold");
        let few = if model == "first" { 1 } else { 2 };
        let wanted = self.wanted.unwrap_or(few).min(self.documents.len());
        let slots: Vec<usize> = match model {
            "oracle" | "careless" => (1..=self.documents.len()).filter(gold).collect(),
            "first" => (1..=wanted).collect(),
            "echo" if self.per_document => {
                let example = r#"{"slot":2,"sentence":"the one sentence","verdict":"supports"}"#;
                return format!("{{\"thoughts\":[],\"verdicts\":[{example}]}}");
            }
            "echo" => vec![2, 5],
            "garbage" => return "I am fond of trams, and of slots.".to_owned(),
            _ => {
                let mut slots: Vec<usize> = (1..=self.documents.len()).collect();
                slots.sort_by_key(|at| hash(&[model, &self.documents[at - 1]]));
                slots.truncate(wanted);
                slots
            }
        };
        let answer = if self.per_document {
            serde_json::json!({"thoughts": ["because"], "verdicts": match model {
                "careless" => self.careless_verdicts(),
                _ => self.verdicts(&slots),
            }})
        } else {
            serde_json::json!({"thoughts": ["because"], "slots": slots})
        };
        answer.to_string()
    }

    fn careless_verdicts(&self) -> Vec<serde_json::Value> {
        let verdict = |(slot, text): (usize, &String)| match (slot, text.contains("gold")) {
            (1, _) => serde_json::json!({"slot": slot, "sentence": null, "verdict": "refutes"}),
            (_, true) => {
                serde_json::json!({"slot": slot, "sentence": "It says so.", "verdict": "supports"})
            }
            (_, false) => {
                serde_json::json!({"slot": slot, "sentence": text, "verdict": "not_enough"})
            }
        };
        (1..).zip(&self.documents).map(verdict).collect()
    }

    /// Every slot with its verdict; the proof of those that support is all of the document.
    fn verdicts(&self, supporting: &[usize]) -> Vec<serde_json::Value> {
        let verdict = |(slot, text): (usize, &String)| {
            if supporting.contains(&slot) {
                serde_json::json!({"slot": slot, "sentence": text, "verdict": "supports"})
            } else {
                serde_json::json!({"slot": slot, "sentence": null, "verdict": "not_enough"})
            }
        };
        (1..).zip(&self.documents).map(verdict).collect()
    }
}

/// What `model` answers: −1..=1 in hundredths, the opposite when the documents are exchanged; or
/// what it makes of a relevance that the texts state.
pub(crate) fn margin(model: &str, shown: &Shown) -> f64 {
    if let Some(margin) = super::latent_margin(model, shown) {
        return margin;
    }
    // Models that do not read: `first` names what is shown first, `tie` nothing.
    match model {
        "first" => return -1.0,
        "tie" => return 0.0,
        // It does what a document tells it, and otherwise reads as `stranger` does.
        "gullible" if shown.a.contains("this document") != shown.b.contains("this document") => {
            return if shown.a.contains("this document") {
                -1.0
            } else {
                1.0
            };
        }
        // It names the longer text, unless the prompt tells it not to: then the one that is good.
        "longest" => {
            let worth = |text: &str| {
                if shown.is_cured {
                    text.matches("good").count()
                } else {
                    text.len()
                }
            };
            return match worth(&shown.a).cmp(&worth(&shown.b)) {
                std::cmp::Ordering::Greater => -0.5,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Less => 0.5,
            };
        }
        _ => {}
    }
    // What every model knows, and what is asked to see whether it works at all.
    let paris = |text: &str| f64::from(u8::from(text.starts_with("Paris is the capital")));
    if shown.query.contains("capital of France") {
        return paris(&shown.b) - paris(&shown.a);
    }
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
