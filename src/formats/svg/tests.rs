use super::*;

fn labels(k: usize) -> Vec<SvgLabel> {
    (0..k)
        .map(|at| SvgLabel {
            rank: (at + 1).to_string(),
            id: format!("doc-{at}"),
            title: String::new(),
            zelo: Some(1.0 - at as f64 * 2.0 / k as f64),
            se: Some(0.25),
        })
        .collect()
}

fn cell(row: usize, col: usize) -> SvgCell {
    let apart = row.abs_diff(col);
    SvgCell {
        value: (!apart.is_multiple_of(3)).then_some(if row < col { 0.8 } else { 0.2 }),
        planned: apart.is_multiple_of(3),
        missing: apart == 4,
        overruled: apart == 2,
        expected: false,
        answered: (apart == 5).then_some("list call"),
    }
}

/// Checks nesting, quoting and text of our small XML subset; returns the number of elements.
pub(crate) fn well_formed(xml: &str) -> usize {
    let mut open = Vec::new();
    let mut count = 0;
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "stray > in text");
        let end = start + rest[start..].find('>').expect("a tag must end");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'));
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = |tag: &str| tag.split([' ', '/']).next().unwrap_or("").to_owned();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed.to_owned()));
        } else {
            count += 1;
            if !tag.ends_with('/') {
                open.push(name(tag));
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

#[test]
fn pictures_are_well_formed_at_every_size() {
    for k in [0, 1, 2, 25, 61, 100] {
        let svg = matrix_svg(&cell, &labels(k), "q1", "observed");
        assert!(well_formed(&svg) > k, "{k}");
    }
}

#[test]
fn hostile_ids_cannot_leave_their_text() {
    let mut all = labels(3);
    all[1].id = "</text><script>alert(\"1\")</script>&\u{0}\u{1b}[2J\u{202e}'".to_owned();
    let svg = matrix_svg(&cell, &all, "<b>&", "]]>\u{7}");
    well_formed(&svg);
    assert!(!svg.contains("<script") && !svg.contains("<b>"));
    assert!(
        !svg.chars()
            .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
    );
    assert!(svg.contains("&lt;/text&gt;&lt;script&gt;"));
}

#[test]
fn cells_tell_their_story_while_there_are_few() {
    let svg = matrix_svg(&cell, &labels(6), "q1", "observed");
    assert!(svg.contains("<title>doc-0 × doc-2: 0.80, overruled</title>"));
    assert!(svg.contains("<title>doc-4 × doc-0: 0.20, votes missing</title>"));
    assert!(svg.contains("<title>doc-0 × doc-5: 0.80, from list calls</title>"));
    // Two cells and the legend.
    assert_eq!(svg.matches("url(#answered)").count(), 3);
    assert!(svg.contains(">from list calls</text>"));
    let few = matrix_svg(&cell, &labels(5), "q1", "observed");
    assert!(!few.contains("from list calls") && !few.contains("url(#answered)"));
    let many = matrix_svg(&cell, &labels(61), "q1", "observed");
    assert!(!many.contains("doc-0 × doc-2"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let draw = || matrix_svg(&cell, &labels(12), "q1", "observed");
    assert_eq!(draw(), draw());
}

#[test]
fn red_is_worse_green_is_better_and_nothing_is_out_of_range() {
    assert_eq!(ramp(0.0), "#9e1b32");
    assert_eq!(ramp(1.0), "#2c9150");
    assert_eq!(ramp(-4.0), ramp(0.0));
    assert_eq!(ramp(f64::NAN), ramp(0.5));
}

#[test]
fn broken_scores_leave_the_bar_out() {
    let mut all = labels(2);
    all[0].zelo = Some(f64::NAN);
    all[1].se = Some(f64::INFINITY);
    let svg = matrix_svg(&cell, &all, "q1", "");
    assert!(!svg.contains("NaN"));
}
