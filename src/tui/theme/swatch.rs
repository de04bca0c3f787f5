//! The colors of the roles.

use ratatui::style::Color;

/// One role's color on a dark and on a light background: truecolor, 256, 16.
pub(super) struct Swatch {
    pub(super) dark: (u32, u8, Color),
    pub(super) light: (u32, u8, Color),
}

#[rustfmt::skip]
pub(super) const ACCENT: Swatch = Swatch { dark: (0x7c_b7_ff, 111, Color::Cyan), light: (0x0b_5c_b8, 25, Color::Blue) };
#[rustfmt::skip]
pub(super) const GOOD: Swatch = Swatch { dark: (0x6e_d6_80, 114, Color::Green), light: (0x1a_74_3c, 22, Color::Green) };
#[rustfmt::skip]
pub(super) const BAD: Swatch = Swatch { dark: (0xff_7b_70, 210, Color::LightRed), light: (0xb3_26_26, 124, Color::Red) };
#[rustfmt::skip]
pub(super) const WARN: Swatch = Swatch { dark: (0xf0_b4_50, 215, Color::Yellow), light: (0x8f_55_00, 94, Color::Magenta) };
#[rustfmt::skip]
pub(super) const PERSON: Swatch = Swatch { dark: (0xd9_9b_ff, 177, Color::LightMagenta), light: (0x7a_2c_b8, 91, Color::Magenta) };
#[rustfmt::skip]
pub(super) const MATCH: Swatch = Swatch { dark: (0xff_d8_66, 221, Color::Yellow), light: (0x7a_5c_00, 58, Color::Magenta) };
#[rustfmt::skip]
pub(super) const MUTED: Swatch = Swatch { dark: (0xa0_a4_ae, 247, Color::Reset), light: (0x5c_61_6b, 241, Color::Reset) };
#[rustfmt::skip]
pub(super) const FAINT: Swatch = Swatch { dark: (0x7c_80_8a, 244, Color::Reset), light: (0x76_7a_84, 243, Color::Reset) };
#[rustfmt::skip]
pub(super) const JUDGES: [Swatch; 6] = [
    Swatch { dark: (0x56_b4_e9, 74, Color::Cyan), light: (0x00_5f_9e, 24, Color::Blue) },
    Swatch { dark: (0xe6_9f_3c, 179, Color::Yellow), light: (0x8a_55_00, 94, Color::Red) },
    Swatch { dark: (0x4f_c3_a1, 79, Color::Green), light: (0x00_6b_52, 23, Color::Green) },
    Swatch { dark: (0xd6_8f_c0, 175, Color::LightMagenta), light: (0x92_3c_74, 89, Color::Magenta) },
    Swatch { dark: (0xe8_de_6a, 185, Color::LightYellow), light: (0x6a_62_00, 58, Color::Cyan) },
    Swatch { dark: (0xf0_84_5c, 209, Color::LightRed), light: (0xa8_42_12, 130, Color::Red) },
];
