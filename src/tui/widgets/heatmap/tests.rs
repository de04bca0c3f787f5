mod legend;
mod levels;
mod triangle;

use proptest::prelude::*;

use super::painter::put;
use super::*;
use crate::tui::theme::ColorDepth;
use ratatui::style::Style;

use triangle::Triangle;

const SIZES: [(u16, u16); 9] = [
    (0, 0),
    (1, 1),
    (3, 2),
    (12, 5),
    (23, 9),
    (78, 19),
    (118, 35),
    (198, 55),
    (250, 80),
];
const COUNTS: [usize; 7] = [0, 1, 2, 3, 25, 100, 1000];
const DEPTHS: [ColorDepth; 4] = [
    ColorDepth::None,
    ColorDepth::Ansi16,
    ColorDepth::Ansi256,
    ColorDepth::True,
];
const ZOOMS: [Option<Zoom>; 8] = [
    None,
    Some(Zoom::Overview),
    Some(Zoom::Dense),
    Some(Zoom::Block),
    Some(Zoom::Number),
    Some(Zoom::Tile),
    Some(Zoom::Large),
    Some(Zoom::Huge),
];

fn theme(depth: ColorDepth) -> Theme {
    Theme {
        depth,
        ..Theme::default()
    }
}

fn paint(
    source: &Triangle,
    (width, height): (u16, u16),
    state: &HeatmapState,
    depth: ColorDepth,
) -> (Buffer, Viewport) {
    const EDGE: u16 = 2;
    let mut buf = Buffer::filled(
        Rect::new(0, 0, width + 2 * EDGE, height + 2 * EDGE),
        ratatui::buffer::Cell::new("#"),
    );
    let area = Rect::new(EDGE, EDGE, width, height);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            put(&mut buf, x, y, ' ', Style::new());
        }
    }
    let mut cache = HeatmapCache::default();
    let options = HeatmapOptions {
        caption: "observed",
        ..HeatmapOptions::default()
    };
    let view = render(
        area,
        &mut buf,
        &theme(depth),
        state,
        &mut cache,
        source,
        &options,
    );
    for (at, cell) in buf.content.iter().enumerate() {
        let (x, y) = buf.pos_of(at);
        if !area.contains((x, y).into()) {
            assert_eq!(cell.symbol(), "#", "painted outside at {x},{y}");
        }
    }
    assert_eq!(view.body.intersection(area).area(), view.body.area());
    (buf, view)
}

fn text(buf: &Buffer) -> String {
    let lines = buf.content.chunks(usize::from(buf.area.width).max(1));
    lines
        .map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>() + "\n")
        .collect()
}

fn holds(view: &Viewport, (row, col): (usize, usize)) -> bool {
    (view.offset.0..view.offset.0 + view.shown.0).contains(&row)
        && (view.offset.1..view.offset.1 + view.shown.1).contains(&col)
}

