//! `overrule config`: what is configured, and the project's own settings.

use crate::app::judge_report::rater_data::rater_data;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::judges::basis;
use crate::cli::output;
use crate::cli::output::clean;
use crate::config::{DEFAULT, user_file};
use crate::domain::judge_report::judge_model;
use crate::domain::ranking::{JudgeWeights, RankingSettings};
use crate::domain::rating::RatingModel;
use crate::domain::sanitise;
use crate::domain::verdict::{FinalRule, OverrideMode};
use crate::domain::vote::VoteRule;
use crate::formats::file;
use crate::judge::ensemble;
use crate::store::Store;
use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// What is in force, and where it comes from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// The commented defaults, to start a file of your own from
    Default,
    /// A commented overrule.toml with the default judges, to start one of your own from
    #[command(after_help = "Example:\n  overrule config judges > overrule.toml")]
    Judges,
    /// The settings stored with the project, of the rating and of whose verdict counts; options change them
    #[command(after_help = "Examples:
  overrule config project --override-mode beside
  overrule config project --final adjudicator --adjudicator ada")]
    Project(ProjectOptions),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VoteRuleName {
    Ternary,
    Zbench,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OverrideModeName {
    Replace,
    Beside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FinalRuleName {
    /// The latest verdict, whoever gave it
    Latest,
    /// The direction that more than half agree on; without one the judges' votes stay
    Majority,
    /// The adjudicator's verdict; the majority's where there is none
    Adjudicator,
}

/// What a project's scores are made with, as printed.
#[derive(Serialize)]
pub(super) struct RatingSettings<'a> {
    #[serde(flatten)]
    settings: RankingSettings,
    #[serde(rename = "final")]
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjudicator: Option<&'a str>,
}

impl<'a> RatingSettings<'a> {
    pub(super) fn new(settings: RankingSettings, rule: &'a FinalRule) -> Self {
        Self {
            settings,
            rule: rule.name(),
            adjudicator: match rule {
                FinalRule::Adjudicator(name) => Some(name),
                FinalRule::Latest | FinalRule::Majority => None,
            },
        }
    }
}

/// A project's settings with the beginning of its guideline.
#[derive(Serialize)]
struct SettingsWithGuideline<'a> {
    #[serde(flatten)]
    shown: RatingSettings<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guideline: Option<GuidelineExcerpt>,
}

/// Enough of a guideline to tell which one it is.
#[derive(Serialize)]
struct GuidelineExcerpt {
    first_line: String,
    characters: usize,
}

impl GuidelineExcerpt {
    fn of(text: &str) -> Self {
        let first = text.lines().find(|line| !line.trim().is_empty());
        Self {
            first_line: clean(first.unwrap_or_default()),
            characters: text.chars().count(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum JudgeWeightsName {
    Equal,
    Joint,
}

#[derive(Debug, Args)]
struct ProjectOptions {
    /// map, mle, zbench or thurstone
    #[arg(long)]
    model: Option<RatingModel>,
    /// Precision of the Gaussian prior, per battle
    #[arg(long, allow_hyphen_values = true)]
    lambda: Option<f64>,
    /// Dispersion; 0 means estimated from 2,000 battles on, and one over the number of judges before
    #[arg(long, allow_hyphen_values = true)]
    phi: Option<f64>,
    /// How margins become scores
    #[arg(long, value_enum)]
    vote_rule: Option<VoteRuleName>,
    /// Whether a verdict replaces the votes on its pair
    #[arg(long, value_enum)]
    override_mode: Option<OverrideModeName>,
    /// Weight of a verdict, in battles, at most 3
    #[arg(long, allow_hyphen_values = true)]
    override_weight: Option<f64>,
    /// How judges count against each other; joint fits each judge's sharpness and position bias now, with the documents
    #[arg(long, value_enum)]
    judge_weights: Option<JudgeWeightsName>,
    /// How people are to judge: a Markdown file that one key shows while judging, or - for none
    #[arg(long, value_name = "FILE")]
    guideline: Option<PathBuf>,
    /// Whose verdict counts where several people judged a pair
    #[arg(long = "final", value_enum)]
    final_rule: Option<FinalRuleName>,
    /// The one whose verdict counts with --final adjudicator
    #[arg(long, value_name = "NAME")]
    adjudicator: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            ConfigAction::Default => output::text(DEFAULT)?,
            ConfigAction::Judges => output::text(ensemble::DEFAULT)?,
            ConfigAction::Show { json: true } => output::json(&json!({
                "file": context.config_file.as_ref().map(|path| path.display().to_string()),
                "project": context.project().display().to_string(),
                "annotator": context.annotator(),
                "config": context.config,
            }))?,
            ConfigAction::Show { json: false } => {
                let file = match (&context.config_file, user_file()) {
                    (Some(path), _) => path.display().to_string(),
                    (None, Some(path)) => format!("none ({} does not exist)", path.display()),
                    (None, None) => "none".to_owned(),
                };
                let text = toml::to_string(&context.config)?;
                output::text(&format!(
                    "# file: {file}\n# project: {}\n# verdicts are stored as given by: {}\n{text}",
                    context.project().display(),
                    context.annotator()
                ))?;
            }
            ConfigAction::Project(project) => project.run(context)?,
        }
        Ok(())
    }
}

impl ProjectOptions {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (before, rule) = store.read_blocking(|db| Ok((db.settings()?, db.final_rule()?)))?;
        let after = self.apply(before)?;
        let wanted = self.rule(&rule)?;
        if let Some(path) = &self.guideline {
            set_guideline(&store, path)?;
        }
        if self.judge_weights == Some(JudgeWeightsName::Joint) {
            fit_judges(&store, after.lambda)?;
        }
        if after != before {
            store.write_blocking(move |db| db.set_settings(&after))?;
        }
        if wanted != rule {
            let wanted = wanted.clone();
            store.write_blocking(move |db| db.set_final_rule(&wanted))?;
        }
        let (guideline, people) =
            store.read_blocking(|db| Ok((db.guideline()?, db.annotators()?)))?;
        if let (true, FinalRule::Adjudicator(name)) = (wanted != rule, &wanted)
            && !people.contains(name)
        {
            output::message(&format!(
                "note: nobody called {} has judged in this project yet; until then the majority's verdict counts{}",
                sanitise::line(name),
                match people.is_empty() {
                    true => String::new(),
                    false => format!(" (known: {})", sanitise::line(&people.join(", "))),
                }
            ));
        }
        let shown = SettingsWithGuideline {
            shown: RatingSettings::new(after, &wanted),
            guideline: guideline.as_deref().map(GuidelineExcerpt::of),
        };
        if self.json {
            output::json(&shown)?;
        } else {
            output::text(&toml::to_string(&shown)?)?;
        }
        Ok(())
    }

    fn rule(&self, now: &FinalRule) -> Result<FinalRule, CommandFailure> {
        let name = self.adjudicator.clone();
        if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(usage!("--adjudicator is empty"));
        }
        match (self.final_rule, name, now) {
            (None, None, _) => Ok(now.clone()),
            (Some(FinalRuleName::Adjudicator) | None, Some(name), _) => {
                Ok(FinalRule::Adjudicator(name))
            }
            (Some(FinalRuleName::Adjudicator), None, FinalRule::Adjudicator(_)) => Ok(now.clone()),
            (Some(FinalRuleName::Adjudicator), None, _) => Err(usage!(
                "--final adjudicator: whose verdict is to count? Name them with --adjudicator NAME"
            )),
            (Some(FinalRuleName::Latest | FinalRuleName::Majority), Some(_), _) => {
                Err(usage!("--adjudicator goes with --final adjudicator"))
            }
            (Some(FinalRuleName::Latest), None, _) => Ok(FinalRule::Latest),
            (Some(FinalRuleName::Majority), None, _) => Ok(FinalRule::Majority),
        }
    }

