//! The content of the legend, which must be visible at every size.

use super::*;

#[test]
fn without_colors_one_line_says_both_signs_of_a_verdict_and_the_cut() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 16));
    let options = HeatmapOptions {
        brief: "observed · zELO order",
        cut: Some(10),
        ..HeatmapOptions::default()
    };
    let (state, mut cache) = (HeatmapState::default(), HeatmapCache::default());
    let source = Triangle::new(25);
    let theme = theme(ColorDepth::None);
    render(
        buf.area, &mut buf, &theme, &state, &mut cache, &source, &options,
    );
    let page = text(&buf);
    for words in ["verdict: ◆ won ◇ lost", " top 10"] {
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn the_legend_has_numbers_at_every_size_and_says_what_they_are() {
    for (scale, ends) in [
        (CellScale::Share, ["0 ", "½", " 1"]),
        (CellScale::Margin, ["−1 ", " 0 ", " +1"]),
        (CellScale::Sigmas, ["−3 σ", " 0 ", "+3 σ"]),
    ] {
        for size in [(60, 9), (78, 16), (118, 35), (198, 55)] {
            for depth in DEPTHS {
                let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
                let options = HeatmapOptions {
                    scale,
                    ..HeatmapOptions::default()
                };
                let (state, mut cache) = (HeatmapState::default(), HeatmapCache::default());
                let source = Triangle::new(25);
                render(
                    buf.area,
                    &mut buf,
                    &theme(depth),
                    &state,
                    &mut cache,
                    &source,
                    &options,
                );
                let page = text(&buf);
                // A note may cover the last line.
                let mut foot = page.lines().rev().take(2);
                assert!(
                    foot.any(|line| ends.iter().all(|end| line.contains(end))),
                    "{size:?} {depth:?} {page}"
                );
            }
        }
    }
}

#[test]
fn a_document_without_a_rank_is_named_by_its_place() {
    struct Unranked;
    impl CellSource for Unranked {
        fn len(&self) -> usize {
            3
        }
        fn cell(&self, _: usize, _: usize) -> HeatCell {
            HeatCell::default()
        }
        fn margin(&self, _: usize) -> MarginRow {
            MarginRow {
                rank: "–".to_owned(),
                ..MarginRow::default()
            }
        }
        fn generation(&self) -> u64 {
            0
        }
    }
    let mut buf = Buffer::empty(Rect::new(0, 0, 120, 30));
    let state = HeatmapState {
        cursor: (0, 1),
        zoom: Some(Zoom::Block),
    };
    render(
        buf.area,
        &mut buf,
        &theme(ColorDepth::None),
        &state,
        &mut HeatmapCache::default(),
        &Unranked,
        &HeatmapOptions::default(),
    );
    let page = crate::tui::testing::text(&buf);
    assert!(page.contains("row 1 × column 2 of 3"), "{page}");
}
