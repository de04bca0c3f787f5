//! Names of judges in zBench's `ai_scores.json`, whose reader knows exactly three names and
//! requires all of them.

use crate::domain::corpus::QueryId;
use crate::domain::sanitize;
use crate::formats::ai_scores::ZBENCH_JUDGES;
use crate::judge::JudgeSpec;
use std::collections::BTreeSet;

/// The judges of a query.
type QueryJudges = (QueryId, Vec<JudgeSpec>);

/// The names of judges in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberNames {
    /// As in the project.
    Own,
    /// Named after the provider: there is exactly one judge for each provider that zBench knows.
    Provider,
    /// As chosen: pairs of a member and a judge. Other judges are skipped.
    Chosen(Vec<(String, String)>),
}

/// Why the names chosen for the members of the file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemberNameError {
    #[error("--as: {0} and {1} name the same judge or the same member")]
    SharedSide(String, String),
    #[error(
        "--as: no judge of these queries is called {:?}; the judges are {}",
        sanitize::line(.name),
        sanitize::line(&.known.join(", "))
    )]
    UnknownJudge { name: String, known: Vec<String> },
}

impl MemberNames {
    /// Chooses the names for these judges. If zBench's own reader would reject the file, also
    /// returns why.
    pub(super) fn choose(
        judges: &[QueryJudges],
        chosen: &[(String, String)],
    ) -> Result<(Self, Option<String>), MemberNameError> {
        let names = match chosen {
            [] if judges.iter().all(|(_, judges)| one_of_each(judges)) => Self::Provider,
            [] => Self::Own,
            _ => Self::Chosen(checked(judges, chosen)?),
        };
        let lacking = judges.iter().find_map(|(query, judges)| {
            let members: BTreeSet<String> =
                judges.iter().filter_map(|spec| names.of(spec)).collect();
            let lacks = |known: &&str| !members.contains(*known);
            let lacks: Vec<&str> = ZBENCH_JUDGES.into_iter().filter(lacks).collect();
            (!lacks.is_empty()).then_some((query, judges, lacks))
        });
        let warning = lacking.map(|(query, judges, lacks)| {
            let judges: Vec<String> = judges
                .iter()
                .map(|spec| {
                    let (name, provider) =
                        (sanitize::line(&spec.name), sanitize::line(&spec.provider));
                    format!("{name} ({provider})")
                })
                .collect();
            let lacks: Vec<String> = lacks.iter().map(|name| format!("{name}_score")).collect();
            format!(
                "zBench's own reader refuses this file: every pair needs openai_score, \
                 gemini_score and anthropic_score, and query {} lacks {}, because its judges are \
                 {}; if there is one judge per provider, they get these names automatically; \
                 otherwise assign them with --as openai=JUDGE,gemini=JUDGE,anthropic=JUDGE",
                sanitize::line(query.as_str()),
                lacks.join(", "),
                judges.join(", "),
            )
        });
        Ok((names, warning))
    }

    /// The name of a judge; `None` if it is skipped.
    pub(super) fn of(&self, spec: &JudgeSpec) -> Option<String> {
        match self {
            Self::Own => Some(spec.name.clone()),
            Self::Provider => Some(spec.provider.clone()),
            Self::Chosen(pairs) => pairs
                .iter()
                .find(|(_, judge)| *judge == spec.name)
                .map(|(member, _)| member.clone()),
        }
    }
}

fn one_of_each(judges: &[JudgeSpec]) -> bool {
    let providers: BTreeSet<&str> = judges.iter().map(|spec| spec.provider.as_str()).collect();
    judges.len() == ZBENCH_JUDGES.len() && providers == BTreeSet::from(ZBENCH_JUDGES)
}

