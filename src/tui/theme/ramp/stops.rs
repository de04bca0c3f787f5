//! The hand-picked colors, from worse to better.

use ratatui::style::Color;

pub(super) type Rgb = (u8, u8, u8);

/// The colors of one ramp on one background.
pub(super) struct Stops {
    pub(super) full: [Rgb; 7],
    pub(super) cube: [u8; 7],
    pub(super) own: [Color; 5],
}

#[rustfmt::skip]
pub(super) const RED_GREEN_DARK: Stops = Stops {
    full: [(248, 92, 80), (200, 62, 58), (135, 52, 52), (58, 60, 66), (46, 104, 66), (58, 155, 88), (110, 214, 128)],
    cube: [203, 160, 88, 236, 22, 34, 78],
    own: [Color::LightRed, Color::Red, Color::DarkGray, Color::Green, Color::LightGreen],
};
#[rustfmt::skip]
pub(super) const RED_GREEN_LIGHT: Stops = Stops {
    full: [(182, 44, 42), (228, 130, 118), (246, 196, 186), (238, 238, 236), (190, 226, 192), (110, 186, 124), (30, 132, 70)],
    cube: [124, 167, 217, 255, 151, 71, 28],
    own: [Color::Red, Color::LightRed, Color::Gray, Color::LightGreen, Color::Green],
};
#[rustfmt::skip]
pub(super) const BLUE_ORANGE_DARK: Stops = Stops {
    full: [(244, 148, 48), (196, 108, 36), (128, 78, 44), (58, 60, 66), (48, 92, 140), (70, 140, 205), (140, 205, 255)],
    cube: [215, 172, 94, 236, 24, 32, 117],
    own: [Color::LightYellow, Color::Yellow, Color::DarkGray, Color::Blue, Color::LightBlue],
};
#[rustfmt::skip]
pub(super) const BLUE_ORANGE_LIGHT: Stops = Stops {
    full: [(176, 84, 6), (232, 150, 70), (250, 210, 160), (238, 238, 236), (188, 212, 240), (105, 160, 220), (20, 90, 175)],
    cube: [130, 173, 223, 255, 153, 74, 25],
    own: [Color::Magenta, Color::LightMagenta, Color::Gray, Color::LightBlue, Color::Blue],
};
#[rustfmt::skip]
pub(super) const GRAY: Stops = Stops {
    full: [(38, 38, 40), (68, 68, 70), (100, 100, 102), (132, 132, 134), (166, 166, 168), (202, 202, 204), (240, 240, 240)],
    cube: [235, 238, 241, 244, 247, 251, 255],
    own: [Color::DarkGray, Color::DarkGray, Color::DarkGray, Color::Gray, Color::Gray],
};
