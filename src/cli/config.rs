//! `overrule config`: shows and changes the configuration and the project's own settings.

use crate::app::rename_judge::rename_judge;
use crate::app::run_lock::RunLock;
use crate::app::settings::{ProjectSettings, calibrate_margins, fit_judges};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, annotator, usage};
use crate::cli::judges::basis;
use crate::cli::output;
use crate::cli::output::clean;
use crate::config::{DEFAULT, user_file};
use crate::domain::judge_report::{CalibratedMargins, MarginReference};
use crate::domain::number_words::{counted, fixed};
use crate::domain::ranking::{
    JudgeWeights, NamedOpinion, OpinionEffect, PriorPrecision, RankingSettings, Tastes,
    override_mode_note,
};
use crate::domain::rating::RatingModel;
use crate::domain::sanitize;
use crate::domain::verdict::{FinalRule, OverrideMode};
use crate::domain::vote::VoteRule;
use crate::embedding;
use crate::formats::file;
use crate::judge::{ensemble, reranker};
use crate::registry::{AddedProjectOptions, opinion_with_effect};
use crate::store::StoreError;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule config show
  overrule config project --top 5
  overrule config judges > overrule.toml")]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Show the configuration that applies, and where it comes from
    #[command(
        after_help = "Examples:\n  overrule config show\n  overrule config show --json | jq \
                      .config.run"
    )]
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the default configuration with comments
    #[command(after_help = "Example:\n  overrule config default > config.toml")]
    Default,
    /// Print an overrule.toml with the default judges and comments
    #[command(after_help = "Examples:
  overrule config judges > overrule.toml
  overrule config judges --rename gpt gpt-terra    move the votes of gpt to gpt-terra")]
    Judges {
        /// Move the project's votes of a judge that was renamed in overrule.toml to its new name
        #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
        rename: Option<Vec<String>>,
    },
    /// Show or change the settings that are stored in the project
    #[command(after_help = "Examples:
  overrule config project --top 5
  overrule config project --override-mode alongside
  overrule config project --student llama-8b --student-weight auto
  overrule config project --final adjudicator --adjudicator ada")]
    Project(ProjectOptions),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VoteRuleName {
    /// Each vote counts by its direction: 0, ½ or 1
    Ternary,
    /// zBench's own rule, under which a tie counts for A
    Zbench,
    /// Margins count as they are stated
    Margin,
    /// Margins count by how often people or other votes agree with margins of their size; estimated
    /// now
    Calibrated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OverrideModeName {
    /// A verdict is added to the votes, better as a direction without a margin
    #[value(alias = "beside")]
    Alongside,
    /// A verdict that contradicts the votes replaces them
    Replace,
    /// As in versions up to 0.1; can lower the document that a verdict prefers
    Legacy,
    #[value(hide = true)]
    LegacyBeside,
}

impl From<OverrideModeName> for OverrideMode {
    fn from(name: OverrideModeName) -> Self {
        match name {
            OverrideModeName::Alongside => Self::Alongside,
            OverrideModeName::Replace => Self::Replace,
            OverrideModeName::Legacy => Self::Legacy,
            OverrideModeName::LegacyBeside => Self::LegacyBeside,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FinalRuleName {
    /// The latest verdict, whoever gave it
    Latest,
    /// The direction that more than half agree on; if there is none, the judges' votes stay
    Majority,
    /// The adjudicator's verdict; the majority's if there is none
    Adjudicator,
}

/// The settings for a project's scores, as printed.
#[derive(Serialize)]
pub(super) struct RatingSettings<'a> {
    #[serde(flatten)]
    settings: RankingSettings,
    /// The current precision of the prior.
    lambda_in_force: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda_estimated_from_battles: Option<usize>,
    /// The variance of judges' tastes, relative to that of scores, if they are modeled.
    #[serde(skip_serializing_if = "Option::is_none")]
    taste_in_force: Option<f64>,
    #[serde(rename = "final")]
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjudicator: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_note: Option<&'static str>,
}

impl<'a> RatingSettings<'a> {
    pub(crate) fn new(settings: RankingSettings, rule: &'a FinalRule) -> Self {
        Self {
            override_note: override_mode_note(&settings),
            lambda_in_force: settings.rating().lambda,
            lambda_estimated_from_battles: settings.learned.map(|learned| learned.battles),
            taste_in_force: Some(settings.taste()).filter(|taste| *taste > 0.0),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    student: Option<StudentInForce>,
}

/// The project's student and its weight.
#[derive(Serialize)]
pub(super) struct StudentInForce {
    /// The set or learned weight, in battles per document.
    weight_in_force: f64,
    #[serde(flatten)]
    named: NamedOpinion,
    /// Its effect in the fits.
    in_fits: OpinionEffect,
}

impl From<(NamedOpinion, OpinionEffect)> for StudentInForce {
    fn from((named, in_fits): (NamedOpinion, OpinionEffect)) -> Self {
        Self {
            weight_in_force: named.in_force(),
            named,
            in_fits,
        }
    }
}

/// Enough of a guideline to identify it.
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
    /// Model: map, mle, zbench or thurstone
    #[arg(long)]
    model: Option<RatingModel>,
    /// Precision of the Gaussian prior; auto learns it from 300 battles on and uses 0.05 before
    #[arg(long, value_name = "auto|NUMBER", allow_hyphen_values = true)]
    lambda: Option<PriorPrecision>,
    /// Dispersion; 0 estimates it from 2,000 battles on and uses one over the number of judges
    /// before
    #[arg(long, allow_hyphen_values = true)]
    phi: Option<f64>,
    /// How votes count in scores
    #[arg(long, value_enum)]
    vote_rule: Option<VoteRuleName>,
    /// How verdicts count
    #[arg(long, value_enum)]
    override_mode: Option<OverrideModeName>,
    /// Weight of "equal" and of the win of "by far", in battles
    #[arg(long, allow_hyphen_values = true)]
    override_weight: Option<f64>,
    /// How judges are weighted; joint fits the sharpness and position bias of each judge
    #[arg(long, value_enum)]
    judge_weights: Option<JudgeWeightsName>,
    /// Variance of judges' tastes, relative to that of scores; auto learns it, if there is clear evidence
    #[arg(long, value_name = "off|auto|NUMBER", allow_hyphen_values = true)]
    tastes: Option<Tastes>,
    /// Number of ranks that count as the top; in a pool with no more documents, half of them
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    #[command(flatten)]
    added: AddedProjectOptions,
    /// Guideline for annotators: a Markdown file, shown with a key while judging; - for none
    #[arg(long, value_name = "FILE")]
    guideline: Option<PathBuf>,
    /// Note on the domain for prompts with {{domain}}; - for none
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    domain_note: Option<String>,
    /// Note on the languages for prompts with {{language}}; - for none
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    language_note: Option<String>,
    /// Whose verdict counts if several people judged a pair
    #[arg(long = "final", value_enum)]
    final_rule: Option<FinalRuleName>,
    /// Name of the adjudicator for --final adjudicator
    #[arg(long, value_name = "NAME", value_parser = annotator)]
    adjudicator: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            ConfigAction::Default => output::raw(DEFAULT)?,
            ConfigAction::Judges { rename: None } => {
                output::raw(&ensemble::documented_file(
                    &[embedding::defaults(), reranker::defaults()].concat(),
                ))?;
            }
            ConfigAction::Judges {
                rename: Some(names),
            } => rename(context, &names)?,
            ConfigAction::Show { json: true } => output::json(&json!({
                "file": context.config_file.as_ref().map(|path| path.display().to_string()),
                "project": context.project().display().to_string(),
                "annotator": context.annotator(),
                "config": context.config.without_arguments(),
            }))?,
            ConfigAction::Show { json: false } => {
                let file = match (&context.config_file, user_file()) {
                    (Some(path), _) => path.display().to_string(),
                    (None, Some(path)) => format!("none ({} does not exist)", path.display()),
                    (None, None) => "none".to_owned(),
                };
                let text = toml::to_string(&context.config.without_arguments())?;
                output::raw(&format!(
                    "# file: {file}\n# project: {}\n# annotator: {}\n{text}",
                    context.project().display(),
                    context.annotator()
                ))?;
            }
            ConfigAction::Project(project) => project.run(context)?,
        }
        Ok(())
    }
}

/// Moves the votes of a judge to another name.
fn rename(context: &CommandContext, names: &[String]) -> CommandResult {
    let [old, new] = names else {
        return Err(usage!("--rename takes the old name and the new one"));
    };
    let store = context.open()?;
    let _lock = RunLock::take(context.project())?;
    let done = rename_judge(&store, old, new)?;
    let (old, new) = (clean(old), clean(new));
    output::message(&format!(
        "moved {} from {old} to {new}",
        counted(done.votes, "vote")
    ));
    if done.kept > 0 {
        output::message(&format!(
            "{} stay under {old}, because {new} answered the same questions",
            counted(done.kept, "vote")
        ));
    }
    Ok(())
}

impl ProjectOptions {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let before = store.read_blocking(|db| ProjectSettings::read(db))?;
        let after = ProjectSettings {
            ranking: self.apply(before.ranking)?,
            rule: self.rule(&before.rule)?,
            guideline: match &self.guideline {
                Some(path) => guideline(path)?,
                None => before.guideline.clone(),
            },
            domain_note: note(self.domain_note.as_deref(), &before.domain_note),
            language_note: note(self.language_note.as_deref(), &before.language_note),
        };
        if self.judge_weights == Some(JudgeWeightsName::Joint) {
            let lambda = if after.ranking.learns_prior() {
                store.read_blocking(|db| db.settings_in_force())?.rating()
            } else {
                after.ranking.rating()
            }
            .lambda;
            for judge in fit_judges(&store, lambda)? {
                output::message(&format!(
                    "{}: beta {}, gamma {} from {} ({})",
                    judge.name,
                    fixed(judge.beta, 2),
                    fixed(judge.gamma, 2),
                    counted(judge.votes, "vote"),
                    basis(judge.basis)
                ));
            }
        }
        if self.vote_rule == Some(VoteRuleName::Calibrated) {
            for (name, calibrated) in calibrate_margins(&store)? {
                output::message(&curve_words(&name, calibrated.as_ref()));
            }
        }
        after.store(&store, &before, &context.annotator())?;
        self.added.apply(&store)?;
        if let (true, FinalRule::Adjudicator(name)) = (after.rule != before.rule, &after.rule) {
            let people = store.read_blocking(|db| db.annotators())?;
            if !people.contains(name) {
                output::message(&format!(
                    "note: nobody called {} has judged in this project yet; until then the \
                     majority's verdict counts{}",
                    sanitize::line(name),
                    if people.is_empty() {
                        String::new()
                    } else {
                        format!(" (known: {})", sanitize::line(&people.join(", ")))
                    }
                ));
            }
        }
        let (in_force, student) = store.read_blocking(|db| {
            Ok::<_, StoreError>((db.settings_in_force()?, opinion_with_effect(db)?))
        })?;
        // A weight that cannot count is always reported, and any weight is reported when it is set.
        if let Some((named, effect)) = &student
            && (self.added.is_set() || (named.in_force() > 0.0 && effect.counted == 0))
        {
            let words = named.words(effect);
            output::message(&format!("student {}: {words}", clean(&named.name)));
        }
        if let Some(note) = override_mode_note(&in_force) {
            output::message(&format!("note: verdicts: {note}"));
        }
        let shown = SettingsWithGuideline {
            shown: RatingSettings::new(in_force, &after.rule),
            guideline: after.guideline.as_deref().map(GuidelineExcerpt::of),
            domain_note: after.domain_note.as_deref().map(clean),
            language_note: after.language_note.as_deref().map(clean),
            student: student.map(StudentInForce::from),
        };
        if self.json {
            output::json(&shown)
        } else {
            output::raw(&toml::to_string(&shown)?)
        }
    }

    fn rule(&self, now: &FinalRule) -> Result<FinalRule, CommandFailure> {
        match (self.final_rule, self.adjudicator.clone(), now) {
            (None, None, _) => Ok(now.clone()),
            (Some(FinalRuleName::Adjudicator) | None, Some(name), _) => {
                Ok(FinalRule::Adjudicator(name))
            }
            (Some(FinalRuleName::Adjudicator), None, FinalRule::Adjudicator(_)) => Ok(now.clone()),
            (Some(FinalRuleName::Adjudicator), None, _) => Err(usage!(
                "--final adjudicator: name the adjudicator with --adjudicator NAME"
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
        settings.tastes = self.tastes.unwrap_or(settings.tastes);
        settings.top = self.top.unwrap_or(settings.top);
        settings.override_weight = self.override_weight.unwrap_or(settings.override_weight);
        if let Some(phi) = self.phi {
            settings.phi = (phi != 0.0).then_some(phi);
        }
        match self.vote_rule {
            Some(VoteRuleName::Ternary) => settings.vote_rule = VoteRule::Ternary,
            Some(VoteRuleName::Zbench) => settings.vote_rule = VoteRule::Zbench,
            Some(VoteRuleName::Margin) => settings.vote_rule = VoteRule::Margin,
            Some(VoteRuleName::Calibrated) => settings.vote_rule = VoteRule::Calibrated,
            None => {}
        }
        if let Some(mode) = self.override_mode {
            settings.override_mode = mode.into();
        }
        match self.judge_weights {
            Some(JudgeWeightsName::Equal) => settings.judge_weights = JudgeWeights::Equal,
            Some(JudgeWeightsName::Joint) => settings.judge_weights = JudgeWeights::Joint,
            None => {}
        }
        settings.checked().map_err(|error| {
            usage!(
                "--{}",
                error.to_string().replacen("override_", "override-", 1)
            )
        })
    }
}

/// Describes a judge's margin curve.
fn curve_words(name: &str, calibrated: Option<&CalibratedMargins>) -> String {
    let name = sanitize::line(name);
    let Some(CalibratedMargins { reference, curve }) = calibrated else {
        return format!(
            "{name}: too few comparisons for its margins, so its votes count by their direction"
        );
    };
    let others = match reference {
        MarginReference::People => "people",
        MarginReference::Judges => "other votes",
    };
    let shares = [0.1, 0.25, 0.5, 0.75, 1.0];
    let shares = shares.map(|size| format!("{size} is {:.2}", curve.share(size)));
    format!(
        "{name}: a margin of {} ({} comparisons with {others})",
        shares.join(", of "),
        curve.comparisons
    )
}

/// A note as set by an option, where `-` and blank texts stand for none.
fn note(set: Option<&str>, before: &Option<String>) -> Option<String> {
    match set.map(str::trim) {
        None => before.clone(),
        Some("" | "-") => None,
        Some(text) => Some(text.to_owned()),
    }
}

/// Reads the guideline from a file; `None` for `-`.
fn guideline(path: &Path) -> Result<Option<String>, CommandFailure> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let text = file::read_to_string(path)
        .map_err(|error| usage!("--guideline {}: {error}", path.display()))?;
    Ok(Some(text))
}
