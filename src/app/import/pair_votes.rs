//! Turns choices between two documents, in the formats of annotation tools and arenas, into votes on
//! the queries and documents of the project.

use super::label_documents::PoolNames;
use super::label_queries::{MatchedNames, NamedQueries, QueryMatch, describe_match, match_names};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, open, start_of};
use crate::app::text_format::counted;
use crate::domain::annotator_name::annotator_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::vote::{Margin, Outcome};
use crate::formats::answers::{AnswerOptions, ItemName};
use crate::formats::pairs::{PairAnswer, PairFormat};
use crate::formats::problem::{Problem, quoted};
use crate::formats::votes::{ExternalAnswer, ExternalDocument, ExternalVote};
use crate::store::Store;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// How files of choices between two documents are read.
#[derive(Clone, Debug, Default)]
pub struct PairOptions {
    /// The format of the files; `None` to recognize it.
    pub format: Option<PairFormat>,
    /// How the files name the queries of the project; `None` to try both.
    pub query_match: Option<QueryMatch>,
    pub answers: AnswerOptions,
    /// Whether people saw no predictions, suggestions or votes before they chose.
    pub blind: bool,
}

/// The votes of a file.
pub(super) struct PairVotes {
    pub(super) format: &'static str,
    /// Votes with their lines, in file order; a problem stands for each invalid record.
    pub(super) votes: Vec<Result<(u64, ExternalVote), Problem>>,
    /// How the queries were found, as the end of a sentence that begins with `; `.
    pub(super) matched: String,
    /// Number of answers that say nothing.
    pub(super) unanswered: usize,
    blind: bool,
}

impl PairVotes {
    /// How queries were found, and what was skipped.
    pub(super) fn notes(&self, file: &str) -> Vec<String> {
        let mut notes = vec![format!("{file}{}", self.matched.replacen("; ", ": ", 1))];
        if self.unanswered > 0 {
            let answers = counted(self.unanswered, "answer");
            notes.push(format!("{file}: skipped {answers} without a choice"));
        }
        if !self.blind {
            notes.push(format!(
                "{file}: the verdicts do not count as blind; --blind states that people saw no \
                 predictions"
            ));
        }
        notes
    }
}

/// Reads a whole file of choices; `None` if it is in another format.
///
/// # Errors
/// If the file may be in several formats, if a name may mean two queries, or if none of the queries
/// is found and the file does not give their texts.
pub(super) fn read_pair_votes(
    path: &Path,
    project: Option<&Store>,
    options: &PairOptions,
) -> Result<Option<PairVotes>, AppError> {
    let Some(format) = format_of(path, options)? else {
        return Ok(None);
    };
    let file = display_name(path);
    let read = format.read(&mut open(path)?, &file, &options.answers);
    let matched = found_queries(path, &read.pairs, project, options.query_match)?;
    let mut pools: HashMap<QueryId, Option<PoolNames>> = HashMap::new();
    let mut votes = Vec::with_capacity(read.pairs.len());
    for pair in read.pairs {
        let pair = match pair {
            Ok(pair) => pair,
            Err(problem) => {
                votes.push(Err(problem));
                continue;
            }
        };
        let Some(query) = query_of(&pair, &matched) else {
            let what = format!(
                "query {} is not in the project, where other queries of the file were found by \
                 their texts; import the queries first, or use --match id if it is an identifier",
                quoted(&pair.query.name)
            );
            votes.push(Err(Problem::new(&file, Some(pair.line), what)));
            continue;
        };
        if !pools.contains_key(&query) {
            let name = query.clone();
            let read = project
                .map(|store| store.read_blocking(move |db| PoolNames::read(db, name.as_str())));
            pools.insert(query.clone(), read.transpose()?.flatten());
        }
        let pool = pools.get(&query).and_then(Option::as_ref);
        let line = pair.line;
        votes.push(match vote(pair, query, pool, options.blind) {
            Ok(vote) => Ok((line, vote)),
            Err(what) => Err(Problem::new(&file, Some(line), what)),
        });
    }
    Ok(Some(PairVotes {
        format: format.names().describe,
        votes,
        matched: describe_match(matched.by, matched.found, matched.skipped),
        unanswered: read.unanswered,
        blind: options.blind,
    }))
}