    fn apply(&self, mut settings: RankingSettings) -> Result<RankingSettings, CommandFailure> {
        settings.model = self.model.unwrap_or(settings.model);
        settings.lambda = self.lambda.unwrap_or(settings.lambda);
        settings.override_weight = self.override_weight.unwrap_or(settings.override_weight);
        if let Some(phi) = self.phi {
            settings.phi = (phi != 0.0).then_some(phi);
        }
        match self.vote_rule {
            Some(VoteRuleName::Ternary) => settings.vote_rule = VoteRule::Ternary,
            Some(VoteRuleName::Zbench) => settings.vote_rule = VoteRule::Zbench,
            None => {}
        }
        match self.override_mode {
            Some(OverrideModeName::Replace) => settings.override_mode = OverrideMode::Replace,
            Some(OverrideModeName::Beside) => settings.override_mode = OverrideMode::Beside,
            None => {}
        }
        match self.judge_weights {
            Some(JudgeWeightsName::Equal) => settings.judge_weights = JudgeWeights::Equal,
            Some(JudgeWeightsName::Joint) => settings.judge_weights = JudgeWeights::Joint,
            None => {}
        }
        settings
            .checked()
            .map_err(|error| usage!("--{}", error.replacen("override_", "override-", 1)))
    }
}

fn set_guideline(store: &Store, path: &Path) -> CommandResult {
    let text = if path == Path::new("-") {
        None
    } else {
        let text = file::read_to_string(path)
            .map_err(|error| usage!("--guideline {}: {error}", path.display()))?;
        Some(text)
    };
    store.write_blocking(move |db| db.set_guideline(text.as_deref()))?;
    Ok(())
}

/// Fits documents and judges together and keeps what it says of the judges.
fn fit_judges(store: &Store, lambda: f64) -> CommandResult {
    let rater_data = store.read_blocking(|db| rater_data(db, None))?;
    let fitted = judge_model(&rater_data.ratings, lambda)
        .map_err(|error| anyhow!("judges and documents cannot be fitted together: {error}"))?;
    let responses: BTreeMap<i64, (f64, f64)> = fitted
        .judges
        .iter()
        .filter_map(|judge| {
            let (id, _) = rater_data.judges.get(judge.judge)?;
            Some((id.0, (judge.beta, judge.gamma)))
        })
        .collect();
    for judge in &fitted.judges {
        let name = rater_data
            .judges
            .get(judge.judge)
            .map_or("", |(_, spec)| spec.name.as_str());
        output::message(&format!(
            "{name}: beta {:.2}, gamma {:.2} from {} votes ({})",
            judge.beta,
            judge.gamma,
            judge.votes,
            basis(judge.basis)
        ));
    }
    store.write_blocking(move |db| db.set_judge_responses(&responses))?;
    Ok(())
}
