//! The settings: those of the screen, which are previewed while they are chosen, and those of the
//! project.

use crate::app::settings::ProjectSettings;
use crate::domain::ranking::{DocumentOrder, OPINION_WEIGHTS, OpinionWeight};
use crate::domain::sanitise;
use crate::domain::verdict::{FinalRule, OverrideMode};
use crate::features::student::app::naming::StudentChoice;
use crate::tui::message::Effect;
use crate::tui::model::remembered::Remembered;
use crate::tui::model::{Model, Overlay};
use crate::tui::theme::{Ramp, ThemeChoice};
use crate::tui::widgets::settings_dialog::{Setting, SettingKind, SettingsDialog};
use crate::tui::widgets::toast::Level;

const ORDERS: [DocumentOrder; 2] = [DocumentOrder::Hybrid, DocumentOrder::Zelo];
/// Options for the number of ranks in the top; a different current value is added to them.
const TOPS: [usize; 6] = [1, 3, 5, 10, 20, 50];

/// The initial weight of a newly chosen student: zero, so that choosing one changes no score.
const NO_WEIGHT: OpinionWeight = OpinionWeight::Set(0.0);
const NO_STUDENT: &str = "none";

fn place<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).unwrap_or(0)
}

/// The numbers of ranks to choose from.
fn tops(now: usize) -> Vec<usize> {
    let mut tops = TOPS.to_vec();
    tops.push(now);
    tops.sort_unstable();
    tops.dedup();
    tops
}

/// The override modes to choose from; a legacy mode is included only if the project uses it.
fn modes(now: OverrideMode) -> Vec<OverrideMode> {
    let mut modes = vec![OverrideMode::Alongside, OverrideMode::Replace];
    if now.is_legacy() {
        modes.push(now);
    }
    modes
}

fn mode_name(mode: OverrideMode) -> String {
    match mode {
        OverrideMode::Alongside => "verdict alongside votes",
        OverrideMode::Replace => "verdict replaces votes",
        OverrideMode::Legacy | OverrideMode::LegacyBeside => "as in versions to 0.1",
    }
    .to_owned()
}

/// The rules for whose verdict counts; the adjudicator is the current one, or the person who asks.
fn rules(model: &Model, now: &FinalRule) -> [FinalRule; 3] {
    let adjudicator = match now {
        FinalRule::Adjudicator(name) => name.clone(),
        _ => model.options.annotator.clone(),
    };
    [
        FinalRule::Latest,
        FinalRule::Majority,
        FinalRule::Adjudicator(adjudicator),
    ]
}

fn rule_name(rule: &FinalRule) -> String {
    match rule {
        FinalRule::Adjudicator(name) => format!("adjudicator {}", sanitise::line(name)),
        rule => rule.name().to_owned(),
    }
}