/// The chosen names, checked: each judge exists and is used once.
fn checked(
    judges: &[QueryJudges],
    chosen: &[(String, String)],
) -> Result<Vec<(String, String)>, MemberNameError> {
    for (at, (member, judge)) in chosen.iter().enumerate() {
        let twice = |(other, of): &&(String, String)| other == member || of == judge;
        if let Some((other, of)) = chosen[..at].iter().find(twice) {
            let assigned = |member, judge| format!("{member}={judge}");
            return Err(MemberNameError::SharedSide(
                assigned(other, of),
                assigned(member, judge),
            ));
        }
        let mut known = judges.iter().flat_map(|(_, judges)| judges);
        if !known.any(|spec| spec.name == *judge) {
            let known: BTreeSet<&str> = judges
                .iter()
                .flat_map(|(_, judges)| judges)
                .map(|spec| spec.name.as_str())
                .collect();
            return Err(MemberNameError::UnknownJudge {
                name: judge.clone(),
                known: known.into_iter().map(str::to_owned).collect(),
            });
        }
    }
    Ok(chosen.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn judge(name: &str, provider: &str) -> JudgeSpec {
        JudgeSpec {
            name: name.to_owned(),
            provider: provider.to_owned(),
            model: "m".to_owned(),
            prompt_hash: String::new(),
            params: "{}".to_owned(),
        }
    }

    fn judges(of: &[(&str, &str)]) -> QueryJudges {
        let judges = of.iter().map(|(name, provider)| judge(name, provider));
        (QueryId::new("q"), judges.collect())
    }

    const THREE: [(&str, &str); 3] = [("c", "anthropic"), ("g", "gemini"), ("gpt", "openai")];

    fn three(more: &[(&str, &str)]) -> QueryJudges {
        judges(&[&THREE[..], more].concat())
    }

    #[rstest]
    #[case::one_of_each(vec![three(&[])], MemberNames::Provider, false)]
    #[case::one_besides(vec![three(&[("bm25", "offline")])], MemberNames::Own, true)]
    #[case::two_of_one(vec![three(&[("mini", "openai")])], MemberNames::Own, true)]
    #[case::another_server(
        vec![judges(&[THREE[0], THREE[1], ("gpt", "compatible")])],
        MemberNames::Own,
        true
    )]
    #[case::in_one_query_only(
        vec![three(&[]), judges(&[("bm25", "offline")])],
        MemberNames::Own,
        true
    )]
    #[case::named_so(
        vec![judges(&[("openai", "zbench"), ("gemini", "zbench"), ("anthropic", "zbench")])],
        MemberNames::Own,
        false
    )]
    fn providers_give_names_where_there_is_one_of_each(
        #[case] of: Vec<QueryJudges>,
        #[case] names: MemberNames,
        #[case] warned: bool,
    ) {
        let (chosen, warning) = MemberNames::choose(&of, &[]).unwrap();
        assert_eq!((chosen, warning.is_some()), (names, warned), "{warning:?}");
    }

    #[test]
    fn names_are_chosen_once_and_for_judges_that_there_are() {
        let pair = |member: &str, judge: &str| (member.to_owned(), judge.to_owned());
        let of = [judges(&[
            ("x", "offline"),
            ("y", "offline"),
            ("z", "offline"),
        ])];
        let all = [
            pair("openai", "x"),
            pair("gemini", "y"),
            pair("anthropic", "z"),
        ];
        let (names, warning) = MemberNames::choose(&of, &all).unwrap();
        assert_eq!(warning, None);
        assert_eq!(names.of(&judge("y", "offline")).as_deref(), Some("gemini"));
        assert_eq!(names.of(&judge("w", "offline")), None);
        let (_, warning) = MemberNames::choose(&of, &all[..2]).unwrap();
        assert!(warning.unwrap().contains("lacks anthropic_score"));
        for wrong in [
            [pair("openai", "x"), pair("openai", "y")],
            [pair("openai", "x"), pair("gemini", "x")],
            [pair("openai", "x"), pair("gemini", "nobody")],
        ] {
            assert!(MemberNames::choose(&of, &wrong).is_err(), "{wrong:?}");
        }
    }
}
