//! Parses and formats the names of methods.

use super::{Method, MethodKind, Shuffle, StageConfig, Validation};
use super::{infogain, mohajer, prp, rankgpt, setwise, tourrank, zelo};
use crate::domain::candidate_question::GradeScale;
use std::fmt;
use std::str::FromStr;

/// Maximum value of a number in a name.
const LARGEST: usize = 1_000_000;

/// A text that does not name a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a method: {reason}")]
pub struct MethodNameError {
    text: String,
    reason: Reason,
}

/// What is wrong with the name of a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error(
        "{name} takes no options, found {option:?}: options are for rankgpt, prp, tourrank, \
         setwise, pointwise, zelo, infogain and mohajer, such as prp@20:p3"
    )]
    TakesNoOptions { name: String, option: String },
    #[error("original is the whole first-stage order, and takes no @N")]
    OriginalDepth,
    #[error(
        "s{stride} is larger than w{window}, which would skip candidates; the step must not exceed the window, \
         as in rankgpt@100:w20:s10"
    )]
    StrideAboveWindow { window: usize, stride: usize },
    #[error(
        "a name is missing: expected original, rankgpt@20, prp@20:p3, tourrank@20:r2, \
         setwise@20:c3, pointwise@20:grade, zelo@20:b2, infogain@20:r10, mohajer@20:k10, or the \
         name of a service, a program or a run"
    )]
    NameMissing,
    #[error("a name cannot contain spaces or @, as in cohere@100")]
    InvalidCharacter,
    #[error(
        "stages are groups × size × selected, such as s5x20x10-5x10x4, found {0:?}; the numbers are \
         from 1, and a group selects fewer than it has"
    )]
    Stages(String),
    #[error("stage {stage} has {found} candidates, and the stage before it leaves {left}")]
    StageCount {
        stage: usize,
        found: usize,
        left: usize,
    },
    #[error("its first stage has {found} candidates, and @{depth} looks at {depth}")]
    FirstStage { found: usize, depth: usize },
    #[error(
        "b (calls per candidate) must be a number above 0, found {0:?}; for example, \
             zelo@20:b2"
    )]
    Budget(String),
    #[error("{option:?} is not one of its options: {expected}, and strict or repair")]
    UnknownOption {
        option: String,
        expected: &'static str,
    },
    #[error("{what} must be a whole number from {least} to {LARGEST}, found {found:?}")]
    NotWhole {
        what: &'static str,
        least: usize,
        found: String,
    },
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            MethodKind::Original => "original",
            MethodKind::RankGpt { .. } => "rankgpt",
            MethodKind::Prp { .. } => "prp",
            MethodKind::TourRank { .. } => "tourrank",
            MethodKind::Setwise { .. } => "setwise",
            MethodKind::Pointwise { .. } => "pointwise",
            MethodKind::Zelo { .. } => "zelo",
            MethodKind::InfoGain { .. } => "infogain",
            MethodKind::Mohajer { .. } => "mohajer",
            MethodKind::Named(name) => name,
        })?;
        if let Some(depth) = self.depth {
            write!(f, "@{depth}")?;
        }
        match &self.kind {
            MethodKind::Original | MethodKind::Named(_) => {}
            MethodKind::RankGpt { window, stride } => {
                if (*window, *stride) != (rankgpt::WINDOW, rankgpt::STRIDE) {
                    write!(f, ":w{window}:s{stride}")?;
                }
            }
            MethodKind::Prp { passes } => write!(f, ":p{passes}")?,
            MethodKind::TourRank {
                rounds,
                shuffle,
                stages,
            } => {
                write!(f, ":r{rounds}")?;
                for (at, stage) in stages.iter().enumerate() {
                    let before = if at == 0 { ":s" } else { "-" };
                    let StageConfig {
                        groups,
                        size,
                        selected,
                    } = stage;
                    write!(f, "{before}{groups}x{size}x{selected}")?;
                }
                if *shuffle == Shuffle::Cpython {
                    write!(f, ":cpython")?;
                }
            }
            MethodKind::Setwise { set, top } => {
                write!(f, ":c{set}")?;
                if *top != setwise::TOP {
                    write!(f, ":k{top}")?;
                }
            }
            MethodKind::Pointwise { scale } => write!(f, ":{}", scale_name(*scale))?,
            MethodKind::Zelo { budget } => write!(f, ":b{budget}")?,
            MethodKind::InfoGain { rounds } => write!(f, ":r{rounds}")?,
            MethodKind::Mohajer { top } => write!(f, ":k{top}")?,
        }
        match self.validation {
            Validation::Strict => write!(f, ":strict"),
            Validation::Repair => Ok(()),
        }
    }
}

