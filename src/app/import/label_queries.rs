//! Finds the queries of a file of labels in the project: by their identifiers or by their texts.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{FoundLabels, display_name};
use crate::app::text_format::counted;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::Qrels;
use crate::formats::judgments::comparable_text;
use crate::formats::problem::{Problem, quoted};
use crate::store::corpus::QueryInfo;
use clap::ValueEnum;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// How a file names the queries of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum QueryMatch {
    /// By their identifiers
    Id,
    /// By their texts; case matters, and line breaks and repeated spaces do not
    Text,
}

/// Names of queries in a file.
#[derive(Clone, Copy)]
pub(super) struct NamedQueries<'a> {
    /// The names, in order.
    pub(super) names: &'a [&'a QueryId],
    /// Texts of queries, if the file has identifiers and texts.
    pub(super) texts: &'a BTreeMap<QueryId, String>,
    /// The first line of each query, from 1; empty if unknown.
    pub(super) first_lines: &'a BTreeMap<QueryId, u64>,
    /// Whether names may be texts.
    pub(super) may_be_texts: bool,
}

/// The queries of the project that a file names.
#[derive(Debug)]
pub(super) struct MatchedNames {
    /// By name in the file, the identifier; without names that are skipped.
    pub(super) ids: BTreeMap<QueryId, QueryId>,
    /// How the queries were found; `None` if none of them was, and the names were kept.
    pub(super) by: Option<QueryMatch>,
    /// Number of the file's queries that the project has.
    pub(super) found: usize,
    /// Number of skipped queries: the file names queries by text, and the project has no such text.
    pub(super) skipped: usize,
}

/// Labels with the identifiers of the project's queries.
#[derive(Debug)]
pub(super) struct MatchedLabels {
    pub(super) labels: Qrels,
    /// The names of these queries in the file.
    pub(super) names: BTreeMap<QueryId, QueryId>,
    /// How the queries were found; `None` if none of them was, and the names were kept.
    pub(super) by: Option<QueryMatch>,
    /// Number of the file's queries that the project has.
    pub(super) found: usize,
    /// Number of skipped queries: the file names queries by text, and the project has no such text.
    pub(super) skipped: usize,
}

/// Replaces the names of queries in the file by the identifiers of the project's queries.
///
/// # Errors
/// As [`match_names`].
pub(super) fn match_queries(
    path: &Path,
    found: FoundLabels,
    project: &[QueryInfo],
    wanted: Option<QueryMatch>,
) -> Result<MatchedLabels, AppError> {
    let names: Vec<&QueryId> = found.labels.keys().collect();
    let named = NamedQueries {
        names: &names,
        texts: &found.texts,
        first_lines: &found.first_lines,
        may_be_texts: found.may_name_texts,
    };
    let matched = match_names(path, named, project, wanted)?;
    let mut labels = Qrels::new();
    let mut names = BTreeMap::new();
    for (name, grades) in found.labels {
        if let Some(id) = matched.ids.get(&name) {
            labels.insert(id.clone(), grades);
            names.insert(id.clone(), name);
        }
    }
    Ok(MatchedLabels {
        labels,
        names,
        by: matched.by,
        found: matched.found,
        skipped: matched.skipped,
    })
}

