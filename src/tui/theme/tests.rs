use super::*;

type Role = fn(&Theme) -> Style;

const ROLES: [Role; 25] = [
    Theme::text,
    Theme::strong,
    Theme::muted,
    Theme::faint,
    Theme::accent,
    Theme::title,
    Theme::border,
    Theme::border_focus,
    Theme::selection,
    Theme::cursor_cell,
    Theme::header,
    Theme::footer,
    Theme::key_hint,
    Theme::good,
    Theme::bad,
    Theme::warn,
    Theme::error,
    Theme::override_mark,
    Theme::missing,
    Theme::match_term,
    Theme::quote,
    Theme::quote_missing,
    Theme::ghost,
    Theme::tab_on,
    Theme::tab_off,
];

pub(super) const DEPTHS: [ColorDepth; 4] = [
    ColorDepth::None,
    ColorDepth::Ansi16,
    ColorDepth::Ansi256,
    ColorDepth::True,
];

#[test]
fn roles_never_paint_text_white_or_black_and_no_depth_gets_what_it_cannot_show() {
    for depth in DEPTHS {
        for light in [false, true] {
            let theme = Theme::new(depth, light);
            let judges = (0..8).map(|n| theme.judge(n));
            for style in ROLES.iter().map(|role| role(&theme)).chain(judges) {
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(color, Color::White | Color::Black));
                    let fits = match depth {
                        ColorDepth::None => false,
                        ColorDepth::Ansi16 => !matches!(color, Color::Rgb(..) | Color::Indexed(_)),
                        ColorDepth::Ansi256 => matches!(color, Color::Indexed(16..)),
                        ColorDepth::True => matches!(color, Color::Rgb(..)),
                    };
                    assert!(fits, "{depth:?} {color:?}");
                }
            }
        }
    }
}

#[test]
fn roles_stand_out_from_the_usual_backgrounds() {
    for (light, background) in [(false, (24, 26, 31)), (true, (250, 250, 250))] {
        let theme = Theme::new(ColorDepth::True, light);
        let judges = (0..6).map(|n| theme.judge(n));
        for style in ROLES.iter().map(|role| role(&theme)).chain(judges) {
            if let Some(Color::Rgb(red, green, blue)) = style.fg {
                let contrast = ramp::contrast((red, green, blue), background);
                assert!(contrast >= 4.0, "{style:?} {contrast:.2} light {light}");
            }
        }
    }
}

#[test]
fn an_even_score_stands_out_from_the_background_where_a_grid_fades() {
    for (light, background) in [(false, (24, 26, 31)), (true, (250, 250, 250))] {
        let theme = Theme::new(ColorDepth::True, light);
        let contrast = |style: Style| match style.fg {
            Some(Color::Rgb(red, green, blue)) => ramp::contrast((red, green, blue), background),
            other => panic!("{other:?}"),
        };
        let (glyph, style) = theme.score_pair(Some(0.5), Some(1.0));
        assert_eq!(
            (glyph, style.bg),
            ('▀', theme.heat_pair(None, Some(1.0)).1.fg)
        );
        assert!(contrast(style) >= 4.0);
        assert!(contrast(theme.heat_pair(Some(0.5), None).1) < 2.0);
        let decided = (Some(1.0), Some(0.25));
        let same = theme.heat_pair(decided.0, decided.1);
        assert_eq!(theme.score_pair(decided.0, decided.1), same);
    }
    let plain = Theme::new(ColorDepth::None, false);
    assert_eq!(plain.score_pair(Some(0.5), None), ('·', Style::new()));
}

#[test]
fn without_color_roles_that_carry_meaning_differ_from_text() {
    let theme = Theme::new(ColorDepth::None, false);
    for role in [
        Theme::accent,
        Theme::selection,
        Theme::bad,
        Theme::warn,
        Theme::error,
        Theme::override_mark,
        Theme::match_term,
        Theme::quote,
        Theme::quote_missing,
        Theme::tab_on,
    ] as [Role; 10]
    {
        assert_ne!(role(&theme), theme.text());
    }
}

#[test]
fn the_place_of_a_search_that_is_shown_differs_from_the_others_at_every_depth() {
    for depth in [
        ColorDepth::None,
        ColorDepth::Ansi16,
        ColorDepth::Ansi256,
        ColorDepth::True,
    ] {
        let theme = Theme::new(depth, false);
        let (other, current) = (theme.found(), theme.found_current());
        let reversed = |style: Style| style.add_modifier.contains(Modifier::REVERSED);
        assert!(reversed(current));
        assert!(!reversed(other) || other.fg != current.fg || other.bg != current.bg);
        assert_ne!(other, current);
    }
}

#[test]
fn text_on_a_tint_is_legible_whatever_the_background_of_the_terminal() {
    use ratatui::layout::Rect;
    for depth in DEPTHS {
        for light in [false, true] {
            let theme = Theme::new(depth, light);
            for tint in [theme.selection(), theme.header()] {
                let mut buf = Buffer::empty(Rect::new(0, 0, 2, 1));
                buf.set_style(buf.area, tint);
                buf[(1, 0)].set_style(theme.good());
                let colored = buf[(1, 0)].fg;
                Theme::make_legible(&mut buf);
                let (own, word) = (buf[(0, 0)].clone(), buf[(1, 0)].clone());
                assert_eq!(own.fg == Color::Reset, own.bg == Color::Reset, "{theme:?}");
                if colored != Color::Reset {
                    assert_eq!(word.fg, colored);
                }
            }
        }
    }
}
