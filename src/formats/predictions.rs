//! What a student predicts of pairs, as JSON Lines or CSV with the fields `query`, `a`, `b`, `p_a`, `p_b` and perhaps `p_tie`
//! and `step`. Other fields are passed over.

use super::json::number;
use super::jsonl;
use super::lines::{TextLine, TextLines};
use super::object::ObjectReader;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
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

/// Reads a file whole: its predictions, and everything that is wrong with it. What starts with `{` is JSON Lines, everything
/// else CSV with a header. `file` is what problems call the file.
pub fn read_predictions(mut reader: impl Read, file: &str) -> (Vec<PredictionLine>, Vec<Problem>) {
    let mut bytes = Vec::new();
    if let Err(error) = reader.read_to_end(&mut bytes) {
        let problem = Problem::new(file, None, &format!("cannot be read: {error}"));
        return (Vec::new(), vec![problem]);
    }
    let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match bare.trim_ascii_start().first() {
        Some(b'{' | b'[') => from_lines(&bytes, file),
        _ => from_csv(bare, file),
    }
}

fn from_lines(bytes: &[u8], file: &str) -> (Vec<PredictionLine>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let parse = |line: &TextLine<'_>| {
        let read = |members: ObjectReader<'_, '_>| Some(fields(members));
        let fields = jsonl::record(line, "prediction", read)?;
        fields
            .prediction(line.number)
            .map(Some)
            .map_err(|what| vec![what])
    };
    for line in LineRecords::new(TextLines::new(bytes, file), parse) {
        match line {
            Ok(line) => found.push(line),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

/// The fields of one prediction, as far as they are there.
#[derive(Default)]
struct Fields {
    query: String,
    a: String,
    b: String,
    p_a: f64,
    p_b: f64,
    p_tie: Option<f64>,
    step: Option<f64>,
}

fn fields(mut line: ObjectReader<'_, '_>) -> Fields {
    let mut required = |name: &str| {
        let value = line.required(name)?;
        line.read(name, value, number)
    };
    let (p_a, p_b) = (required("p_a"), required("p_b"));
    Fields {
        query: line.text("query").unwrap_or_default(),
        a: line.text("a").unwrap_or_default(),
        b: line.text("b").unwrap_or_default(),
        p_a: p_a.unwrap_or_default(),
        p_b: p_b.unwrap_or_default(),
        p_tie: line.nullable("p_tie", number),
        step: line.nullable("step", number),
    }
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
        let step = self.step.map(|step| match step {
            step if step >= 0.0 && step.fract() == 0.0 && step < 1e15 => Ok(step as u64),
            step => Err(format!(
                "step: expected a whole number from 0 up, found {step}"
            )),
        });
        Ok(PredictionLine {
            line,
            query: QueryId::new(self.query),
            a: DocId::new(self.a),
            b: DocId::new(self.b),
            predicted,
            step: step.transpose()?,
        })
    }
}

fn from_csv(bytes: &[u8], file: &str) -> (Vec<PredictionLine>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let mut table = csv::Reader::from_reader(bytes);
    let broken = |error: &csv::Error| {
        let line = error.position().map(csv::Position::line);
        Problem::new(file, line, &format!("cannot be read: {error}"))
    };
    let headers = match table.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return (found, vec![broken(&error)]),
    };
    let column = |name: &str| headers.iter().position(|header| header.trim() == name);
    let names = ["query", "a", "b", "p_a", "p_b"];
    let missing: Vec<&str> = names
        .into_iter()
        .filter(|name| column(name).is_none())
        .collect();
    if !missing.is_empty() {
        let what = format!(
            "has no column {}; the first line names the columns query, a, b, p_a, p_b and perhaps p_tie and step",
            missing.join(", ")
        );
        return (found, vec![Problem::new(file, Some(1), &what)]);
    }
    for record in table.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                problems.push(broken(&error));
                continue;
            }
        };
        let line = record.position().map_or(1, csv::Position::line);
        let cell = |name: &str| {
            let cell = column(name).and_then(|at| record.get(at));
            cell.map(str::trim).filter(|cell| !cell.is_empty())
        };
        let text = |name: &str| {
            cell(name)
                .map(str::to_owned)
                .ok_or_else(|| format!("{name}: is empty"))
        };
        let number = |name: &str| {
            let read = |cell: &str| {
                cell.parse::<f64>()
                    .map_err(|_| format!("{name}: expected a number, found {}", quoted(cell)))
            };
            cell(name).map(read).transpose()
        };
        let needed = |name: &str| number(name)?.ok_or_else(|| format!("{name}: is empty"));
        let prediction = (|| {
            let fields = Fields {
                query: text("query")?,
                a: text("a")?,
                b: text("b")?,
                p_a: needed("p_a")?,
                p_b: needed("p_b")?,
                p_tie: number("p_tie")?,
                step: number("step")?,
            };
            fields.prediction(line)
        })();
        match prediction {
            Ok(prediction) => found.push(prediction),
            Err(what) => problems.push(Problem::new(file, Some(line), &what)),
        }
    }
    (found, problems)
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
