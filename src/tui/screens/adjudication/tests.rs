use super::super::testing::{SIZES, TINY, drawn, model};
use super::jobs::{ReadOverview, ReadTitles};
use crate::app::adjudication::data::AdjudicationItem;
use crate::app::adjudication::overview::{AdjudicationOverview, PickRow};
use crate::app::review::pair_description::ListedDocument;
use crate::domain::adjudication::pick_summary::PickIntervals;
use crate::domain::adjudication::{
    Disagreement, DisagreementOrder, PickCounts, PickSummary, PooledCounts, Remeasured,
    remeasured_metrics,
};
use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::domain::metrics::{Comparison, MeanEstimate};
use crate::domain::retrieval::SlotSource;
use crate::store::corpus::QueryKey;
use crate::tui::job::{answer, only};
use crate::tui::keymap::Command;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::theme::ColorDepth;
use crate::tui::update::commands::on_command;
use crate::tui::update::update;
use std::collections::HashMap;

pub(in crate::tui::screens) fn disagreement(document: &str, control_of: usize) -> AdjudicationItem {
    AdjudicationItem {
        query: QueryKey(7),
        query_id: QueryId::new("scifact-641"),
        document: DocId::new(document),
        dispute: Disagreement {
            pool: 0,
            slot: 0,
            positive: true,
            against: 2,
            answers: 3,
            impact: 0.5,
        },
        control_of,
        said: Vec::new(),
    }
}

pub(in crate::tui::screens) fn overview(documents: &[&str]) -> AdjudicationOverview {
    let estimate = |mean| MeanEstimate {
        n: 8,
        mean,
        interval: None,
    };
    let row = |metric| Remeasured {
        metric,
        before: Some(estimate(0.5)),
        after: Some(estimate(0.625)),
        difference: Some(Comparison {
            n: 8,
            mean_difference: 0.125,
            interval: Some((-0.0625, 0.25)),
            randomization_p: 0.5,
            t_test: None,
            wins_ties_losses: (1, 7, 0),
        }),
    };
    let summary = PickSummary {
        valid: 8,
        boxes: PickCounts {
            agreed: 6,
            label_only: 2,
            pick_only: 2,
            neither: 70,
            unproven: 0,
        },
        intervals: PickIntervals {
            kappa: Some((0.5, 0.9)),
            ..PickIntervals::default()
        },
        ..PickSummary::default()
    };
    let pick_row = |name: &str| PickRow {
        name: name.to_owned(),
        summary: summary.clone(),
        failed: 1,
    };
    let rows = || remeasured_metrics(10).into_iter().map(row).collect();
    AdjudicationOverview {
        pools: 8,
        labels: 17,
        judges: vec![pick_row("bm25"), pick_row("hostile\u{1b}[2J")],
        offline: true,
        disagreements: documents.iter().map(|id| disagreement(id, 2)).collect(),
        ruled: 3,
        in_force: 3,
        changed: 1,
        conflicts: 0,
        effect: vec![
            ("bm25-overrule".to_owned(), rows()),
            ("mine\u{7}".to_owned(), rows()),
        ],
        warning: None,
    }
}

pub(in crate::tui::screens) fn adjudicating() -> Model {
    let mut model = model(Screen::QUERIES);
    model.stack = vec![Screen::QUERIES];
    let mut effects = on_command(&mut model, Command::ShowAdjudication);
    let Some(ReadOverview { rule, .. }) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(rule.order, DisagreementOrder::Impact);
    let arrived = answer::<ReadOverview>(&mut effects, overview(&["5912283", "13497630"]));
    let now = model.now;
    let asked = update(&mut model, arrived, now);
    assert!(only::<ReadTitles>(&asked).is_some(), "{asked:?}");
    model
}