fn scale_name(scale: GradeScale) -> &'static str {
    match scale {
        GradeScale::YesNo => "yesno",
        GradeScale::ZeroToThree => "grade",
    }
}

impl FromStr for Method {
    type Err = MethodNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        read(text).map_err(|reason| MethodNameError {
            text: text.to_owned(),
            reason,
        })
    }
}

/// Whether this is a valid name of a reranker: `--method` accepts it, and no method has it.
pub fn is_free_reranker_name(name: &str) -> bool {
    matches!(read(name.trim()), Ok(Method { kind: MethodKind::Named(read), .. }) if read == name)
}

fn read(text: &str) -> Result<Method, Reason> {
    let mut parts = text.split(':').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let (name, depth) = match first.rsplit_once('@') {
        Some((name, depth)) => (name.trim(), Some(number(depth, "N in NAME@N", 1)?)),
        None => (first, None),
    };
    let mut kind = usual(name)?;
    let mut validation = Validation::default();
    for option in parts {
        match (option, &mut kind) {
            (_, MethodKind::Original | MethodKind::Named(_)) => {
                return Err(Reason::TakesNoOptions {
                    name: name.to_owned(),
                    option: option.to_owned(),
                });
            }
            ("strict", _) => validation = Validation::Strict,
            ("repair", _) => validation = Validation::Repair,
            (_, kind) => set(kind, option)?,
        }
    }
    if let MethodKind::TourRank { stages, .. } = &kind {
        check_stages(stages, depth)?;
    }
    match kind {
        MethodKind::Original if depth.is_some() => Err(Reason::OriginalDepth),
        MethodKind::RankGpt { window, stride } if stride > window => {
            Err(Reason::StrideAboveWindow { window, stride })
        }
        kind => Ok(Method {
            kind,
            depth,
            validation,
        }),
    }
}

/// The method with this name and its default settings. Also accepts the names that ranksmith uses.
fn usual(name: &str) -> Result<MethodKind, Reason> {
    let fits = |letter: char| !letter.is_control() && !letter.is_whitespace() && letter != '@';
    Ok(match name {
        "original" => MethodKind::Original,
        "rankgpt" | "rankgpt_sliding_window" => MethodKind::RankGpt {
            window: rankgpt::WINDOW,
            stride: rankgpt::STRIDE,
        },
        "prp" | "prp_sliding_k" => MethodKind::Prp {
            passes: prp::PASSES,
        },
        "tourrank" | "tourrank_r" => MethodKind::TourRank {
            rounds: tourrank::ROUNDS,
            shuffle: Shuffle::Seeded,
            stages: Vec::new(),
        },
        "setwise" => MethodKind::Setwise {
            set: setwise::SET,
            top: setwise::TOP,
        },
        "pointwise" => MethodKind::Pointwise {
            scale: GradeScale::ZeroToThree,
        },
        "zelo" => MethodKind::Zelo {
            budget: zelo::BUDGET,
        },
        "infogain" => MethodKind::InfoGain {
            rounds: infogain::ROUNDS,
        },
        "mohajer" => MethodKind::Mohajer { top: mohajer::TOP },
        "" => return Err(Reason::NameMissing),
        name if name.chars().all(fits) => MethodKind::Named(name.to_owned()),
        _ => return Err(Reason::InvalidCharacter),
    })
}

