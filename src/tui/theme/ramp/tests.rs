use super::*;

fn rgb_of(color: Option<Color>) -> Rgb {
    match color {
        Some(Color::Rgb(red, green, blue)) => (red, green, blue),
        Some(Color::Indexed(index)) => cube_rgb(index),
        other => panic!("no fixed color: {other:?}"),
    }
}

#[test]
fn lightness_moves_one_way_from_the_middle_to_each_end() {
    for ramp in [Ramp::RedGreen, Ramp::BlueOrange] {
        for light in [false, true] {
            for (depth, bins) in [(ColorDepth::True, 60), (ColorDepth::Ansi256, 7)] {
                let away = |value: f64| {
                    let lightness = luminance(rgb_of(ramp.paint(depth, light, value)));
                    if light { -lightness } else { lightness }
                };
                let values: Vec<f64> = (0..=bins)
                    .map(|at| away(0.5 + 0.5 * f64::from(at) / f64::from(bins)))
                    .collect();
                assert!(
                    values.is_sorted(),
                    "{ramp} {depth:?} better, light {light}: {values:?}"
                );
                let values: Vec<f64> = (0..=bins)
                    .map(|at| away(0.5 - 0.5 * f64::from(at) / f64::from(bins)))
                    .collect();
                assert!(
                    values.is_sorted(),
                    "{ramp} {depth:?} worse, light {light}: {values:?}"
                );
            }
        }
    }
}

#[test]
fn gray_goes_from_dark_to_light() {
    for depth in [ColorDepth::True, ColorDepth::Ansi256] {
        let values: Vec<f64> = (0..=20)
            .map(|at| luminance(rgb_of(Ramp::Gray.paint(depth, false, f64::from(at) / 20.0))))
            .collect();
        assert!(values.is_sorted());
    }
}

#[test]
fn the_default_ramp_is_red_for_worse_and_green_for_better() {
    for depth in [ColorDepth::True, ColorDepth::Ansi256] {
        for light in [false, true] {
            let (red, green, _) = rgb_of(Ramp::default().paint(depth, light, 0.0));
            assert!(red > green);
            let (red, green, _) = rgb_of(Ramp::default().paint(depth, light, 1.0));
            assert!(green > red);
        }
    }
}

#[test]
fn text_on_heat_has_enough_contrast() {
    for ramp in Ramp::ALL {
        for light in [false, true] {
            for depth in [ColorDepth::True, ColorDepth::Ansi256] {
                for at in 0..=100 {
                    let style = ramp.heat(depth, light, f64::from(at) / 100.0).style;
                    let contrast = contrast(rgb_of(style.fg), rgb_of(style.bg));
                    assert!(contrast >= 4.5, "{ramp} {depth:?} {at} {contrast:.2}");
                }
            }
        }
    }
}

#[test]
fn glyph_and_sign_tell_size_and_side_without_color() {
    let shown: Vec<(char, char)> = [0.0, 0.3, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0, f64::NAN]
        .into_iter()
        .map(|value| {
            let heat = Ramp::RedGreen.heat(ColorDepth::None, false, value);
            assert_eq!(heat.style, Style::new());
            (heat.glyph, heat.sign)
        })
        .collect();
    assert_eq!(
        shown,
        [
            (':', '-'),
            ('.', '-'),
            ('·', ' '),
            ('·', ' '),
            ('░', '+'),
            ('▒', '+'),
            ('▓', '+'),
            ('█', '+'),
            ('·', ' ')
        ]
    );
}

#[test]
fn sixteen_colors_never_put_one_palette_color_under_another() {
    for ramp in Ramp::ALL {
        for light in [false, true] {
            for at in 0..=20 {
                let style = ramp
                    .heat(ColorDepth::Ansi16, light, f64::from(at) / 20.0)
                    .style;
                assert_eq!(style.bg, None);
                assert!(!matches!(style.fg, Some(Color::White | Color::Black)));
            }
        }
    }
}

#[test]
fn a_missing_half_leaves_the_background() {
    let pair = |upper, lower| Ramp::RedGreen.pair(ColorDepth::Ansi256, false, upper, lower);
    assert_eq!(pair(None, None), (' ', Style::new()));
    assert_eq!(
        pair(None, Some(1.0)),
        ('▄', Style::new().fg(Color::Indexed(78)))
    );
    assert_eq!(
        pair(Some(0.0), None),
        ('▀', Style::new().fg(Color::Indexed(203)))
    );
    let both = Style::new().fg(Color::Indexed(203)).bg(Color::Indexed(78));
    assert_eq!(pair(Some(0.0), Some(1.0)), ('▀', both));
}

#[test]
fn half_blocks_without_color_mark_better_and_worse_halves() {
    let shown = |upper, lower| Ramp::Gray.pair(ColorDepth::None, false, upper, lower).0;
    assert_eq!(shown(Some(1.0), Some(1.0)), '█');
    assert_eq!(shown(Some(1.0), Some(0.0)), '▀');
    assert_eq!(shown(None, Some(1.0)), '▄');
    assert_eq!(shown(Some(0.0), Some(0.0)), ':');
    assert_eq!(shown(Some(0.0), None), '\'');
    assert_eq!(shown(Some(0.5), Some(0.0)), ',');
    assert_eq!(shown(Some(0.5), None), '·');
    assert_eq!(shown(None, None), ' ');
}

#[test]
fn names_round_trip_and_the_cycle_visits_all() {
    for ramp in Ramp::ALL {
        assert_eq!(ramp.to_string().parse(), Ok(ramp));
        assert_eq!(ramp.next().next().next(), ramp);
    }
    assert_eq!("grey".parse(), Ok(Ramp::Gray));
    assert!("rainbow".parse::<Ramp>().is_err());
}
