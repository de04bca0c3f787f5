use super::QueueScreen;
use super::jobs::{BuildQueue, DescribePair, ReadAcceptance, ReadPairTitles, StartAcceptance};
use crate::app::annotate::judge_history::SetAsideJudge;
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{ListedDocument, PairDescription, PairQuestion};
use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::battle::Pair;
use crate::domain::corpus::JsonObject;
use crate::domain::priority::{DrawReason, InTop, Policy, ValueParts};
use crate::registry::AcceptanceOffer;
use crate::store::corpus::QueryKey;
use crate::tui::job::{answer, every, fail, only};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::run::RunScope;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::ScreenBehavior as _;
use crate::tui::screens::testing::{flat, model};
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::runs::Estimate;
use crate::tui::update::update;
use std::collections::HashMap;

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
    let mut model = model(Screen::QUEUE);
    model.queue.policy = policy;
    let items = (0..4).map(item).collect();
    let effects = super::update::queued(&mut model, items, AnnotatorStatistics::default());
    (model, effects)
}

#[test]
fn an_acceptance_is_offered_with_its_numbers_and_started_once_it_is_confirmed() {
    let (mut model, _) = queue(Policy::Value);
    let now = model.now;
    let mut effects = on_command(&mut model, Command::Accept);
    let question = "100 random controls are drawn from 800 battles. Start?";
    let offer = AcceptanceOffer::Start(question.to_owned());
    update(
        &mut model,
        answer::<ReadAcceptance>(&mut effects, offer),
        now,
    );
    let Some(Overlay::Confirm(confirm, ConfirmFor::Screen(Screen::QUEUE))) = model.overlays.pop()
    else {
        panic!("{:?}", model.overlays);
    };
    assert!(
        format!("{confirm:?}").contains("800 battles"),
        "{confirm:?}"
    );
    assert_eq!(model.queue.policy, Policy::Value);
    let mut effects = QueueScreen.confirmed(&mut model);
    assert!(every::<BuildQueue>(&effects).is_empty());
    let effects = update(&mut model, answer::<StartAcceptance>(&mut effects, ()), now);
    assert_eq!(every::<BuildQueue>(&effects).len(), 1);
    assert_eq!(model.queue.policy, Policy::Accept);
    // While controls are open, the result is shown and they are listed.
    model.queue.policy = Policy::Value;
    let mut effects = on_command(&mut model, Command::Accept);
    let offer = AcceptanceOffer::Present("Not yet: 3 of 100 controls ruled on.".to_owned());
    update(
        &mut model,
        answer::<ReadAcceptance>(&mut effects, offer),
        now,
    );
    assert!(matches!(model.overlays.last(), Some(Overlay::Page(_))));
    assert_eq!(model.queue.policy, Policy::Accept);
}

fn described(effects: &[Effect]) -> Vec<(Pair, PairQuestion)> {
    every::<DescribePair>(effects)
        .into_iter()
        .map(|asked| (asked.pair, asked.question))
        .collect()
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
fn votes_that_would_be_set_aside_are_replaced_for_the_queries_down_to_the_cursor() {
    let (mut model, _) = queue(Policy::Impact);
    model.queue.items[1].query = QueryKey(3);
    model.queue.items[3].query = QueryKey(9);
    let effects = on_command(&mut model, Command::StartRun);
    assert!(every::<Estimate>(&effects).is_empty(), "none would be");
    model.votes.set_aside = vec![SetAsideJudge {
        name: "gpt".to_owned(),
        votes: 8,
        queries: 3,
    }];
    model.queue.cursor = 2;
    let effects = on_command(&mut model, Command::StartRun);
    let scope = RunScope::Queries(vec![QueryKey(3), QUERY]);
    assert_eq!(only(&effects), Some(&Estimate(scope)));
}

#[test]
fn titles_that_could_not_be_read_are_asked_for_again() {
    let (mut model, mut effects) = queue(Policy::Impact);
    let Some(ReadPairTitles(wanted)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(on_command(&mut model, Command::Down), [], "on their way");
    let wanted = wanted.clone();
    let now = model.now;
    let failed = fail::<ReadPairTitles>(&mut effects, "disk I/O error");
    update(&mut model, failed, now);
    let told = model.toast.as_ref().unwrap();
    assert!(format!("{told:?}").contains("disk I/O error"));
    let mut effects = on_command(&mut model, Command::Down);
    assert_eq!(only(&effects), Some(&ReadPairTitles(wanted.clone())));
    let titles = wanted.into_iter().map(|pair| {
        let listed = |title: String, price: usize| ListedDocument {
            title,
            metadata: JsonObject::from_compact(format!(r#"{{"price":{price}}}"#)),
        };
        let low = listed(format!("first of {}", pair.1.low()), 3);
        (pair, [low, listed("last".to_owned(), 4)])
    });
    let titles: HashMap<_, _> = titles.collect();
    update(
        &mut model,
        answer::<ReadPairTitles>(&mut effects, titles),
        now,
    );
    assert!(flat(&mut model, (80, 24)).contains("first of 2"));
    model.options.config.screen.metadata = vec!["price".to_owned()];
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("price A / B"), "{page}");
    assert!(page.contains("3 / 4") || page.contains("4 / 3"), "{page}");
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
        let mut asked = [model.describe_pair(QUERY, item(0).pair, PairQuestion::Value)].into();
        update(&mut model, answer::<DescribePair>(&mut asked, found), now);
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

#[test]
fn a_new_order_leaves_the_cursor_on_its_pair() {
    let (mut model, _) = queue(Policy::Value);
    on_command(&mut model, Command::Down);
    let again = |model: &mut Model, lows: &[usize]| {
        let items = lows.iter().copied().map(item).collect();
        super::update::queued(model, items, AnnotatorStatistics::default());
        model.queue.cursor
    };
    assert_eq!(again(&mut model, &[2, 3, 1, 0]), 2);
    assert_eq!(
        again(&mut model, &[2, 3, 0]),
        2,
        "the next pair takes its place"
    );
    assert_eq!(again(&mut model, &[2, 3]), 1);
}