#[test]
fn boxes_measures_and_list_fit_every_size() {
    let mut model = adjudicating();
    for size in SIZES {
        let page = drawn(&mut model, ColorDepth::None, size);
        for words in [
            "label only",
            "bm25-overrule",
            "κ (95 %)",
            "+0.1250",
            "2 to rule on",
            "13497630",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(
            !page.contains('\u{1b}') && !page.contains('\u{7}'),
            "{page}"
        );
    }
    for size in TINY {
        drawn(&mut model, ColorDepth::None, size);
    }
}

#[test]
fn the_list_tells_nothing_of_label_and_picks() {
    let mut model = adjudicating();
    let page = drawn(&mut model, ColorDepth::None, (120, 38));
    let list = page.split("to rule on").nth(1).unwrap();
    for secret in ["only", "label", "0.5", "2 of 3", "control"] {
        let list = list.split_once('\n').unwrap().1;
        assert!(!list.contains(secret), "{secret}: {list}");
    }
}

#[test]
fn rankings_and_orders_follow_their_keys_and_overtaken_findings_are_dropped() {
    let mut model = adjudicating();
    on_command(&mut model, Command::NextPane);
    let page = drawn(&mut model, ColorDepth::None, (120, 38));
    assert!(page.contains("mine"), "{page}");
    let mut late = model.read_overview();
    let mut effects = on_command(&mut model, Command::NextPolicy);
    assert!(only::<ReadOverview>(&effects).is_some(), "{effects:?}");
    assert_eq!(model.adjudication.order, DisagreementOrder::Confidence);
    let page = drawn(&mut model, ColorDepth::None, (120, 38));
    assert!(
        page.contains("… to rule on") && page.contains("updating"),
        "{page}"
    );
    let now = model.now;
    update(
        &mut model,
        answer::<ReadOverview>(&mut late, overview(&["5912283"])),
        now,
    );
    assert_eq!(
        model.adjudication.disagreements,
        [],
        "an answer to an earlier question"
    );
    let list = answer::<ReadOverview>(&mut effects, overview(&["5912283", "13497630"]));
    update(&mut model, list, now);
    assert_eq!(model.adjudication.disagreements.len(), 2);
    model.adjudication.filter = "nothing like it".to_owned();
    let page = drawn(&mut model, ColorDepth::None, (80, 22));
    assert!(page.contains("Nothing matches"), "{page}");
    on_command(&mut model, Command::Back);
    assert_eq!(
        (model.screen(), model.adjudication.filter.as_str()),
        (Screen::ADJUDICATION, "")
    );
}

#[test]
fn picks_by_source_and_slot_are_a_page_away() {
    let mut model = adjudicating();
    on_command(&mut model, Command::ShowTables);
    assert!(matches!(model.overlays.last(), Some(Overlay::Page(_))));
    let overview = model.adjudication.overview.as_mut().unwrap();
    let summary = &mut overview.judges[0].summary;
    let mut counts = PooledCounts::default();
    counts += summary.boxes;
    summary.by_source.insert(SlotSource::Fill, counts.clone());
    summary.by_slot = vec![counts; 2];
    summary.invalid.insert("not-json", 2);
    let overview = model.adjudication.overview.as_ref().unwrap();
    let text = super::tables::details(&model, overview, 76);
    for words in [
        "20 % of the answers invalid (2 not-json)",
        "fill ",
        "slot 2 ",
        "by chance –",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 150),
        "{text}"
    );
}

#[test]
fn adjudication_without_picks_says_what_to_do() {
    let mut model = adjudicating();
    let now = model.now;
    let mut asked = model.read_overview();
    let empty = answer::<ReadOverview>(&mut asked, AdjudicationOverview::default());
    update(&mut model, empty, now);
    let page = drawn(&mut model, ColorDepth::None, (80, 22));
    for words in ["overrule pick", "*  has judges pick"] {
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn titles_of_documents_are_read_for_the_rows_in_sight() {
    let mut model = adjudicating();
    let now = model.now;
    model.adjudication.titles.clear();
    let mut list = model.read_overview();
    let list = answer::<ReadOverview>(&mut list, overview(&["5912283", "13497630"]));
    let mut titles_asked = update(&mut model, list, now);
    let place = |document: &str| (QueryKey(7), DocId::new(document));
    let wanted = vec![place("5912283"), place("13497630")];
    assert_eq!(only(&titles_asked), Some(&ReadTitles(wanted)));
    let asked = on_command(&mut model, Command::Down);
    assert!(asked.is_empty(), "they are on their way: {asked:?}");
    let zopiclone = ListedDocument {
        title: "Zopiclone for insomnia".to_owned(),
        metadata: JsonObject::from_compact(r#"{"year":1998}"#),
    };
    model.options.config.screen.metadata = vec!["year".to_owned()];
    let titles = [(place("5912283"), zopiclone)];
    let titles: HashMap<_, _> = titles.into_iter().collect();
    update(
        &mut model,
        answer::<ReadTitles>(&mut titles_asked, titles),
        now,
    );
    for size in [(80, 22), (120, 38)] {
        let page = drawn(&mut model, ColorDepth::None, size);
        assert!(page.contains("Zopiclone for"), "{page}");
        assert!(page.contains("year") && page.contains("1998"), "{page}");
    }
}

#[test]
fn a_new_list_leaves_the_cursor_on_its_document() {
    let mut model = adjudicating();
    on_command(&mut model, Command::Down);
    let again = |model: &mut Model, documents: &[&str]| {
        let now = model.now;
        let mut asked = model.read_overview();
        let arrived = answer::<ReadOverview>(&mut asked, overview(documents));
        update(model, arrived, now);
        let chosen = model.chosen_disagreement().unwrap();
        chosen.document.to_string()
    };
    assert_eq!(again(&mut model, &["x", "5912283", "13497630"]), "13497630");
    assert_eq!(again(&mut model, &["13497630", "5912283"]), "13497630");
    assert_eq!(again(&mut model, &["5912283", "x"]), "5912283");
}
