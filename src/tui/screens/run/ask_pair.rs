//! Asking the judges about one pair: first the price, then a run for this pair only.

use super::begin::{begin, money_words};
use crate::app::annotate::pair_question::{PairQuestion, PricedQuestion};
use crate::app::error::AppError;
use crate::app::text_format::first_names;
use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::tui::message::Effect;
use crate::tui::model::run::RunScope;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};
use crate::tui::widgets::toast::Level;

type Priced = Result<Box<PricedQuestion>, AppError>;

/// The pair on screen and its query.
fn subject(model: &Model) -> Option<(QueryKey, Pair)> {
    let (a, b) = model.pair_on_screen()?;
    Some((model.open.as_ref()?.info.key, Pair::new(a, b)?))
}

/// Whether there is a pair to ask about, and no run in progress.
pub(crate) fn is_offered(model: &Model) -> bool {
    !model.run.running && subject(model).is_some()
}

/// Computes the price of the question; it is asked once the price is known.
pub(crate) fn ask(model: &mut Model) -> Vec<Effect> {
    let Some((query, pair)) = subject(model) else {
        model.inform("choose two documents first: a cell off the diagonal");
        return Vec::new();
    };
    if model.run.running {
        model.inform("a run is in progress; ask about this pair when it has ended");
        return Vec::new();
    }
    if let Some(why) = model.options.no_run.clone() {
        model.say(Level::Error, &why);
        return Vec::new();
    }
    vec![model.price_question(query, pair)]
}

/// Shows the price of a question next to the pair.
pub(crate) fn show_price(model: &mut Model, query: QueryKey, pair: Pair, priced: &Priced) {
    if model.screen() == Screen::COMPARISON && subject(model) == Some((query, pair)) {
        model.comparison_mut().price = Some(match priced {
            Ok(price) => Ok(price.clone()),
            Err(error) => Err(error.to_string()),
        });
    }
}

/// The price of a question to be asked has arrived: asks for confirmation if it costs money.
pub(crate) fn priced(
    model: &mut Model,
    query: QueryKey,
    pair: Pair,
    priced: Priced,
) -> Vec<Effect> {
    show_price(model, query, pair, &priced);
    if subject(model) != Some((query, pair)) || model.run.running {
        return Vec::new();
    }
    if !model.overlays.is_empty() {
        // Keys being typed must not answer the confirmation.
        model.inform("the price is known now: press the key again to see it");
        return Vec::new();
    }
    let PricedQuestion { question, estimate } = match priced {
        Ok(priced) => *priced,
        Err(error) => {
            model.inform(&error.to_string());
            return Vec::new();
        }
    };
    let free = !model.options.paid || estimate.worst_usd() == Some(0.0);
    let words = format!(
        "{}{}: {}, {} Ask?",
        question_words(model, &question),
        absent_words(&question),
        counted(estimate.calls(), "call"),
        money_words(model, &estimate),
    );
    model.run.scope = RunScope::Pair(question);
    if free {
        begin(model)
    } else {
        model.confirm("Ask about this pair", &words, ConfirmFor::Start);
        Vec::new()
    }
}

/// `gpt, claude are asked about 4688340 × 8883846`.
fn question_words(model: &Model, question: &PairQuestion) -> String {
    let names = first_names(&question.judges);
    let verb = if question.judges.len() == 1 {
        "is"
    } else {
        "are"
    };
    let pair = question.battle.pair;
    let documents = model.open.as_ref().map_or(String::new(), |open| {
        let order = if question.battle.game == 0 {
            ""
        } else {
            ", in the other order"
        };
        format!(
            " about {} × {}{order}",
            open.name(pair.low()),
            open.name(pair.high())
        )
    });
    format!("{names} {verb} asked{documents}")
}

fn absent_words(question: &PairQuestion) -> String {
    if question.absent.is_empty() {
        String::new()
    } else {
        format!(
            " (not asked, because dropped or not configured: {})",
            first_names(&question.absent)
        )
    }
}

/// The price of the question on one line, for the screen about the pair.
pub(crate) fn price_words(priced: &PricedQuestion) -> String {
    let PricedQuestion { question, estimate } = priced;
    let cost = match estimate.cost_usd() {
        Some(0.0) => "at no cost".to_owned(),
        Some(usd) => format!("about {}", text::usd(usd)),
        None => "price unknown".to_owned(),
    };
    let order = if question.battle.game == 0 {
        ""
    } else {
        " in the other order"
    };
    format!(
        "asks {} about this pair now{order} ({}, {cost})",
        first_names(&question.judges),
        counted(estimate.calls(), "call")
    )
}

/// The message at the end of such a run if all went well; `None` for other runs.
pub(super) fn ended(model: &mut Model) -> Option<&'static str> {
    if !matches!(model.run.scope, RunScope::Pair(_)) {
        return None;
    }
    model.run.control.dropped = std::mem::take(&mut model.run.dropped_before);
    Some("the judges have answered")
}

/// The price changes when a run has ended.
pub(crate) fn price_again(model: &mut Model) -> Vec<Effect> {
    match (model.screen(), subject(model)) {
        (Screen::COMPARISON, Some((query, pair))) if !model.run.running => {
            vec![model.price_pair(query, pair)]
        }
        _ => Vec::new(),
    }
}

/// Whether the person is being asked whether to begin.
pub(super) fn is_asked(model: &Model) -> bool {
    let asked = |overlay: &Overlay| matches!(overlay, Overlay::Confirm(_, ConfirmFor::Start));
    model.overlays.iter().any(asked)
}
