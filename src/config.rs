//! Configuration: the command line takes precedence over the environment, then the file, then the
//! defaults.

pub mod keymap;

use crate::domain::annotator_name::annotator_name;
use crate::domain::permission::{PermissionRequest, Permissions};
use crate::domain::priority::Policy;
use crate::domain::ranking::{InvalidRankingSetting, RankingSettings};
use crate::domain::sampling::adaptive::{self, AdaptivePlan, InvalidStrategy, Sampler, Strategy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub const DEFAULT: &str = include_str!("../assets/config.toml");

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The name of the annotator; empty means the system's user.
    pub annotator: String,
    pub screen: ScreenConfig,
    pub run: RunConfig,
    pub judging: JudgingConfig,
    pub keys: KeysConfig,
    /// The user's answers to permission requests of projects' `overrule.toml` files.
    pub permissions: Permissions,
    /// Custom key bindings of the workbench.
    pub keymap: keymap::KeymapConfig,
    /// The text that this was parsed from, for line numbers in errors.
    #[serde(skip)]
    pub text: String,
    /// The rating settings of a new project.
    pub rating: RankingSettings,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeysConfig {
    /// Additional servers, besides a vendor's own, to which any key may be sent.
    pub trusted_hosts: Vec<String>,
    /// Commands that print the values of variables, for keys that expire.
    pub key_command: BTreeMap<String, Vec<String>>,
}

impl KeysConfig {
    fn checked(&self) -> Result<(), InvalidConfig> {
        // A port or a path would suggest a restriction that is not checked.
        let is_host = |host: &str| {
            let url = reqwest::Url::parse(&format!("https://{host}/"));
            !host.contains('*')
                && url.is_ok_and(|url| {
                    url.host_str()
                        .is_some_and(|parsed| parsed.eq_ignore_ascii_case(host))
                })
        };
        let is_empty = |command: &Vec<String>| command.first().is_none_or(String::is_empty);
        let mut commands = self.key_command.iter();
        if let Some((variable, _)) = commands.find(|(_, command)| is_empty(command)) {
            return Err(InvalidConfig::KeyCommand(variable.clone()));
        }
        match self.trusted_hosts.iter().find(|host| !is_host(host)) {
            None => Ok(()),
            Some(host) => Err(InvalidConfig::TrustedHost(host.clone())),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingConfig {
    /// The order of the queue.
    pub policy: Policy,
    /// Whether judges are hidden until the person has decided, in the queue.
    pub queue_blind: bool,
    /// The same for a battle opened from the matrix or a document.
    pub battle_blind: bool,
    /// Share of gold items in the queue, as long as some are left that the person has not judged;
    /// 0..=1.
    pub gold: f64,
    /// Share of the pairs judged by others that the person should judge too; 0..=1.
    pub overlap: f64,
    /// Seconds without a key press after which the person counts as idle.
    pub idle_s: u64,
}

impl Default for JudgingConfig {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            queue_blind: true,
            battle_blind: false,
            gold: 0.1,
            overlap: 0.0,
            idle_s: 60,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenConfig {
    /// `auto`, `dark` or `light`.
    pub theme: String,
    /// `auto`, `true`, `256`, `16` or `none`.
    #[serde(alias = "colour")]
    pub color: String,
    /// `red-green`, `blue-orange` or `gray`.
    pub ramp: String,
    /// Whether the mouse is captured.
    pub mouse: bool,
    /// Metadata fields of documents that are shown next to texts and in lists.
    pub metadata: Vec<String>,
}

impl Default for ScreenConfig {
    fn default() -> Self {
        Self {
            theme: "auto".to_owned(),
            color: "auto".to_owned(),
            ramp: "red-green".to_owned(),
            mouse: false,
            metadata: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Number of random cycles per query.
    pub cycles: usize,
    /// Random seed for pairs and presentations.
    pub seed: u64,
    /// How pairs are chosen.
    pub sampler: Sampler,
    pub judging: adaptive::JudgeChoice,
    /// For `Top`: the weight of a pair that cannot reach the top, 0..=1.
    pub focus: f64,
    /// Pairs per round, at least 1; `None` uses the sampler's default.
    pub round: Option<usize>,
    /// Maximum number of pairs that language models are asked about in both orders; 0 for none.
    pub probe: usize,
    /// Maximum total spending of a project in dollars, at least 0; `None` for no limit.
    pub budget: Option<f64>,
    pub concurrency: usize,
    /// Calls per second in the demo; 0 for no limit.
    pub demo_pace: f64,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            cycles: crate::domain::sampling::DEFAULT_CYCLES,
            seed: 0,
            sampler: Sampler::default(),
            judging: adaptive::JudgeChoice::default(),
            focus: Strategy::default().floor,
            round: None,
            probe: crate::domain::sampling::PROBED_PAIRS,
            budget: None,
            concurrency: 256,
            demo_pace: 400.0,
        }
    }
}

impl RunConfig {
    /// The strategy for this sampler and choice of judges, with the options set here: `focus` only
    /// applies to `Top`.
    pub fn strategy(&self, sampler: Sampler, judging: adaptive::JudgeChoice) -> Strategy {
        let usual = Strategy::new(sampler, judging);
        Strategy {
            floor: if sampler == Sampler::Top {
                self.focus
            } else {
                usual.floor
            },
            size: self.round,
            ..usual
        }
    }

    /// The default rounds of a run; `None` for the plain plan.
    pub fn campaign(&self) -> Option<AdaptivePlan> {
        (Strategy::new(self.sampler, self.judging) != Strategy::default()).then(|| AdaptivePlan {
            strategy: self.strategy(self.sampler, self.judging),
            battles: self.cycles as f64,
            student: false,
        })
    }

    fn checked(&self) -> Result<(), InvalidConfig> {
        if self.cycles == 0 {
            return Err(InvalidConfig::Cycles);
        }
        if !(0.0..=1.0).contains(&self.focus) {
            return Err(InvalidConfig::Focus(self.focus));
        }
        if self.round == Some(0) {
            return Err(InvalidConfig::Round);
        }
        if let Some(budget) = self.budget.filter(|usd| !usd.is_finite() || *usd < 0.0) {
            return Err(InvalidConfig::Budget(budget));
        }
        self.strategy(self.sampler, self.judging).checked()?;
        Ok(())
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: std::io::Error },
    /// The file cannot be written.
    #[error("{}: {why}", path.display())]
    Write { path: PathBuf, why: std::io::Error },
    /// The file is not a valid configuration.
    #[error("{}: {why}", path.display())]
    Invalid { path: PathBuf, why: InvalidConfig },
}

/// What is wrong with the content of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfig {
    #[error("{}", .0.to_string().trim_end())]
    Toml(#[from] toml::de::Error),
    #[error("[judging] {name} = {share}: must be between 0 and 1")]
    Share { name: &'static str, share: f64 },
    #[error(
        "[keys] trusted_hosts: {0:?} is not a server name; write it as gateway.example.com, \
         without https:// and port"
    )]
    TrustedHost(String),
    #[error("[keys] key_command: {0} has no command; write it as [\"program\", \"argument\"]")]
    KeyCommand(String),
    #[error("[rating] {0}")]
    Rating(#[from] InvalidRankingSetting),
    #[error("[run] cycles = 0: must be at least 1")]
    Cycles,
    #[error("[run] focus = {0}: must be between 0 and 1")]
    Focus(f64),
    #[error("[run] round = 0: must be at least 1")]
    Round,
    #[error("[run] budget = {0}: must be 0 or more")]
    Budget(f64),
    #[error("[run] {0}")]
    Strategy(#[from] InvalidStrategy),
    /// A key table, which the workbench checks.
    #[error("{0}")]
    Keymap(String),
}

impl Config {
    /// The configuration to show: the arguments of key commands are replaced, because they may
    /// contain a key.
    pub fn without_arguments(&self) -> Self {
        let mut shown = self.clone();
        for command in shown.keys.key_command.values_mut() {
            if command.len() > 1 {
                command.truncate(1);
                command.push("(arguments not shown)".to_owned());
            }
        }
        shown
    }

    /// Reads `explicit`, or else the user's file if it exists, or else the defaults. Also returns
    /// which file was read.
    pub fn load(explicit: Option<&Path>) -> Result<(Self, Option<PathBuf>), ConfigError> {
        let path = match explicit {
            Some(path) => path.to_owned(),
            None => match user_file() {
                Some(path) if path.exists() => path,
                _ => return Ok((Self::default(), None)),
            },
        };
        let text =
            crate::formats::file::read_to_string(&path).map_err(|why| ConfigError::Read {
                path: path.clone(),
                why,
            })?;
        match Self::parse(&text) {
            Ok(config) => Ok((Self { text, ..config }, Some(path))),
            Err(why) => Err(ConfigError::Invalid { path, why }),
        }
    }

    fn parse(text: &str) -> Result<Self, InvalidConfig> {
        toml::from_str::<Self>(text)?.checked()
    }

    fn checked(self) -> Result<Self, InvalidConfig> {
        for (name, share) in [
            ("gold", self.judging.gold),
            ("overlap", self.judging.overlap),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(InvalidConfig::Share { name, share });
            }
        }
        self.keys.checked()?;
        self.rating.checked()?;
        self.run.checked()?;
        Ok(self)
    }

    /// The name of the annotator: the environment takes precedence over this file, then the
    /// system's user.
    pub fn annotator(&self) -> String {
        let user = || {
            ["USER", "LOGNAME", "USERNAME"]
                .into_iter()
                .filter_map(|name| std::env::var(name).ok())
                .find_map(|name| annotator_name(&name))
        };
        self.set_annotator()
            .or_else(user)
            .unwrap_or_else(|| "analyst".to_owned())
    }

    /// The name of the annotator, if the environment or this file sets it.
    pub fn set_annotator(&self) -> Option<String> {
        let variable = std::env::var("OVERRULE_ANNOTATOR").ok();
        variable
            .as_deref()
            .into_iter()
            .chain([self.annotator.as_str()])
            .find_map(annotator_name)
    }
}

/// Appends the answer to a permission request to the configuration file `path`, which is created if
/// it does not exist.
///
/// # Errors
/// If the file cannot be written, or would no longer be a valid configuration.
pub fn remember(path: &Path, request: PermissionRequest, allow: bool) -> Result<(), ConfigError> {
    #[derive(Serialize)]
    struct Section {
        permissions: Permissions,
    }
    let unwritable = |why| ConfigError::Write {
        path: path.to_owned(),
        why,
    };
    let now = match crate::formats::file::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritable(error)),
    };
    let mut permissions = Permissions::default();
    permissions.add(request, allow);
    let section = toml::to_string(&Section { permissions })
        .map_err(|error| unwritable(std::io::Error::other(error)))?;
    let gap = if now.is_empty() || now.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let added = format!("{gap}{section}");
    // The file may contain the answers in a form that cannot be extended by appending.
    toml::from_str::<Config>(&format!("{now}{added}")).map_err(|why| ConfigError::Invalid {
        path: path.to_owned(),
        why: why.into(),
    })?;
    let written = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        crate::formats::file::append(path)?.write_all(added.as_bytes())
    };
    written().map_err(unwritable)
}

/// The path of the user's own configuration.
pub fn user_file() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "overrule")
        .map(|folders| folders.config_dir().join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::permission::ProgramUse;

    #[test]
    fn the_commented_defaults_are_the_defaults() {
        let config: Config = toml::from_str(DEFAULT).unwrap();
        assert_eq!(config, Config::default());
    }

    #[test]
    fn earlier_spellings_are_read() {
        let screen = |text: &str| toml::from_str::<Config>(text).unwrap().screen;
        let old = screen("[screen]\ncolour = \"256\"\nramp = \"grey\"\n");
        assert_eq!(old.color, "256");
        assert_eq!(old.ramp, "grey");
    }

    /// The error of parsing this text as a configuration.
    fn error(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(Some(&path)).unwrap_err().to_string()
    }

    #[test]
    fn what_no_run_can_do_is_named() {
        for (line, field, why) in [
            ("sampler = \"best\"", "line 2", "`cycles`, `swiss`, `eig`"),
            ("judging = \"escalate\"", "[run] judging", "use eig or top"),
            ("focus = 1.5", "[run] focus = 1.5", "between 0 and 1"),
            ("round = 0", "[run] round = 0", "at least 1"),
            ("round = -3", "line 2", "-3"),
            ("budget = -1.0", "[run] budget = -1", "0 or more"),
            ("budget = nan", "[run] budget", "0 or more"),
        ] {
            let error = error(&format!("[run]\n{line}\n"));
            for part in ["config.toml", field, why] {
                assert!(error.contains(part), "{part:?} in {error:?}");
            }
        }
    }

    #[test]
    fn only_names_of_servers_are_trusted() {
        for good in ["gateway.example.com", "10.0.0.7", "[fd00::7]", "gpu"] {
            let text = format!("[keys]\ntrusted_hosts = [{good:?}]\n");
            assert!(
                toml::from_str::<Config>(&text).unwrap().checked().is_ok(),
                "{good}"
            );
        }
        for bad in [
            "https://gateway.example.com",
            "gateway.example.com:443",
            "",
            "a/b",
            "*",
        ] {
            let error = error(&format!("[keys]\ntrusted_hosts = [{bad:?}]\n"));
            assert!(error.contains("[keys] trusted_hosts"), "{error}");
        }
    }

    #[test]
    fn a_key_command_names_a_program() {
        for command in ["[]", "[\"\"]"] {
            let error = error(&format!("[keys.key_command]\nA_TOKEN = {command}\n"));
            assert!(
                error.contains("[keys] key_command: A_TOKEN has no command"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_answer_is_added_to_the_file_and_leaves_the_rest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule/config.toml");
        let request = PermissionRequest::Program(ProgramUse {
            folder: "/a b".into(),
            command: vec!["sh".to_owned(), "\"x\"\n".to_owned()],
        });
        let answer = || {
            let (config, _) = Config::load(Some(&path)).unwrap();
            config.permissions.answer(&request)
        };
        remember(&path, request.clone(), false).unwrap();
        assert_eq!(answer(), Some(false));
        let mine = "# mine\n[run]\ncycles = 3 # three";
        std::fs::write(&path, mine).unwrap();
        remember(&path, request.clone(), true).unwrap();
        remember(&path, request.clone(), true).unwrap();
        assert_eq!(answer(), Some(true));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(mine));
        let inline = "permissions = { programs = [] }\n";
        std::fs::write(&path, inline).unwrap();
        assert!(remember(&path, request.clone(), true).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), inline);
    }

    #[test]
    fn rounds_are_played_where_the_configuration_says_so() {
        let read = |text: &str| toml::from_str::<Config>(text).unwrap().run.campaign();
        assert_eq!(read("[run]\nround = 9\nfocus = 0.5"), None);
        let text =
            "[run]\ncycles = 2\nsampler = \"top\"\njudging = \"escalate\"\nround = 9\nfocus = 0.5";
        let campaign = read(text).unwrap();
        assert_eq!(campaign.to_string(), "top+escalate:2");
        assert_eq!(
            (campaign.strategy.floor, campaign.strategy.size),
            (0.5, Some(9))
        );
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let error = error("[run]\ncycels = 3\n");
        assert!(
            error.contains("cycels") && error.contains("line 2"),
            "{error}"
        );
    }
}