/// Finds the queries of the project that a file names. Without `wanted`, names are texts if they are
/// the texts of queries in the project and not identifiers.
///
/// # Errors
/// If a name may mean two queries, or if some names are identifiers and others texts.
pub(super) fn match_names(
    path: &Path,
    named: NamedQueries<'_>,
    project: &[QueryInfo],
    wanted: Option<QueryMatch>,
) -> Result<MatchedNames, AppError> {
    let ids: HashSet<&str> = project.iter().map(|query| query.id.as_str()).collect();
    let texts: HashMap<&str, &str> = project
        .iter()
        .map(|query| (query.id.as_str(), query.text.as_str()))
        .collect();
    if wanted == Some(QueryMatch::Id) || wanted.is_none() && !named.may_be_texts {
        return Ok(MatchedNames::by_id(named, &ids, Some(QueryMatch::Id)));
    }
    let mut ids_by_text: HashMap<String, Vec<&QueryId>> = HashMap::new();
    for query in project {
        let same = ids_by_text.entry(comparable_text(&query.text)).or_default();
        same.push(&query.id);
    }
    let file = display_name(path);
    let refuse = |query: &QueryId, what: String| {
        let line = named.first_lines.get(query).copied();
        AppError::invalid(Problem::new(&file, line, what))
    };
    let mut by_text: BTreeMap<&QueryId, &QueryId> = BTreeMap::new();
    let mut first_by_id = None;
    let mut first_by_text = None;
    for query in named.names.iter().copied() {
        let text = named
            .texts
            .get(query)
            .map_or(query.as_str(), String::as_str);
        let has_id = wanted.is_none() && ids.contains(query.as_str());
        let same_text = ids_by_text.get(&comparable_text(text)).map(Vec::as_slice);
        let same_text = same_text.unwrap_or_default();
        // The file states the identifier and the text of one query, whoever else has the text.
        if named.texts.contains_key(query) && same_text.contains(&query) {
            by_text.insert(query, query);
            continue;
        }
        match (has_id, same_text) {
            (false, []) => {}
            (true, []) => {
                let stated = named.texts.get(query);
                let known = texts.get(query.as_str());
                if let (Some(stated), Some(known)) = (stated, known) {
                    return Err(refuse(
                        query,
                        format!(
                            "query {} is {} here and {} in the project; say which is meant with \
                             --match id or --match text",
                            quoted(query.as_str()),
                            quoted(stated),
                            quoted(known),
                        ),
                    ));
                }
                first_by_id = first_by_id.or(Some(query));
            }
            (true, [same]) if *same == query => drop(by_text.insert(query, query)),
            (true, same) => {
                let other = same.iter().find(|same| **same != query).unwrap_or(&query);
                return Err(refuse(
                    query,
                    format!(
                        "{} is the identifier of one query of the project, and {} is the text of \
                         query {}; say which is meant with --match id or --match text",
                        quoted(query.as_str()),
                        quoted(text),
                        quoted(other.as_str()),
                    ),
                ));
            }
            (false, [same]) => {
                by_text.insert(query, same);
                first_by_text = first_by_text.or(Some(query));
            }
            (false, [first, second, ..]) => {
                return Err(refuse(
                    query,
                    format!(
                        "{} is the text of the queries {} and {} of the project; name the query \
                         by its identifier",
                        quoted(text),
                        quoted(first.as_str()),
                        quoted(second.as_str())
                    ),
                ));
            }
        }
    }
    if let (Some(id), Some(text)) = (first_by_id, first_by_text) {
        return Err(refuse(
            text,
            format!(
                "{} is the text of a query of the project, but {} is an identifier; say which the \
                 file contains with --match id or --match text",
                quoted(text.as_str()),
                quoted(id.as_str())
            ),
        ));
    }
    if first_by_text.is_none() && wanted.is_none() {
        let is_known = first_by_id.is_some() || !by_text.is_empty();
        let by = is_known.then_some(QueryMatch::Id);
        return Ok(MatchedNames::by_id(named, &ids, by));
    }
    if by_text.is_empty() {
        return Err(invalid!(
            "{file}: none of its queries is the text of a query of the project; import the queries \
             first, or use --match id"
        ));
    }
    let mut names: HashMap<&QueryId, &QueryId> = HashMap::new();
    for (name, query) in &by_text {
        if let Some(first) = names.insert(query, name) {
            return Err(refuse(
                name,
                format!(
                    "{} and {} are both query {} of the project; keep one",
                    quoted(first.as_str()),
                    quoted(name.as_str()),
                    quoted(query.as_str())
                ),
            ));
        }
    }
    let ids: BTreeMap<QueryId, QueryId> = by_text
        .iter()
        .map(|(name, query)| ((*name).clone(), (*query).clone()))
        .collect();
    Ok(MatchedNames {
        by: Some(QueryMatch::Text),
        found: ids.len(),
        skipped: named.names.len() - ids.len(),
        ids,
    })
}

impl MatchedNames {
    /// The names are kept as identifiers.
    fn by_id(named: NamedQueries<'_>, ids: &HashSet<&str>, by: Option<QueryMatch>) -> Self {
        let names = named.names.iter().copied();
        Self {
            found: names
                .clone()
                .filter(|name| ids.contains(name.as_str()))
                .count(),
            ids: names.map(|name| (name.clone(), name.clone())).collect(),
            by,
            skipped: 0,
        }
    }
}

impl MatchedLabels {
    /// How the queries were found, as the end of a sentence that begins with `; `.
    pub(super) fn describe(&self) -> String {
        describe_match(self.by, self.found, self.skipped)
    }
}

