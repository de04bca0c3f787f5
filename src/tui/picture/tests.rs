use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use super::*;

fn screen(width: u16, height: u16) -> Buffer {
    Buffer::empty(Rect::new(0, 0, width, height))
}

fn balanced(svg: &str) {
    for tag in ["svg", "title", "g", "text", "defs", "pattern"] {
        let opened =
            svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    assert_eq!(svg.matches('"').count() % 2, 0);
}

#[test]
fn empty_and_tiny_screens_are_pictures_too() {
    for (width, height) in [(0, 0), (1, 1), (3, 0)] {
        balanced(&buffer_svg(&screen(width, height), &Picture::default()));
    }
}

#[test]
fn text_is_escaped_and_equal_styles_are_one_run() {
    let mut buffer = screen(20, 2);
    buffer.set_string(0, 0, "a <b> & c", Style::new());
    buffer.set_string(0, 1, "bold", Style::new().add_modifier(Modifier::BOLD));
    let svg = buffer_svg(
        &buffer,
        &Picture {
            title: "<&>",
            ..Picture::default()
        },
    );
    balanced(&svg);
    assert!(svg.contains(">a &lt;b&gt; &amp; c</text>"));
    assert_eq!(svg.matches("<text").count(), 2);
    assert!(svg.contains(r#"font-weight="bold">bold<"#));
}

#[test]
fn half_blocks_become_rectangles_in_both_colours() {
    let mut buffer = screen(4, 1);
    let style = Style::new()
        .fg(Color::Rgb(255, 0, 0))
        .bg(Color::Rgb(0, 0, 255));
    buffer.set_string(0, 0, "▀▀▄█", style);
    let svg = buffer_svg(&buffer, &Picture::default());
    assert!(svg.contains(&format!(
        "<path fill=\"#ff0000\" d=\"M{PAD} {PAD}h16v8h-16z"
    )));
    assert!(svg.contains("fill=\"#0000ff\""));
    assert!(!svg.contains("<text"));
}

#[test]
fn reversed_text_swaps_the_terminals_own_colours() {
    let mut buffer = screen(2, 1);
    buffer.set_string(0, 0, "x", Style::new().add_modifier(Modifier::REVERSED));
    let picture = Picture {
        foreground: (1, 1, 1),
        background: (2, 2, 2),
        ..Picture::default()
    };
    let svg = buffer_svg(&buffer, &picture);
    assert!(
        svg.contains(r##"<path fill="#010101" d="M12 12h8v8h-8zM12 20h8v8h-8z"/>"##),
        "{svg}"
    );
    assert!(svg.contains(r##"fill="#020202">x<"##));
}

#[test]
fn wide_letters_keep_their_columns() {
    let mut buffer = screen(8, 1);
    buffer.set_string(0, 0, "日本x", Style::new());
    let svg = buffer_svg(&buffer, &Picture::default());
    assert!(
        svg.contains(r#"textLength="40""#) && svg.contains(">日本x</text>"),
        "{svg}"
    );
}

#[test]
fn a_screen_full_of_heat_stays_small() {
    let mut buffer = screen(120, 40);
    for (at, cell) in buffer.content.iter_mut().enumerate() {
        let green = |n: usize| Color::Rgb(200, (at * n % 100) as u8, 60);
        cell.set_symbol("▀");
        cell.set_fg(green(7)).set_bg(green(13));
    }
    let svg = buffer_svg(&buffer, &Picture::default());
    balanced(&svg);
    assert!(svg.len() < 200_000, "{}", svg.len());
}