/// Refuses several files at once if one of them is in such a format: its queries and documents are
/// found in the project as it was before the first file.
pub fn refuse_several(paths: &[PathBuf], options: &PairOptions) -> Result<(), AppError> {
    for path in paths.iter().filter(|_| paths.len() > 1) {
        if let Some(format) = format_of(path, options)? {
            return Err(invalid!(
                "{}: holds {}, whose queries and documents are looked up in the project; run the \
                 command once for each file",
                display_name(path),
                format.names().describe
            ));
        }
    }
    Ok(())
}

/// The format that the user names, or that the file's beginning shows.
fn format_of(path: &Path, options: &PairOptions) -> Result<Option<PairFormat>, AppError> {
    if options.format.is_some() {
        return Ok(options.format);
    }
    let format =
        PairFormat::recognize(&start_of(path)?).map_err(|what| AppError::file(path, what))?;
    if format.is_none()
        && (options.blind
            || options.answers != AnswerOptions::default()
            || options.query_match.is_some())
    {
        return Err(invalid!(
            "{}: is not an export of an annotation tool or arena; --match, --question, --fields, \
             --answer, --rater and --blind are for those",
            display_name(path)
        ));
    }
    Ok(format)
}

/// The queries of the project that the choices name.
fn found_queries(
    path: &Path,
    pairs: &[Result<PairAnswer, Problem>],
    project: Option<&Store>,
    wanted: Option<QueryMatch>,
) -> Result<MatchedNames, AppError> {
    let (mut first_lines, mut texts) = (BTreeMap::new(), BTreeMap::new());
    let mut are_ids = true;
    for pair in pairs.iter().flatten() {
        let name = QueryId::new(pair.query.name.as_str());
        if let Some(text) = &pair.query.text {
            texts.entry(name.clone()).or_insert_with(|| text.clone());
        }
        are_ids &= pair.query.is_id;
        first_lines.entry(name).or_insert(pair.line);
    }
    let names: Vec<&QueryId> = first_lines.keys().collect();
    let named = NamedQueries {
        names: &names,
        texts: &texts,
        first_lines: &first_lines,
        may_be_texts: !are_ids || !texts.is_empty(),
    };
    let known = match project {
        Some(store) => store.read_blocking(|db| db.queries())?,
        None => Vec::new(),
    };
    match_names(path, named, &known, wanted)
}

fn query_of(pair: &PairAnswer, matched: &MatchedNames) -> Option<QueryId> {
    matched
        .ids
        .get(&QueryId::new(pair.query.name.as_str()))
        .cloned()
}

/// The vote of a choice on a query, whose pool is given if the project has it.
fn vote(
    pair: PairAnswer,
    query: QueryId,
    pool: Option<&PoolNames>,
    blind: bool,
) -> Result<ExternalVote, String> {
    let document = |named: ItemName| -> Result<ExternalDocument, String> {
        let id = match pool {
            Some(pool) if !named.is_id => pool.id(&named.name, query.as_str())?,
            Some(_) => DocId::new(named.name),
            None if named.is_id => DocId::new(named.name),
            None => {
                return Err(format!(
                    "query {} is not in the project, so its documents cannot be found by their \
                     texts; import the queries first, or add fields with identifiers (query_id, \
                     a_id, b_id)",
                    quoted(query.as_str())
                ));
            }
        };
        Ok(ExternalDocument {
            id,
            content: named.text,
        })
    };
    let (a, b) = (document(pair.a)?, document(pair.b)?);
    if a.id == b.id {
        let what = format!("both documents are {}", quoted(a.id.as_str()));
        return Err(what);
    }
    let margin = match pair.choice {
        Outcome::A => -1.0,
        Outcome::Tie => 0.0,
        Outcome::B => 1.0,
    };
    let margin = Margin::new(margin).ok_or("is not a choice")?;
    let by = annotator_name(&pair.by).ok_or("the name of the person is blank")?;
    Ok(ExternalVote {
        // The project's text counts, which may have other line breaks and spaces.
        query_text: pair.query.text.filter(|_| pool.is_none()),
        query,
        a,
        b,
        by,
        answer: ExternalAnswer::Verdict(margin),
        swapped: false,
        reasoning: pair.note,
        created_ms: pair.created_ms,
        inclusion: None,
        blind,
        exported: None,
    })
}