/// Applies an option: a letter and a number, or a word.
fn set(kind: &mut MethodKind, option: &str) -> Result<(), Reason> {
    let letter = option.get(..1).unwrap_or_default();
    let value = option.get(1..).unwrap_or_default();
    match (kind, letter, option) {
        (MethodKind::RankGpt { window, .. }, "w", _) => {
            *window = number(value, "w (candidates shown at once)", 2)?;
        }
        (MethodKind::RankGpt { stride, .. }, "s", _) => {
            *stride = number(value, "s (how far the window moves)", 1)?;
        }
        (MethodKind::Prp { passes }, "p", _) => *passes = number(value, "p (passes)", 1)?,
        (MethodKind::TourRank { shuffle, .. }, _, "cpython") => *shuffle = Shuffle::Cpython,
        (MethodKind::TourRank { rounds, .. }, "r", _) => *rounds = number(value, "r (rounds)", 1)?,
        (MethodKind::TourRank { stages, .. }, "s", _) => *stages = read_stages(value)?,
        (MethodKind::Setwise { set, .. }, "c", _) => {
            *set = number(value, "c (candidates shown at once)", 2)?;
        }
        (MethodKind::Setwise { top, .. }, "k", _) => {
            *top = number(value, "k (number of ranks to sort)", 1)?;
        }
        (MethodKind::InfoGain { rounds }, "r", _) => *rounds = number(value, "r (rounds)", 1)?,
        (MethodKind::Mohajer { top }, "k", _) => {
            *top = number(value, "k (number of ranks to select)", 1)?;
        }
        (MethodKind::Pointwise { scale }, _, "yesno") => *scale = GradeScale::YesNo,
        (MethodKind::Pointwise { scale }, _, "grade") => *scale = GradeScale::ZeroToThree,
        (MethodKind::Zelo { budget }, "b", _) => {
            let calls = value.trim().parse::<f64>().ok();
            let calls = calls.filter(|calls| *calls > 0.0 && *calls <= LARGEST as f64);
            *budget = calls.ok_or_else(|| Reason::Budget(value.to_owned()))?;
        }
        (kind, ..) => {
            let expected = match kind {
                MethodKind::RankGpt { .. } => "rankgpt takes w and s, such as rankgpt@100:w20:s10",
                MethodKind::Prp { .. } => "prp takes p, such as prp@20:p3",
                MethodKind::TourRank { .. } => {
                    "tourrank takes r, s (stages) and cpython, such as tourrank@20:r2"
                }
                MethodKind::Setwise { .. } => "setwise takes c and k, such as setwise@20:c3:k10",
                MethodKind::Pointwise { .. } => {
                    "pointwise takes grade or yesno, such as pointwise@20:yesno"
                }
                MethodKind::Zelo { .. } => "zelo takes b, such as zelo@20:b2",
                MethodKind::InfoGain { .. } => "infogain takes r, such as infogain@20:r10",
                MethodKind::Mohajer { .. } => "mohajer takes k, such as mohajer@20:k10",
                MethodKind::Original | MethodKind::Named(_) => "it takes none",
            };
            return Err(Reason::UnknownOption {
                option: option.to_owned(),
                expected,
            });
        }
    }
    Ok(())
}

/// Stages such as `5x20x10-5x10x4`.
fn read_stages(text: &str) -> Result<Vec<StageConfig>, Reason> {
    let read = |stage: &str| {
        let numbers: Vec<usize> = stage
            .split('x')
            .map(|number| number.parse().ok().filter(|number| *number <= LARGEST))
            .collect::<Option<_>>()?;
        match numbers[..] {
            [groups, size, selected] if groups > 0 && selected > 0 && selected < size => {
                Some(StageConfig {
                    groups,
                    size,
                    selected,
                })
            }
            _ => None,
        }
    };
    let stages: Option<Vec<StageConfig>> = text.split('-').map(read).collect();
    stages.ok_or_else(|| Reason::Stages(text.to_owned()))
}

/// Checks that each stage has the candidates that the stage before it leaves, and the first one
/// those that the method looks at.
fn check_stages(stages: &[StageConfig], depth: Option<usize>) -> Result<(), Reason> {
    let found = stages.first().map(|first| first.candidates());
    if let (Some(found), Some(depth)) = (found, depth)
        && found != depth
    {
        return Err(Reason::FirstStage { found, depth });
    }
    for (at, pair) in stages.windows(2).enumerate() {
        let (left, found) = (pair[0].advancing(), pair[1].candidates());
        if left != found {
            let stage = at + 2;
            return Err(Reason::StageCount { stage, found, left });
        }
    }
    Ok(())
}