/// Opens the dialog with the current settings, unless something was opened since the request.
pub(crate) fn open(model: &mut Model, project: ProjectSettings, student: StudentChoice) {
    if !model.overlays.is_empty() {
        return;
    }
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let judging = &model.options.judging;
    let rules = rules(model, &project.rule);
    let tops = tops(project.ranking.top);
    let modes = modes(project.ranking.override_mode);
    let mut rows = vec![
        Setting {
            kind: SettingKind::Ramp,
            name: "colors of cells",
            doc: "The ramp of the matrix, from “row worse” to “row better”. Blue and orange suit \
                  color-blind readers.",
            values: Ramp::ALL.iter().map(ToString::to_string).collect(),
            chosen: place(&Ramp::ALL, &model.ramp),
        },
        Setting {
            kind: SettingKind::Theme,
            name: "background",
            doc: "Which background the colors are made for; choose the one that your terminal has.",
            values: owned(&ThemeChoice::ALL.map(ThemeChoice::name)),
            chosen: place(&ThemeChoice::ALL, &model.theme),
        },
        Setting {
            kind: SettingKind::Order,
            name: "order of the matrix",
            doc: "Hybrid order is the first-stage order in which the documents came; zELO is best \
                  first.",
            values: owned(&["hybrid order", "zELO"]),
            chosen: place(&ORDERS, &model.matrix.order),
        },
        Setting {
            kind: SettingKind::QueueBlind,
            name: "queue",
            doc: "Whether the judges are hidden until you have decided, in the queue and in rulings.",
            values: owned(&["judges hidden", "judges shown"]),
            chosen: usize::from(!judging.queue_blind),
        },
        Setting {
            kind: SettingKind::BattleBlind,
            name: "other battles",
            doc: "The same for a battle opened from the matrix or a document.",
            values: owned(&["judges hidden", "judges shown"]),
            chosen: usize::from(!judging.battle_blind),
        },
        Setting {
            kind: SettingKind::FinalRule,
            name: "verdict that counts",
            doc: "Of the project, for everybody: whose verdict counts if several people judged a \
                  pair. Changes scores.",
            values: rules.iter().map(rule_name).collect(),
            chosen: place(&rules, &project.rule),
        },
        Setting {
            kind: SettingKind::OverrideMode,
            name: "verdict and votes",
            doc: "Of the project, for everybody: a verdict is added to the judges' votes on its \
                  pair, or replaces votes that it contradicts. Changes scores.",
            values: modes.iter().map(|mode| mode_name(*mode)).collect(),
            chosen: place(&modes, &project.ranking.override_mode),
        },
        Setting {
            kind: SettingKind::Top,
            name: "top k",
            doc: "Of the project, for everybody: how many ranks count as the top; at most half of \
                  a small pool. Changes no score.",
            values: tops.iter().map(|top| format!("top {top}")).collect(),
            chosen: place(&tops, &project.ranking.top),
        },
    ];
    rows.extend(student_rows(&student));
    let dialog = SettingsDialog::new(rows, project, student, (model.ramp, model.theme));
    model.overlays.push(Overlay::Settings(dialog));
}

/// Which student counts, and its weight if there is one.
fn student_rows(student: &StudentChoice) -> Vec<Setting> {
    let names = student.names.iter();
    let names = names.map(|name| sanitise::line(name).into_owned());
    let values: Vec<String> = [NO_STUDENT.to_owned()].into_iter().chain(names).collect();
    let named = student.named.as_ref().map(|(name, _)| name);
    let at = named.and_then(|named| student.names.iter().position(|name| name == named));
    let mut rows = vec![Setting {
        kind: SettingKind::Student,
        name: "student",
        doc: if student.names.is_empty() {
            "The project holds no student yet: overrule student train --name NAME fits one to its \
             votes."
        } else {
            "Of the project, for everybody: whose predictions count along with the votes, \
             according to its weight."
        },
        values,
        chosen: at.map_or(0, |at| at + 1),
    }];
    if !student.names.is_empty() {
        let weights = weights(student);
        let now = student
            .named
            .as_ref()
            .map_or(NO_WEIGHT, |(_, weight)| *weight);
        rows.push(Setting {
            kind: SettingKind::StudentWeight,
            name: "student's weight",
            doc: "How much its predictions count, in battles per document; auto estimates it from \
                  the votes. Changes scores.",
            values: weights.iter().map(weight_name).collect(),
            chosen: place(&weights, &now),
        });
    }
    rows
}

/// The weights to choose from; a different current value is added to them.
fn weights(student: &StudentChoice) -> Vec<OpinionWeight> {
    let mut weights: Vec<OpinionWeight> = [OpinionWeight::Auto]
        .into_iter()
        .chain(OPINION_WEIGHTS.map(OpinionWeight::Set))
        .collect();
    if let Some((_, now)) = student.named
        && !weights.contains(&now)
    {
        weights.push(now);
    }
    weights
}

fn weight_name(weight: &OpinionWeight) -> String {
    match weight {
        OpinionWeight::Auto => "auto".to_owned(),
        OpinionWeight::Set(0.0) => "0: shown, not counted".to_owned(),
        OpinionWeight::Set(battles) => format!("{battles} battles per document"),
    }
}

