//! What a student predicts of pairs, as JSON Lines or CSV with the fields `query`, `a`, `b`, `p_a`, `p_b` and perhaps `p_tie`
//! and `step`. Other fields are passed over.

use super::lines_or_table::{RecordFields, RecordFormat};
use super::problem::{Problem, quoted};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::student::OutcomeProbabilities;
use std::io::Read;

/// One prediction: the student was shown `a` first.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionLine {
    /// Where it is in the file, from 1.
    pub line: u64,
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    pub predicted: OutcomeProbabilities,
    /// The checkpoint that it is of, where the file has several.
    pub step: Option<u64>,
}

/// Reads a file whole: its predictions, and everything that is wrong with it. `file` is what problems call the file.
pub fn read_predictions(reader: impl Read, file: &str) -> (Vec<PredictionLine>, Vec<Problem>) {
    let format = RecordFormat {
        unit: "prediction",
        columns: &["query", "a", "b", "p_a", "p_b"],
        optional: &["p_tie", "step"],
        fields,
        record: |line, fields: Fields| fields.prediction(line),
    };
    format.read(reader, file)
}

/// The fields of one prediction.
struct Fields {
    query: String,
    a: String,
    b: String,
    p_a: f64,
    p_b: f64,
    p_tie: Option<f64>,
    step: Option<u64>,
}

fn fields(fields: &mut dyn RecordFields) -> Option<Fields> {
    let (query, a, b) = (fields.text("query"), fields.text("a"), fields.text("b"));
    let (p_a, p_b) = (fields.number("p_a"), fields.number("p_b"));
    let p_tie = fields.number_or_none("p_tie");
    let step = match fields.number_or_none("step") {
        Some(step) if step >= 0.0 && step.fract() == 0.0 && step < 1e15 => Some(step as u64),
        Some(step) => {
            let what = format!("expected a whole number from 0 up, found {step}");
            fields.note("step", &what);
            None
        }
        None => None,
    };
    Some(Fields {
        query: query?,
        a: a?,
        b: b?,
        p_a: p_a?,
        p_b: p_b?,
        p_tie,
        step,
    })
}

impl Fields {
    fn prediction(self, line: u64) -> Result<PredictionLine, String> {
        if self.a == self.b {
            return Err(format!(
                "{} meets itself: a and b have the same id",
                quoted(&self.a)
            ));
        }
        let predicted = match self.p_tie {
            Some(tie) => OutcomeProbabilities::of_three(self.p_a, self.p_b, tie),
            None => OutcomeProbabilities::new(self.p_a, self.p_b),
        };
        let tie = self
            .p_tie
            .map_or(String::new(), |tie| format!(", p_tie {tie}"));
        let predicted = predicted.ok_or_else(|| {
            format!(
                "p_a {}, p_b {}{tie}: expected probabilities in 0..1 that add up to 1 with p_tie, or to 1 at most without it",
                self.p_a, self.p_b
            )
        })?;
        Ok(PredictionLine {
            line,
            query: QueryId::new(self.query),
            a: DocId::new(self.a),
            b: DocId::new(self.b),
            predicted,
            step: self.step,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<PredictionLine>, Vec<String>) {
        let (found, problems) = read_predictions(text.as_bytes(), "p");
        (found, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn lines_and_columns_read_the_same() {
        let (lines, problems) = read(
            "{\"query\":\"q\",\"a\":\"x\",\"b\":\"y\",\"p_a\":0.5,\"p_b\":0.2,\"p_tie\":0.3,\"step\":100,\"more\":1}\n\
             {\"query\":\"q\",\"a\":\"y\",\"b\":\"x\",\"p_a\":0.25,\"p_b\":0.5}\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        let (cells, problems) =
            read("step,query,a,b,p_a,p_b,p_tie\n100,q,x,y,.5,.2,.3\n,q,y,x,.25,.5,\n");
        assert_eq!(problems, Vec::<String>::new());
        for (line, cell) in lines.iter().zip(&cells) {
            let line = PredictionLine {
                line: cell.line,
                ..line.clone()
            };
            assert_eq!(&line, cell);
        }
        assert_eq!((lines.len(), cells.len()), (2, 2));
        assert_eq!((lines[0].step, lines[1].step), (Some(100), None));
        assert!((lines[1].predicted.tie() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let (found, problems) = read(
            "query,a,b,p_a,p_b,p_tie\nq,x,x,.5,.2,\nq,x,y,.9,.2,\nq,x,y,.5,.2,.1\nq,x,y,much,.2,\nq,x,y,,.2,\nq,x,y,.5,.2,\n",
        );
        assert_eq!((found.len(), problems.len()), (1, 5), "{problems:?}");
        assert!(problems[0].starts_with("p:2: \"x\" meets itself"));
        assert!(problems[1].starts_with("p:3: p_a 0.9, p_b 0.2: expected"));
        assert!(problems[3].starts_with("p:5: p_a: expected a number"));
        let (_, problems) = read("query,a,b\n");
        assert!(
            problems[0].contains("has no column p_a, p_b"),
            "{problems:?}"
        );
        let (_, problems) =
            read("{\"query\":\"q\",\"a\":\"x\",\"b\":\"y\",\"p_a\":\"1\",\"p_b\":0}\n");
        assert!(
            problems[0].starts_with("p:1: p_a: expected a number"),
            "{problems:?}"
        );
    }
}
