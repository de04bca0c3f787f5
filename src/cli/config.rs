//! `overrule config`: what is configured, and the project's rating settings.

use super::{Context, Failure, Outcome, output};
use crate::config::{DEFAULT, user_file};
use crate::domain::ranking::Settings;
use crate::domain::rating::Model;
use crate::domain::verdict::OverrideMode;
use crate::domain::vote::VoteRule;
use crate::judge::ensemble;
use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
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
    /// The rating settings stored with the project; options change them
    #[command(after_help = "Example:\n  overrule config project --override-mode beside")]
    Project(Project),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    Ternary,
    Zbench,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Replace,
    Beside,
}

#[derive(Debug, Args)]
struct Project {
    /// map, mle, zbench or thurstone
    #[arg(long)]
    model: Option<Model>,
    /// Precision of the Gaussian prior, per battle
    #[arg(long, allow_hyphen_values = true)]
    lambda: Option<f64>,
    /// Dispersion; 0 means estimated from 2,000 battles on, and one over the number of judges before
    #[arg(long, allow_hyphen_values = true)]
    phi: Option<f64>,
    /// How margins become scores
    #[arg(long, value_enum)]
    vote_rule: Option<Rule>,
    /// Whether a verdict replaces the votes on its pair
    #[arg(long, value_enum)]
    override_mode: Option<Mode>,
    /// Weight of a verdict, in battles, at most 3
    #[arg(long, allow_hyphen_values = true)]
    override_weight: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigCommand {
    pub(super) fn run(self, context: &Context) -> Outcome {
        match self.action {
            Action::Default => output::text(DEFAULT)?,
            Action::Judges => output::text(ensemble::DEFAULT)?,
            Action::Show { json: true } => output::json(&json!({
                "file": context.config_file.as_ref().map(|path| path.display().to_string()),
                "project": context.project().display().to_string(),
                "annotator": context.config.annotator(),
                "config": context.config,
            }))?,
            Action::Show { json: false } => {
                let file = match (&context.config_file, user_file()) {
                    (Some(path), _) => path.display().to_string(),
                    (None, Some(path)) => format!("none ({} does not exist)", path.display()),
                    (None, None) => "none".to_owned(),
                };
                let text = toml::to_string(&context.config)?;
                output::text(&format!(
                    "# file: {file}\n# project: {}\n# verdicts are stored as given by: {}\n{text}",
                    context.project().display(),
                    context.config.annotator()
                ))?;
            }
            Action::Project(project) => project.run(context)?,
        }
        Ok(())
    }
}

impl Project {
    fn run(self, context: &Context) -> Outcome {
        let store = context.open()?;
        let before = store.read_blocking(|db| db.settings())?;
        let after = self.apply(before)?;
        if after != before {
            store.write_blocking(move |db| db.set_settings(&after))?;
        }
        if self.json {
            output::json(&after)?;
        } else {
            output::text(&toml::to_string(&after)?)?;
        }
        Ok(())
    }

    fn apply(&self, mut settings: Settings) -> Result<Settings, Failure> {
        settings.model = self.model.unwrap_or(settings.model);
        settings.lambda = self.lambda.unwrap_or(settings.lambda);
        settings.override_weight = self.override_weight.unwrap_or(settings.override_weight);
        if let Some(phi) = self.phi {
            settings.phi = (phi != 0.0).then_some(phi);
        }
        match self.vote_rule {
            Some(Rule::Ternary) => settings.vote_rule = VoteRule::Ternary,
            Some(Rule::Zbench) => settings.vote_rule = VoteRule::Zbench,
            None => {}
        }
        match self.override_mode {
            Some(Mode::Replace) => settings.override_mode = OverrideMode::Replace,
            Some(Mode::Beside) => settings.override_mode = OverrideMode::Beside,
            None => {}
        }
        settings.checked().map_err(|error| {
            Failure::usage(anyhow!("--{}", error.replacen("override_", "override-", 1)))
        })
    }
}
