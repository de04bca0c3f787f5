//! The mouse: rows, hints, panes and borders.

use super::bench::Bench;
use crate::tui::job::only;
use crate::tui::message::Msg;
use crate::tui::screens::Screen;
use crate::tui::testing::text;
use crate::tui::update::requests::queries::Prefetch;
use crate::tui::update::update;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

fn mouse(bench: &mut Bench, kind: MouseEventKind, (column, row): (u16, u16)) {
    bench.tell(Msg::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }));
}

fn click(bench: &mut Bench, at: (u16, u16)) {
    mouse(bench, MouseEventKind::Down(MouseButton::Left), at);
    mouse(bench, MouseEventKind::Up(MouseButton::Left), at);
}

/// Where a text is on screen.
fn place(bench: &mut Bench, words: &str) -> (u16, u16) {
    let page = text(&bench.draw());
    let found = page.lines().enumerate().find_map(|(row, line)| {
        let start = line.find(words)?;
        Some((line[..start].chars().count() as u16, row as u16))
    });
    found.unwrap_or_else(|| panic!("{words}: {page}"))
}

#[test]
fn a_click_selects_a_row_and_a_second_one_opens_it() {
    let mut bench = Bench::judged(120, 40);
    let row = place(&mut bench, "scifact-971");
    click(&mut bench, row);
    assert_eq!(bench.model.queries.cursor, 3);
    let first = place(&mut bench, "scifact-641");
    click(&mut bench, first);
    assert_eq!(bench.model.queries.cursor, 0);
    click(&mut bench, first);
    assert_eq!(bench.model.screen(), Screen::MATRIX);
    bench.press("d");
    let list = bench.model.areas.list;
    click(&mut bench, (list.x, list.y + 2));
    assert_eq!(bench.model.document_cursor(), 2);
}

#[test]
fn a_click_reads_ahead_only_the_query_that_it_selects() {
    let mut bench = Bench::judged(120, 40);
    let (column, row) = place(&mut bench, "scifact-971");
    let now = bench.model.now;
    let click = Msg::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::NONE,
    });
    let effects = update(&mut bench.model, click, now);
    assert!(only::<Prefetch>(&effects).is_some(), "{effects:?}");
}

#[test]
fn a_click_on_a_hint_is_its_key() {
    let mut bench = Bench::judged(120, 40);
    let queue = place(&mut bench, "w queue");
    assert_eq!(queue.1, 39);
    click(&mut bench, queue);
    assert_eq!(bench.model.screen(), Screen::QUEUE);
    let back = place(&mut bench, "Esc back");
    click(&mut bench, back);
    assert_eq!(bench.model.screen(), Screen::QUERIES);
}

#[test]
fn the_wheel_scrolls_the_pane_under_the_pointer() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter d");
    let list = bench.model.areas.list;
    mouse(&mut bench, MouseEventKind::ScrollDown, (list.x, list.y));
    assert_eq!(bench.model.document_cursor(), 1);
    let text_pane = bench.model.areas.panes[0];
    let over_text = (text_pane.x, text_pane.y);
    mouse(&mut bench, MouseEventKind::ScrollDown, over_text);
    assert_eq!(bench.model.document_cursor(), 1);
    assert_eq!(bench.model.document().scroll, Some(1));
    assert!(!bench.model.document().reading);
}

#[test]
fn a_border_is_moved_with_keys_and_with_the_mouse() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter");
    let border = |bench: &Bench| bench.model.areas.border.unwrap();
    let before = border(&bench);
    assert!(before.upright);
    bench.press("(");
    assert_eq!(border(&bench).at(), before.at() - 2);
    bench.press(")");
    assert_eq!(border(&bench), before);
    let down = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut bench, down, (before.at(), 10));
    let to = before.at() - 9;
    mouse(
        &mut bench,
        MouseEventKind::Drag(MouseButton::Left),
        (to, 12),
    );
    mouse(&mut bench, MouseEventKind::Up(MouseButton::Left), (to, 12));
    assert_eq!(border(&bench).at(), to);
    let rows = (bench.model.areas.list.x, 12);
    mouse(&mut bench, MouseEventKind::Drag(MouseButton::Left), rows);
    assert_eq!(border(&bench).at(), to, "the border was released");
    bench.press("esc w (");
    let toast = bench.model.toast.as_ref().unwrap();
    assert!(
        toast.text.starts_with("( does nothing now"),
        "{}",
        toast.text
    );
}