/// The chosen student, if the student or its weight differs from before.
fn chosen_student(dialog: &SettingsDialog) -> Option<Option<(String, OpinionWeight)>> {
    let known = &dialog.student;
    let at = dialog.chosen(SettingKind::Student)?;
    let name = at.checked_sub(1).and_then(|at| known.names.get(at));
    let weight = dialog.chosen(SettingKind::StudentWeight);
    let weight = weight.and_then(|at| weights(known).get(at).copied());
    let chosen = name.map(|name| (name.clone(), weight.unwrap_or(NO_WEIGHT)));
    (chosen != known.named).then_some(chosen)
}

/// Whether a weight was chosen without a student.
fn is_weight_of_nobody(dialog: &SettingsDialog) -> bool {
    let known = &dialog.student;
    let now = known
        .named
        .as_ref()
        .map_or(NO_WEIGHT, |(_, weight)| *weight);
    let weight = dialog.chosen(SettingKind::StudentWeight);
    let weight = weight.and_then(|at| weights(known).get(at).copied());
    dialog.chosen(SettingKind::Student) == Some(0) && weight.is_some_and(|weight| weight != now)
}

/// Applies the colors while they are being chosen.
pub(super) fn preview(model: &mut Model) {
    let Some(Overlay::Settings(dialog)) = model.overlays.last() else {
        return;
    };
    let ramp = dialog.chosen(SettingKind::Ramp).map(|at| Ramp::ALL[at]);
    let theme = dialog.chosen(SettingKind::Theme);
    model.ramp = ramp.unwrap_or(model.ramp);
    model.theme = theme.map_or(model.theme, |at| ThemeChoice::ALL[at]);
}

/// Restores the colors from before the dialog.
pub(super) fn give_up(model: &mut Model, dialog: &SettingsDialog) {
    (model.ramp, model.theme) = dialog.looks;
}

/// Applies the choices and stores the project's part.
pub(super) fn keep(model: &mut Model, dialog: &SettingsDialog) -> Vec<Effect> {
    let hidden = |kind| dialog.chosen(kind).map(|at| at == 0);
    if let Some(hidden) = hidden(SettingKind::QueueBlind) {
        model.options.judging.queue_blind = hidden;
    }
    if let Some(hidden) = hidden(SettingKind::BattleBlind) {
        model.options.judging.battle_blind = hidden;
    }
    if let Some(at) = dialog.chosen(SettingKind::Order) {
        model.matrix.order = ORDERS[at];
    }
    let before = (*dialog.project).clone();
    let mut after = before.clone();
    if let Some(at) = dialog.chosen(SettingKind::FinalRule) {
        let [latest, majority, adjudicator] = rules(model, &before.rule);
        after.rule = [latest, majority, adjudicator][at].clone();
    }
    if let Some(at) = dialog.chosen(SettingKind::OverrideMode) {
        after.ranking.override_mode = modes(before.ranking.override_mode)[at];
    }
    if let Some(at) = dialog.chosen(SettingKind::Top) {
        after.ranking.top = tops(before.ranking.top)[at];
    }
    if is_weight_of_nobody(dialog) {
        model.say(
            Level::Error,
            "a weight needs a student: choose one too; the other settings are stored in this \
             project",
        )
    } else {
        model.say(Level::Good, "the settings are stored in this project")
    }
    let mut effects = remember(model);
    if after != before {
        effects.push(model.store_settings(before, after));
    }
    if let Some(student) = chosen_student(dialog) {
        effects.push(model.name_student(student));
    }
    effects
}

/// Stores display preferences and positions if they have changed.
pub(crate) fn remember(model: &mut Model) -> Vec<Effect> {
    let now = Remembered::of(model);
    if now == model.remembered {
        return Vec::new();
    }
    model.remembered = now.clone();
    vec![model.remember(now)]
}
