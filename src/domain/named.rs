//! Enums whose variants have names, which are typed on the command line and stored in files.

use std::fmt;

/// Defines an enum whose variants have names in this case style, in code and in files. It gets
/// `ALL`, `name`, `Display`, and a `FromStr` whose error states what the enum is. The short form
/// adds these to an enum whose names are derived with strum (`IntoStaticStr`, `VariantArray`).
macro_rules! named {
    (
        $what:literal, $case:tt;
        $(#[$attribute:meta])*
        pub enum $type:ident { $($variants:tt)* }
    ) => {
        $(#[$attribute])*
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
            strum::IntoStaticStr,
            strum::VariantArray,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $type { $($variants)* }

        $crate::domain::named::named!($type, $what);
    };
    ($type:ident, $what:literal) => {
        impl $type {
            /// All variants, in the order in which they are listed to users.
            pub const ALL: [Self; <Self as strum::VariantArray>::VARIANTS.len()] =
                match <Self as strum::VariantArray>::VARIANTS.first_chunk() {
                    Some(all) => *all,
                    None => unreachable!(),
                };

            /// The name used on the command line and in files.
            pub fn name(self) -> &'static str {
                self.into()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::domain::named::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::domain::named::parse(text, $what, &Self::ALL)
            }
        }
    };
}

pub(crate) use named;

/// ` (did you mean "scifact-641"?)` if one of `names` is similar to the input; otherwise empty.
pub(crate) fn did_you_mean<S: AsRef<str>>(
    typed: &str,
    names: impl IntoIterator<Item = S>,
) -> String {
    let near = |name: &S| strsim::damerau_levenshtein(typed, name.as_ref());
    // At most a third of the characters may be wrong; anything farther is a different name.
    let most = (typed.chars().count() / 3).max(1);
    let nearest = names.into_iter().map(|name| (near(&name), name));
    let nearest = nearest
        .filter(|(far, _)| *far <= most)
        .min_by_key(|(far, _)| *far);
    nearest.map_or_else(String::new, |(_, name)| {
        format!(" (did you mean {:?}?)", name.as_ref())
    })
}

/// A name that no variant of an enum has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not {what}: expected {}", alternatives(.expected))]
pub struct UnknownName {
    pub name: String,
    /// What the name should be, with its article.
    pub what: &'static str,
    /// The valid names.
    pub expected: Vec<String>,
}

/// `a, b or c`.
fn alternatives(names: &[String]) -> String {
    let (last, rest) = names.split_last().map_or(("", &[][..]), |(l, r)| (l, r));
    format!("{} or {last}", rest.join(", "))
}

/// The variant called `text`; an unknown name is not `what`.
pub(crate) fn parse<T: Copy + fmt::Display>(
    text: &str,
    what: &'static str,
    all: &[T],
) -> Result<T, UnknownName> {
    all.iter()
        .find(|one| one.to_string() == text)
        .copied()
        .ok_or_else(|| UnknownName {
            name: text.to_owned(),
            what,
            expected: all.iter().map(T::to_string).collect(),
        })
}

#[cfg(test)]
mod tests {
    use crate::domain::adjudication::{
        DisagreementCause, DisagreementOrder, EvidenceLabel, Finding,
    };
    use crate::domain::metrics::Measure;
    use crate::domain::priority::Policy;
    use crate::domain::rating::RatingModel;
    use crate::domain::sampling::adaptive::{JudgeChoice, Sampler};
    use crate::domain::verdict::{Confidence, Decision, ErrorCause};

    macro_rules! check {
        ($type:ident, $names:literal) => {
            assert_eq!($type::ALL.map($type::name).join(" "), $names);
            for one in $type::ALL {
                assert_eq!(one.name().parse(), Ok(one));
                assert_eq!(serde_json::json!(one), one.name());
            }
        };
    }

    /// Projects, files and scripts contain these names.
    #[test]
    fn names_stay_and_are_read_back() {
        check!(Confidence, "low medium high");
        check!(Decision, "much-a a tie b much-b cannot-tell");
        check!(
            DisagreementCause,
            "label-wrong label-missing judge-wrong both-defensible query-unclear"
        );
        check!(DisagreementOrder, "impact confidence query random");
        check!(
            ErrorCause,
            "judge-wrong both-defensible query-unclear guideline-gap document-broken other"
        );
        check!(EvidenceLabel, "supports refutes not_enough");
        check!(Finding, "relevant partially not cannot-tell");
        check!(JudgeChoice, "all rotate escalate");
        let measures = Measure::ALL.map(Measure::name).join(" ");
        assert_eq!(
            measures,
            "ndcg ndcg_exp mrr map recall bpref rprec p success judged"
        );
        check!(
            Policy,
            "value impact uncertain split surprise cycle student failed random accept proposed mixed"
        );
        check!(RatingModel, "map mle zbench thurstone");
        check!(Sampler, "cycles swiss eig top");
        assert_eq!(
            "best".parse::<Sampler>().unwrap_err().to_string(),
            "\"best\" is not a sampler: expected cycles, swiss, eig or top"
        );
    }
}
