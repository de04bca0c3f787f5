//! `overrule prompt check`: decides whether a prompt may replace another one.

use super::{TestOptions, print};
use crate::app::error::{AppError, invalid};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean};
use crate::domain::sanitize;
use crate::features::gate::app::{GateJudge, GateRequest, GateSide, gate_between};
use crate::features::methods::app::rerank::pair_judge::PairJudge;
use crate::features::prompts::app::{
    OrderedAnswers, comparable_answers, find_version, stored_answers, versions,
};
use crate::features::prompts::command::{read_text, text_of};
use crate::features::prompts::domain::PromptVersion;
use crate::store::Store;
use clap::Args;
use std::path::Path;

#[derive(Debug, Args)]
#[command(
    after_help = "The judge's answers under both prompts are compared on reference pairs, as by \
`overrule gate`: pairs with a blind verdict of a person, or with a known answer, of the held-out part \
of the regression set (`prompt set`). The answers are those that the project holds, from votes and \
from `prompt try --final`; nothing is asked. Both prompts are checked with the model that \
overrule.toml names for the judge. A judge that is not there is checked with its stored votes only.

The decision and the exit code:

  pass       0   the loss is below the margin: the lower limit of the 90 % interval is above it
  worse      1   the prompt is worse: the upper limit is below zero
  undecided  3   neither

If no decision is printed, there is none: exit code 1 or 2 then means an error. `overrule gate \
--help` has a table of the chance to pass, and explains --early.

Examples:
  overrule prompt try gpt mine.md --final
  overrule prompt check gpt mine.md --not-worse-than 1f3a
  overrule prompt check gpt 9c2e --not-worse-than 1f3a --margin 0.05 --json | jq .decision"
)]
pub(crate) struct PromptCheckCommand {
    /// The judge
    judge: String,
    /// The new prompt: a file, or a hash, built-in name or judge
    prompt: String,
    /// The prompt that it would replace: a hash, built-in name or judge
    #[arg(long, value_name = "HASH")]
    not_worse_than: String,
    #[command(flatten)]
    test: TestOptions,
}

/// A prompt to check.
struct CheckedPrompt {
    /// `None` for a file, whose hash depends on the judge.
    hash: Option<String>,
    /// `None` if the project does not know the text.
    text: Option<String>,
}

impl PromptCheckCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let known = store.read_blocking(|db| versions(db))?;
        let path = Path::new(&self.prompt);
        let new = if path.is_file() {
            CheckedPrompt {
                hash: None,
                text: Some(read_text(path)?),
            }
        } else {
            CheckedPrompt::of(find_version(&known, &self.prompt)?)
        };
        let old = CheckedPrompt::of(find_version(&known, &self.not_worse_than)?);
        let (new, answers_of_new) = self.side(context, &store, &new)?;
        let (old, answers_of_old) = self.side(context, &store, &old)?;
        if new.spec.prompt_hash == old.spec.prompt_hash {
            let hash = sanitize::line(&new.spec.prompt_hash).into_owned();
            return Err(invalid!("both prompts are {hash}; name two prompts").into());
        }
        if new.spec.model != old.spec.model {
            let [new, old] = [&new, &old].map(|side| sanitize::line(&side.spec.model));
            return Err(invalid!(
                "the answers are of different models, {new} and {old}; `overrule gate` compares \
                 judges"
            )
            .into());
        }
        let sides = [
            GateSide {
                judge: new,
                answers: comparable_answers(&answers_of_new, &answers_of_old),
            },
            GateSide {
                judge: old,
                answers: comparable_answers(&answers_of_old, &answers_of_new),
            },
        ];
        let name = sanitize::line(&self.judge);
        let request = GateRequest {
            judge: self.judge.clone(),
            against: self.judge.clone(),
            margin: self.test.margin,
            pairs: self.test.pairs.map(|pairs| pairs as usize),
            early: self.test.early,
            author: context.annotator(),
        };
        let mut report = gate_between(&store, sides, &request)?;
        let lacks_new = report.lacks_answers_of_new();
        let missing = if lacks_new {
            &self.prompt
        } else {
            &self.not_worse_than
        };
        report.remedy = Some(format!(
            "overrule prompt try {name} {} --final",
            sanitize::line(missing)
        ));
        print(&report, self.test.json)
    }

    /// The judge with a prompt, and its answers.
    fn side(
        &self,
        context: &CommandContext,
        store: &Store,
        prompt: &CheckedPrompt,
    ) -> Result<(GateJudge, OrderedAnswers), AppError> {
        let configured = match &prompt.text {
            Some(text) => context
                .judges(false)
                .choose_changed(&self.judge, text, None),
            None => Err(invalid!("the text of the prompt is unknown")),
        };
        let judge = configured.and_then(|chosen| {
            let judge = chosen.ensemble.first().cloned();
            judge.ok_or_else(|| invalid!("no judge is called {:?}", clean(&self.judge)))
        });
        match judge {
            Ok(judge) => {
                let spec = judge.spec().clone();
                let answers = stored_answers(store, &PairJudge { judge })?;
                let judge = store.read_blocking(move |db| GateJudge::of_spec(db, spec))?;
                Ok((judge, answers))
            }
            // A judge of an import or of an earlier configuration.
            Err(why) => {
                let Some(hash) = &prompt.hash else {
                    return Err(why);
                };
                let reference = format!("{}@{hash}", self.judge);
                let found = store.read_blocking(move |db| Ok(GateJudge::find(db, &reference)))?;
                let Ok(judge) = found else {
                    return Err(why);
                };
                output::message(&format!(
                    "note: {} with prompt {} is checked with its votes only: {}",
                    clean(&self.judge),
                    clean(hash),
                    clean(why.to_string())
                ));
                Ok((judge, OrderedAnswers::new()))
            }
        }
    }
}

impl CheckedPrompt {
    fn of(version: &PromptVersion) -> Self {
        Self {
            hash: Some(version.hash.clone()),
            text: text_of(version).ok().map(str::to_owned),
        }
    }
}