#[test]
fn every_size_count_zoom_and_depth_paints_inside_its_area_and_shows_the_cursor() {
    for size in SIZES {
        for k in COUNTS {
            for zoom in ZOOMS {
                let depths = if k < 1000 { &DEPTHS[..] } else { &DEPTHS[3..] };
                for &depth in depths {
                    let state = HeatmapState {
                        cursor: (k / 2, k),
                        zoom,
                    };
                    let (_, view) = paint(&Triangle::new(k), size, &state, depth);
                    if k > 0 && !view.body.is_empty() {
                        assert!(
                            holds(&view, state.clamped(k)),
                            "{size:?} {k} {zoom:?} {view:?}"
                        );
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn the_cursor_stays_in_view_wherever_it_goes(
        k in 1usize..400,
        size in (0u16..160, 0u16..60),
        zoom in 0usize..8,
        moves in proptest::collection::vec((-90isize..90, -90isize..90), 1..12),
    ) {
        let source = Triangle::new(k);
        let mut state = HeatmapState { cursor: (0, 0), zoom: ZOOMS[zoom] };
        let mut cache = HeatmapCache::default();
        let area = Rect::new(0, 0, size.0, size.1);
        let mut buf = Buffer::empty(area);
        for (dx, dy) in moves {
            state.move_by(dx, dy, k);
            let view = render(area, &mut buf, &theme(ColorDepth::True), &state, &mut cache, &source, &HeatmapOptions::default());
            if !view.body.is_empty() {
                prop_assert!(holds(&view, state.cursor), "{:?} {:?}", state, view);
                prop_assert!(view.offset.0 + view.shown.0 <= k && view.offset.1 + view.shown.1 <= k);
            }
        }
    }
}

#[test]
fn a_hundred_documents_are_whole_on_small_terminals() {
    for (size, stride) in [((78, 19), (3, 2)), ((118, 35), (2, 1)), ((198, 55), (1, 1))] {
        let (buf, view) = paint(
            &Triangle::new(100),
            size,
            &HeatmapState::default(),
            ColorDepth::True,
        );
        assert!(view.is_whole(100), "{size:?}");
        assert_eq!(view.stride, stride);
        assert_eq!(
            text(&buf).contains("mean"),
            stride != (1, 1),
            "an average must be called one"
        );
    }
}

#[test]
fn ten_thousand_documents_degrade_to_a_sampled_overview() {
    let (buf, view) = paint(
        &Triangle::new(10_000),
        (118, 35),
        &HeatmapState::default(),
        ColorDepth::True,
    );
    assert!(view.is_whole(10_000));
    assert!(text(&buf).contains("sampled"));
}

#[test]
fn the_overview_marks_an_overruled_cell_among_its_many() {
    for sparse in [false, true] {
        let source = Triangle {
            k: 400,
            overruled: Some((301, 40)),
            sparse,
        };
        let (with, _) = paint(
            &source,
            (118, 35),
            &HeatmapState::default(),
            ColorDepth::True,
        );
        let (without, _) = paint(
            &Triangle::new(400),
            (118, 35),
            &HeatmapState::default(),
            ColorDepth::True,
        );
        assert_eq!(
            text(&with).matches('◆').count(),
            text(&without).matches('◆').count() + 1
        );
    }
}

#[test]
fn visiting_and_reading_give_the_same_overview() {
    let state = HeatmapState::default();
    let dense = paint(&Triangle::new(300), (118, 35), &state, ColorDepth::True);
    let sparse = paint(
        &Triangle {
            sparse: true,
            ..Triangle::new(300)
        },
        (118, 35),
        &state,
        ColorDepth::True,
    );
    assert_eq!(dense, sparse);
}

#[test]
fn numbers_and_marks_are_written_into_the_cells() {
    let source = Triangle {
        overruled: Some((0, 2)),
        ..Triangle::new(6)
    };
    let state = HeatmapState {
        cursor: (4, 4),
        zoom: Some(Zoom::Number),
    };
    let (buf, _) = paint(&source, (118, 35), &state, ColorDepth::None);
    let all = text(&buf);
    assert!(all.contains("◆.90"), "{all}");
    assert!(all.contains(" .10"), "{all}");
    assert!(all.contains("%.90"), "{all}");
    assert!(all.contains("not judged yet"), "{all}");
    // The mark shows the verdict and the number shows the layer; here they disagree.
    let source = Triangle {
        overruled: Some((2, 0)),
        ..Triangle::new(6)
    };
    let (buf, _) = paint(&source, (118, 35), &state, ColorDepth::None);
    assert!(text(&buf).contains("◆.10"), "{}", text(&buf));
}

#[test]
fn the_mark_of_a_verdict_has_one_color_at_every_zoom() {
    for depth in [ColorDepth::Ansi16, ColorDepth::Ansi256, ColorDepth::True] {
        for zoom in ZOOMS {
            for k in [6, 400] {
                let source = Triangle {
                    overruled: Some((1, 3)),
                    ..Triangle::new(k)
                };
                let state = HeatmapState {
                    cursor: (5, 5),
                    zoom,
                };
                let (buf, view) = paint(&source, (118, 35), &state, depth);
                let theme = theme(depth);
                let marks = buf
                    .content
                    .iter()
                    .enumerate()
                    .filter(|(at, cell)| {
                        view.body.contains(buf.pos_of(*at).into()) && cell.symbol() == "◆"
                    })
                    .map(|(_, cell)| (Some(cell.fg), cell.bg));
                let expected = (theme.override_mark().fg, ratatui::style::Color::Reset);
                assert_eq!(marks.collect::<Vec<_>>(), [expected], "{zoom:?} {depth:?}");
            }
        }
    }
}

#[test]
fn the_cell_under_the_cursor_stands_out_at_every_zoom_and_depth() {
    for zoom in ZOOMS {
        for depth in DEPTHS {
            let source = Triangle::new(30);
            let at = HeatmapState {
                cursor: (2, 3),
                zoom,
            };
            let away = HeatmapState {
                cursor: (5, 6),
                zoom,
            };
            let ((with, view), (without, _)) = (
                paint(&source, (118, 35), &at, depth),
                paint(&source, (118, 35), &away, depth),
            );
            let x = view.body.x + (3 * view.zoom.columns()) as u16;
            let y = view.body.y + (2 / view.zoom.rows_a_line() * view.zoom.lines_a_row()) as u16;
            assert_ne!(
                with.cell((x, y)),
                without.cell((x, y)),
                "{zoom:?} {depth:?}"
            );
            assert_eq!(
                view.at(x, y),
                Some((2 / view.zoom.rows_a_line() * view.zoom.rows_a_line(), 3))
            );
        }
    }
}

#[test]
fn without_color_no_color_is_used() {
    for zoom in ZOOMS {
        let state = HeatmapState {
            cursor: (3, 9),
            zoom,
        };
        let (buf, _) = paint(&Triangle::new(100), (198, 55), &state, ColorDepth::None);
        let reset = ratatui::style::Color::Reset;
        assert!(
            buf.content
                .iter()
                .all(|cell| cell.fg == reset && cell.bg == reset)
        );
    }
}

#[test]
fn the_closest_zoom_that_shows_everything_is_chosen() {
    let area = Rect::new(0, 0, 118, 35);
    assert_eq!(frame::fit(8, area), Zoom::Large);
    assert_eq!(frame::fit(8, Rect::new(0, 0, 150, 54)), Zoom::Huge);
    assert_eq!(frame::fit(15, area), Zoom::Tile);
    assert_eq!(frame::fit(25, area), Zoom::Number);
    assert_eq!(frame::fit(25, Rect::new(0, 0, 150, 54)), Zoom::Tile);
    assert_eq!(frame::fit(31, area), Zoom::Block);
    assert_eq!(frame::fit(60, area), Zoom::Dense);
    assert_eq!(frame::fit(100, area), Zoom::Overview);
}

#[test]
fn hostile_ids_and_broken_scores_do_no_harm() {
    struct Hostile;
    impl CellSource for Hostile {
        fn len(&self) -> usize {
            3
        }
        fn cell(&self, _: usize, _: usize) -> HeatCell {
            HeatCell {
                value: Some(f64::NAN),
                ..HeatCell::default()
            }
        }
        fn margin(&self, _: usize) -> MarginRow {
            let id = "\u{1b}[31m\u{202e}\n👩‍👩‍👧".to_owned();
            MarginRow {
                rank: "1234567890".to_owned(),
                id: id.clone(),
                title: id,
                zelo: Some(f64::NAN),
                se: Some(f64::INFINITY),
                flag: '\n',
                group: None,
            }
        }
        fn generation(&self) -> u64 {
            0
        }
    }
    for zoom in ZOOMS {
        let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
        let state = HeatmapState {
            cursor: (0, 0),
            zoom,
        };
        let mut cache = HeatmapCache::default();
        let options = HeatmapOptions::default();
        render(
            buf.area,
            &mut buf,
            &theme(ColorDepth::True),
            &state,
            &mut cache,
            &Hostile,
            &options,
        );
        assert!(!text(&buf).contains('\u{1b}'));
    }
}

#[test]
fn an_expectation_is_told_apart_from_a_vote_and_a_cut_is_drawn() {
    struct Expected;
    impl CellSource for Expected {
        fn len(&self) -> usize {
            4
        }
        fn cell(&self, row: usize, col: usize) -> HeatCell {
            HeatCell {
                value: (row == 0).then_some(1.0),
                expected: (row > 0).then_some([0.9, 0.5, 0.1, 0.0][col]),
                ..HeatCell::default()
            }
        }
        fn margin(&self, _: usize) -> MarginRow {
            MarginRow::default()
        }
        fn generation(&self) -> u64 {
            0
        }
    }
    for zoom in [
        Zoom::Block,
        Zoom::Number,
        Zoom::Tile,
        Zoom::Large,
        Zoom::Huge,
    ] {
        for depth in DEPTHS {
            let mut buf = Buffer::empty(Rect::new(0, 0, 140, 40));
            let state = HeatmapState {
                cursor: (0, 0),
                zoom: Some(zoom),
            };
            let options = HeatmapOptions {
                cut: Some(2),
                expectations: Some("not fought: the fit's expectation"),
                ..HeatmapOptions::default()
            };
            let mut cache = HeatmapCache::default();
            let theme = theme(depth);
            let view = render(
                buf.area, &mut buf, &theme, &state, &mut cache, &Expected, &options,
            );
            let page = text(&buf);
            for words in [
                "▴",
                "▾",
                "≈",
                "not fought: the fit's expectation",
                "end of the top 2",
            ] {
                assert!(page.contains(words), "{words} {zoom:?} {depth:?}\n{page}");
            }
            let mark = (view.body.left()..view.body.right())
                .flat_map(|x| (view.body.top()..view.body.bottom()).map(move |y| (x, y)))
                .find(|at| buf[*at].symbol() == "▴")
                .unwrap();
            let tint = theme.selection().bg.unwrap_or(ratatui::style::Color::Reset);
            assert!(
                [ratatui::style::Color::Reset, tint].contains(&buf[mark].bg),
                "an expectation has no ground of its own"
            );
            let below = view.body.y + (2 * zoom.lines_a_row()) as u16;
            let underlined = |y: u16| {
                let cell = &buf[(view.body.right() - 1, y)];
                cell.modifier.contains(ratatui::style::Modifier::UNDERLINED)
            };
            assert!(
                underlined(below - 1) && !underlined(below),
                "{zoom:?} {depth:?}"
            );
        }
    }
}

#[test]
fn a_result_without_a_battle_is_a_half_tone_with_its_share() {
    struct Answered;
    impl CellSource for Answered {
        fn len(&self) -> usize {
            4
        }
        fn cell(&self, row: usize, _: usize) -> HeatCell {
            HeatCell {
                value: (row == 0).then_some(1.0),
                answered: (row > 0).then_some(0.25),
                ..HeatCell::default()
            }
        }
        fn margin(&self, _: usize) -> MarginRow {
            MarginRow::default()
        }
        fn generation(&self) -> u64 {
            0
        }
    }
    for zoom in [
        Zoom::Dense,
        Zoom::Block,
        Zoom::Number,
        Zoom::Tile,
        Zoom::Huge,
    ] {
        for depth in DEPTHS {
            let mut buf = Buffer::empty(Rect::new(0, 0, 140, 40));
            let state = HeatmapState {
                cursor: (0, 0),
                zoom: Some(zoom),
            };
            let options = HeatmapOptions {
                answers: Some("list calls"),
                ..HeatmapOptions::default()
            };
            let mut cache = HeatmapCache::default();
            let theme = theme(depth);
            let view = render(
                buf.area, &mut buf, &theme, &state, &mut cache, &Answered, &options,
            );
            let page = text(&buf);
            assert!(
                page.contains("from list calls"),
                "{zoom:?} {depth:?}\n{page}"
            );
            let mark = if depth == ColorDepth::None {
                "~"
            } else {
                "░"
            };
            let body = (view.body.left()..view.body.right())
                .flat_map(|x| (view.body.top()..view.body.bottom()).map(move |y| (x, y)));
            let marked: Vec<_> = body.filter(|at| buf[*at].symbol() == mark).collect();
            assert!(!marked.is_empty(), "{zoom:?} {depth:?}\n{page}");
            let has_number = page.contains(&format!("{mark}.25"));
            assert!(zoom < Zoom::Number || has_number, "{page}");
        }
    }
}
