use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{PairDescription, PairQuestion};
use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::battle::Pair;
use crate::domain::priority::{DrawReason, InTop, Policy, ValueParts};
use crate::store::corpus::QueryKey;
use crate::tui::keymap::Command;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{flat, model};
use crate::tui::update::commands::on_command;
use crate::tui::update::update;

const QUERY: QueryKey = QueryKey(7);

fn item(low: usize) -> QueueItem {
    QueueItem {
        query: QUERY,
        pair: Pair::new(low, 5).unwrap(),
        draw: DrawReason::Priority,
        priority: Some(0.2),
        standing: QueueItemState::Fresh,
    }
}

/// A queue of four pairs under a policy, and the requests to the project when it arrived.
fn queue(policy: Policy) -> (Model, Vec<Effect>) {
    let mut model = model(Screen::Queue);
    model.queue.policy = policy;
    let items = (0..4).map(item).collect();
    let effects = super::update::queued(&mut model, 0, items, AnnotatorStatistics::default());
    (model, effects)
}

fn described(effects: &[Effect]) -> Vec<(Pair, PairQuestion)> {
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::DescribePair(_, pair, question) => Some((*pair, *question)),
        _ => None,
    });
    asked.collect()
}

#[test]
fn a_move_asks_for_what_the_policy_shows_and_for_nothing_else() {
    for policy in Policy::ALL {
        let (mut model, effects) = queue(policy);
        let asked = |pair| match policy {
            Policy::Value => vec![(pair, PairQuestion::Value)],
            _ => Vec::new(),
        };
        assert_eq!(described(&effects), asked(item(0).pair), "{policy}");
        let effects = on_command(&mut model, Command::Down);
        assert_eq!(described(&effects), asked(item(1).pair), "{policy}");
        model.queue.conflicts = true;
        let effects = on_command(&mut model, Command::Down);
        let said = vec![(item(2).pair, PairQuestion::Verdicts)];
        assert_eq!(described(&effects), said, "{policy}");
    }
}

#[test]
fn titles_that_could_not_be_read_are_asked_for_again() {
    let (mut model, effects) = queue(Policy::Impact);
    let [Effect::ReadPairTitles(wanted)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(on_command(&mut model, Command::Down), [], "on their way");
    let wanted = wanted.clone();
    let now = model.now;
    let failed = Msg::NoPairTitles(wanted.clone(), "disk I/O error".to_owned());
    update(&mut model, failed, now);
    let told = model.toast.as_ref().unwrap();
    assert!(format!("{told:?}").contains("disk I/O error"));
    let effects = on_command(&mut model, Command::Down);
    assert_eq!(effects, [Effect::ReadPairTitles(wanted.clone())]);
    let titles = wanted.into_iter().map(|pair| {
        let titles = [format!("first of {}", pair.1.low()), "last".to_owned()];
        (pair, titles)
    });
    let titles = Msg::PairTitles(titles.collect());
    update(&mut model, titles, now);
    assert!(flat(&mut model, (80, 24)).contains("first of 2"));
}

#[test]
fn the_parts_of_a_value_are_shown_where_their_product_is_the_value() {
    let (mut model, _) = queue(Policy::Value);
    let mut page = |wrong: f64| {
        let parts = ValueParts {
            wrong,
            in_top: InTop::Probability(0.5),
            top: 3,
        };
        let now = model.now;
        let found = PairDescription::Value(Some(parts));
        update(
            &mut model,
            Msg::PairDescribed(QUERY, item(0).pair, found),
            now,
        );
        flat(&mut model, (80, 24))
    };
    let shown = page(0.4);
    assert!(
        shown.contains("P(judges wrong) 40 % × P(A or B in the top 3) 50 % = 0.200"),
        "{shown}"
    );
    // The votes arrived after the list was made.
    assert!(!page(0.3).contains("P(judges wrong)"));
}