/// How `found` queries were matched, as the end of a sentence that begins with `; `.
pub(super) fn describe_match(by: Option<QueryMatch>, found: usize, skipped: usize) -> String {
    let queries = counted(found, "query");
    match by {
        Some(QueryMatch::Id) => format!("; {queries} matched by id"),
        Some(QueryMatch::Text) if skipped == 0 => format!("; {queries} matched by text"),
        Some(QueryMatch::Text) => format!(
            "; {queries} matched by text, skipped {} whose text is not in the project",
            counted(skipped, "query")
        ),
        None => "; no query of the project has such an id or text, so the names were kept as ids; \
                 to match texts, import the queries first"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::DocId;
    use crate::store::corpus::QueryKey;
    use rstest::rstest;

    const PROJECT: [(&str, &str); 4] = [
        ("q1", "red shoes"),
        ("q2", "blue  jeans\n"),
        ("hats", "green hats"),
        ("coats", "coats"),
    ];

    fn project(extra: &[(&str, &str)]) -> Vec<QueryInfo> {
        PROJECT
            .iter()
            .chain(extra)
            .enumerate()
            .map(|(at, (id, text))| QueryInfo {
                key: QueryKey(at as i64),
                id: QueryId::new(*id),
                text: (*text).to_owned(),
                documents: 1,
            })
            .collect()
    }

    fn file(names: &[&str]) -> FoundLabels {
        let grades = BTreeMap::from([(DocId::new("d"), 1)]);
        FoundLabels {
            labels: names
                .iter()
                .map(|name| (QueryId::new(*name), grades.clone()))
                .collect(),
            first_lines: (2..)
                .zip(names)
                .map(|(line, name)| (QueryId::new(*name), line))
                .collect(),
            may_name_texts: true,
            ..FoundLabels::default()
        }
    }

    fn matched(
        names: &[&str],
        extra: &[(&str, &str)],
        wanted: Option<QueryMatch>,
    ) -> Result<(Option<QueryMatch>, Vec<String>, usize), String> {
        match_queries(Path::new("f.csv"), file(names), &project(extra), wanted)
            .map(|found| {
                let ids = found.labels.keys().map(ToString::to_string).collect();
                (found.by, ids, found.skipped)
            })
            .map_err(|error| error.to_string())
    }

    #[rstest]
    #[case::ids(&["q1", "q2", "new"], None, Some(QueryMatch::Id), &["new", "q1", "q2"], 0)]
    #[case::texts(&["red shoes", "blue jeans"], None, Some(QueryMatch::Text), &["q1", "q2"], 0)]
    #[case::unknown_texts(&["red shoes", "socks"], None, Some(QueryMatch::Text), &["q1"], 1)]
    #[case::unknown(&["socks"], None, None, &["socks"], 0)]
    #[case::either(&["coats"], None, Some(QueryMatch::Id), &["coats"], 0)]
    #[case::either_and_text(&["coats", "red shoes"], None, Some(QueryMatch::Text), &["coats", "q1"], 0)]
    #[case::case_matters(&["Red shoes"], None, None, &["Red shoes"], 0)]
    #[case::forced_id(&["red shoes"], Some(QueryMatch::Id), Some(QueryMatch::Id), &["red shoes"], 0)]
    #[case::forced_text(&["red shoes", "q2"], Some(QueryMatch::Text), Some(QueryMatch::Text), &["q1"], 1)]
    fn queries_are_found_by_id_or_by_text(
        #[case] names: &[&str],
        #[case] wanted: Option<QueryMatch>,
        #[case] by: Option<QueryMatch>,
        #[case] ids: &[&str],
        #[case] skipped: usize,
    ) {
        let ids = ids.iter().map(ToString::to_string).collect();
        assert_eq!(matched(names, &[], wanted), Ok((by, ids, skipped)));
    }

    #[rstest]
    #[case::two_queries_with_one_text(&["red shoes"], &[("q9", "red shoes")], None,
        "f.csv:2: \"red shoes\" is the text of the queries \"q1\" and \"q9\" of the project")]
    #[case::id_and_text_of_two_queries(&["x", "hats"], &[("q9", "hats")], None,
        "f.csv:3: \"hats\" is the identifier of one query of the project, and \"hats\" is the text of query \"q9\"; \
         say which is meant with --match id or --match text")]
    #[case::mixed(&["q1", "blue jeans"], &[], None,
        "f.csv:3: \"blue jeans\" is the text of a query of the project, but \"q1\" is an identifier; say which")]
    #[case::no_text(&["q1"], &[], Some(QueryMatch::Text),
        "f.csv: none of its queries is the text of a query of the project")]
    #[case::two_names(&["red shoes", "red  shoes"], &[], None,
        "f.csv:2: \"red  shoes\" and \"red shoes\" are both query \"q1\"")]
    fn an_ambiguous_name_is_refused(
        #[case] names: &[&str],
        #[case] extra: &[(&str, &str)],
        #[case] wanted: Option<QueryMatch>,
        #[case] expected: &str,
    ) {
        let error = matched(names, extra, wanted).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn qrels_are_matched_by_id_only() {
        let mut labels = file(&["red shoes"]);
        labels.may_name_texts = false;
        let found = match_queries(Path::new("f"), labels, &project(&[]), None).unwrap();
        assert_eq!((found.by, found.found), (Some(QueryMatch::Id), 0));
    }

    #[test]
    fn an_identifier_that_the_file_gives_to_another_text_is_refused() {
        let stated = |text: &str| FoundLabels {
            texts: BTreeMap::from([(QueryId::new("q1"), text.to_owned())]),
            ..file(&["q1"])
        };
        let find =
            |text, wanted| match_queries(Path::new("f.csv"), stated(text), &project(&[]), wanted);
        let error = find("rambo", None).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "f.csv:2: query \"q1\" is \"rambo\" here and \"red shoes\" in the project"
            ),
            "{error}"
        );
        assert_eq!(find("red  shoes", None).unwrap().found, 1);
        // Another query may have the same text.
        for wanted in [None, Some(QueryMatch::Text)] {
            let project = project(&[("q0", "red shoes")]);
            let found =
                match_queries(Path::new("f.csv"), stated("red shoes"), &project, wanted).unwrap();
            let names: Vec<&str> = found.labels.keys().map(QueryId::as_str).collect();
            assert_eq!(names, ["q1"]);
            assert_eq!(found.by, Some(wanted.unwrap_or(QueryMatch::Id)));
        }
        assert_eq!(find("rambo", Some(QueryMatch::Id)).unwrap().found, 1);
    }
}
