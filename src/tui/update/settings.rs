//! The settings: those of the screen, which are previewed while they are chosen, and those of the
//! project.

use super::annotator;
use crate::app::settings::ProjectSettings;
use crate::domain::ranking::DocumentOrder;
use crate::domain::sanitize;
use crate::domain::verdict::{FinalRule, OverrideMode};
use crate::registry::SETTINGS;
use crate::tui::message::Effect;
use crate::tui::model::remembered::Remembered;
use crate::tui::model::{Model, Overlay};
use crate::tui::theme::{Ramp, ThemeChoice};
use crate::tui::widgets::settings_dialog::{Setting, SettingKind, SettingsDialog};
use crate::tui::widgets::toast::Level;

const ORDERS: [DocumentOrder; 2] = [DocumentOrder::Hybrid, DocumentOrder::Zelo];
/// Options for the number of ranks in the top; a different current value is added to them.
const TOPS: [usize; 6] = [1, 3, 5, 10, 20, 50];

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
        FinalRule::Adjudicator(name) => format!("adjudicator {}", sanitize::line(name)),
        rule => rule.name().to_owned(),
    }
}

/// Opens the dialog with the current settings, unless something was opened since the request.
pub(crate) fn open(model: &mut Model, project: ProjectSettings) {
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
            doc: "Of the project, for everybody: how many ranks count as the top; half of the \
                  documents in smaller pools. Changes no score.",
            values: tops.iter().map(|top| format!("top {top}")).collect(),
            chosen: place(&tops, &project.ranking.top),
        },
    ];
    rows.extend(SETTINGS.iter().flat_map(|added| added.rows(model)));
    rows.push(Setting {
        kind: SettingKind::Annotator,
        name: "annotator",
        doc: "The name stored with each of your decisions. Another one is asked for and confirmed.",
        values: vec![
            sanitize::line(&model.options.annotator).into_owned(),
            "another name …".to_owned(),
        ],
        chosen: 0,
    });
    let dialog = SettingsDialog::new(rows, project, (model.ramp, model.theme));
    model.overlays.push(Overlay::Settings(dialog));
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
    model.say(Level::Good, "the settings are stored in this project");
    let mut effects = remember(model);
    if after != before {
        effects.push(model.store_settings(before, after));
    }
    for added in SETTINGS {
        effects.extend(added.keep(model, dialog));
    }
    if dialog.chosen(SettingKind::Annotator) == Some(1) {
        annotator::ask_another(model);
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