fn number(text: &str, what: &'static str, least: usize) -> Result<usize, Reason> {
    let number = text.trim().parse::<usize>().ok();
    number
        .filter(|number| (least..=LARGEST).contains(number))
        .ok_or_else(|| Reason::NotWhole {
            what,
            least,
            found: text.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_one_way() {
        for (text, name) in [
            ("original", "original"),
            ("rankgpt@20:w20:s10", "rankgpt@20"),
            ("rankgpt@100:w10:s5", "rankgpt@100:w10:s5"),
            ("rankgpt", "rankgpt"),
            ("prp@20", "prp@20:p10"),
            ("prp@020:p03", "prp@20:p3"),
            ("tourrank@ 20 ", "tourrank@20:r2"),
            ("tourrank@20:cpython:r10", "tourrank@20:r10:cpython"),
            (
                "tourrank@100:s5x20x10-5x10x4-1x20x10",
                "tourrank@100:r2:s5x20x10-5x10x4-1x20x10",
            ),
            ("tourrank:s2x3x1:strict", "tourrank:r2:s2x3x1:strict"),
            ("setwise@20", "setwise@20:c3"),
            ("setwise@20:k5:c4", "setwise@20:c4:k5"),
            ("pointwise@20", "pointwise@20:grade"),
            ("pointwise@20:yesno:strict", "pointwise@20:yesno:strict"),
            ("zelo@20:b1.50:repair", "zelo@20:b1.5"),
            ("infogain@100", "infogain@100:r10"),
            ("infogain:r05:strict", "infogain:r5:strict"),
            ("mohajer", "mohajer:k10"),
            ("mohajer@100:k3", "mohajer@100:k3"),
            ("cohere@100", "cohere@100"),
            ("bm25.trec", "bm25.trec"),
        ] {
            let method: Method = text.parse().unwrap();
            assert_eq!(method.to_string(), name);
            assert_eq!(name.parse(), Ok(method));
        }
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said_with_an_example() {
        for (text, why) in [
            ("", "a name is missing"),
            ("@20", "a name is missing"),
            ("prp@", "whole number from 1"),
            ("prp@0:p3", "whole number from 1"),
            ("prp@20:p0", "p (passes) must be a whole number from 1"),
            ("prp@20:", "such as prp@20:p3"),
            ("prp@20:r2", "such as prp@20:p3"),
            ("tourrank@20:10", "such as tourrank@20:r2"),
            ("tourrank@6:s2x3", "groups × size × selected"),
            ("tourrank@6:s2x3x3", "a group selects fewer than it has"),
            ("tourrank@6:s0x3x1", "from 1"),
            ("tourrank@6:s", "such as s5x20x10-5x10x4"),
            ("tourrank@8:s2x3x1", "first stage has 6 candidates, and @8"),
            (
                "tourrank:s2x3x1-1x3x1",
                "stage 2 has 3 candidates, and the stage before it leaves 2",
            ),
            ("rankgpt@20:w5:s6", "the step must not exceed the window"),
            ("rankgpt@20:w1", "whole number from 2"),
            ("zelo@20:b0", "zelo@20:b2"),
            ("zelo@20:bNaN", "zelo@20:b2"),
            ("pointwise:maybe", "such as pointwise@20:yesno"),
            ("infogain@20:k3", "such as infogain@20:r10"),
            ("infogain@20:r0", "r (rounds) must be a whole number from 1"),
            ("mohajer@20:r3", "such as mohajer@20:k10"),
            (
                "mohajer@20:k0",
                "k (number of ranks to select) must be a whole number from 1",
            ),
            ("setwize@20:c3", "setwize takes no options"),
            ("original@20", "takes no @N"),
            ("my run@20", "cannot contain spaces"),
            ("prp@99999999999999999999", "whole number"),
        ] {
            let found = text.parse::<Method>().unwrap_err().to_string();
            assert!(found.contains(why), "{text:?}: {found}");
        }
    }
}