#[test]
fn every_screen_with_two_panes_has_a_border_that_moves() {
    for (columns, rows) in [(120, 40), (200, 60)] {
        for keys in [
            "",
            "enter",
            "enter d",
            "enter n enter",
            "enter O",
            "enter %",
            "J",
        ] {
            let mut bench = Bench::judged(columns, rows);
            if !keys.is_empty() {
                bench.press(keys);
            }
            let border = |bench: &Bench| bench.model.areas.border.expect(keys);
            let before = border(&bench);
            let grip = before.grip();
            let down = MouseEventKind::Down(MouseButton::Left);
            mouse(&mut bench, down, (grip.x, grip.y));
            let to = if before.upright {
                (before.at() - 4, grip.y)
            } else {
                (grip.x, before.at() - 2)
            };
            mouse(&mut bench, MouseEventKind::Drag(MouseButton::Left), to);
            mouse(&mut bench, MouseEventKind::Up(MouseButton::Left), to);
            let by = if before.upright { 4 } else { 2 };
            assert_eq!(border(&bench).at(), before.at() - by, "{keys}");
            assert_eq!(border(&bench).size(), before.size() + by, "{keys}");
            bench.press(if before.upright { ") )" } else { ")" });
            assert_eq!(border(&bench), before, "{keys}");
        }
    }
}

#[test]
fn the_wheel_scrolls_a_text_in_the_second_pane_until_the_next_key() {
    let mut bench = Bench::judged(120, 24);
    bench.press("J");
    for _ in 0..12 {
        let (lines, page) = bench.model.areas.aside;
        if lines <= page {
            bench.press(")");
        }
    }
    let (lines, page) = bench.model.areas.aside;
    assert!(lines > page, "{lines} {page}");
    let pane = bench.model.areas.panes[1];
    let top = bench.shot();
    mouse(&mut bench, MouseEventKind::ScrollDown, (pane.x, pane.y));
    assert_ne!(bench.shot(), top);
    mouse(&mut bench, MouseEventKind::ScrollUp, (pane.x, pane.y));
    assert_eq!(bench.shot(), top);
    mouse(&mut bench, MouseEventKind::ScrollDown, (pane.x, pane.y));
    bench.press("down up");
    assert_eq!(bench.shot(), top);
    let list = bench.model.areas.list;
    mouse(&mut bench, MouseEventKind::ScrollDown, (list.x, list.y));
    assert_eq!(bench.model.areas.position.unwrap().cursor, 1);
}

#[test]
fn the_wheel_scrolls_the_text_of_a_battle_under_the_pointer() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter n enter |");
    let scrolled = |bench: &Bench| (bench.model.battle.scroll, bench.model.battle.judge_scroll);
    let before = scrolled(&bench);
    let [a, b, judges] = bench.model.areas.panes;
    assert!(!a.is_empty() && !b.is_empty() && !judges.is_empty());
    mouse(&mut bench, MouseEventKind::ScrollDown, (b.x, b.y));
    let (sides, _) = scrolled(&bench);
    assert_eq!(sides[0], before.0[0]);
    assert_eq!(bench.model.battle.side, 0, "the focus stays");
    click(&mut bench, (judges.x, judges.bottom() - 1));
    assert_eq!(bench.model.battle.side, 2);
}

#[test]
fn a_click_on_a_row_of_the_palette_runs_it() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter : s e t t i n g");
    let settings = place(&mut bench, "settings ");
    click(&mut bench, settings);
    assert!(bench.shot().contains("Settings"));
    let mut bench = Bench::judged(120, 40);
    bench.press("enter : d o c u m e n t");
    let row = place(&mut bench, "column-document");
    click(&mut bench, row);
    assert!(bench.model.overlays.is_empty());
    assert_eq!(bench.model.screen(), Screen::DOCUMENT);
}

#[test]
fn buttons_and_rows_of_dialogs_take_clicks() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter q");
    let no = place(&mut bench, "n no");
    click(&mut bench, no);
    assert!(bench.model.overlays.is_empty());
    bench.press("?");
    let close = place(&mut bench, "Esc close");
    click(&mut bench, close);
    assert!(bench.model.overlays.is_empty());
    bench.press(">");
    let votes = place(&mut bench, "every vote and failed call");
    click(&mut bench, votes);
    let shot = bench.shot();
    assert!(shot.contains("▌ votes"), "{shot}");
    click(&mut bench, votes);
    let shot = bench.shot();
    assert!(shot.contains("votes.csv"), "{shot}");
    let back = place(&mut bench, "something else");
    click(&mut bench, back);
    let cancel = place(&mut bench, "Esc cancel");
    click(&mut bench, cancel);
    assert!(bench.model.overlays.is_empty());
}
