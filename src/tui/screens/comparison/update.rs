//! Opens the comparison of two documents and moves through its evidence.

use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Copied;
use crate::tui::screens::comparison::state::ComparisonState;
use crate::tui::screens::run::ask_pair;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    let Some((a, b)) = model.pair_on_screen().filter(|(a, b)| a != b) else {
        model.inform("choose two documents first: a cell off the diagonal");
        return Vec::new();
    };
    if let Some(open) = &model.open {
        *model.comparison_mut() = ComparisonState::of(open, a, b);
        model.stack.push(Screen::COMPARISON);
    }
    ask_pair::price_again(model)
}

/// The votes may have changed.
pub(super) fn renew(model: &mut Model) -> Vec<Effect> {
    if let Some(open) = &model.open {
        let (a, b) = (model.comparison().a, model.comparison().b);
        let evidence = open.view.order_evidence(a, b);
        model.comparison_mut().renew(evidence);
    }
    Vec::new()
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let count = model.comparison().entries().len();
    match command {
        Command::Open => {
            return match model.comparison().chosen() {
                Some((a, b)) => model.open_battle(a, b),
                None => Vec::new(),
            };
        }
        Command::Left => model.comparison_mut().right = false,
        Command::Right => model.comparison_mut().right = true,
        _ => {
            let from = model.comparison().cursor.min(count.saturating_sub(1));
            model.comparison_mut().cursor = moved(from, command, count, model.areas.page);
        }
    }
    Vec::new()
}

pub(super) fn copy(model: &Model) -> Copied {
    let pair = [model.comparison().a, model.comparison().b];
    let open = model.open.as_ref();
    open.map_or(Copied::Nothing, |open| Copied::Text {
        text: open.identifiers(&pair),
        what: "the identifiers of the query and both documents".to_owned(),
    })
}
