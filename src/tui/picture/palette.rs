//! What a terminal's colours look like in a picture.

use ratatui::style::Color;

pub(super) type Rgb = (u8, u8, u8);

const OWN: [Rgb; 16] = [
    (30, 32, 38),
    (205, 72, 68),
    (78, 160, 88),
    (200, 160, 70),
    (80, 130, 200),
    (160, 100, 190),
    (70, 160, 170),
    (190, 194, 202),
    (104, 110, 122),
    (248, 110, 100),
    (120, 214, 134),
    (240, 200, 100),
    (124, 183, 255),
    (217, 155, 255),
    (110, 210, 220),
    (240, 242, 246),
];

pub(super) fn resolve(color: Color, default: Rgb) -> Rgb {
    let own = |index: usize| OWN.get(index).copied().unwrap_or(default);
    match color {
        Color::Reset => default,
        Color::Rgb(red, green, blue) => (red, green, blue),
        Color::Indexed(index) => indexed(index, default),
        Color::Black => own(0),
        Color::Red => own(1),
        Color::Green => own(2),
        Color::Yellow => own(3),
        Color::Blue => own(4),
        Color::Magenta => own(5),
        Color::Cyan => own(6),
        Color::Gray => own(7),
        Color::DarkGray => own(8),
        Color::LightRed => own(9),
        Color::LightGreen => own(10),
        Color::LightYellow => own(11),
        Color::LightBlue => own(12),
        Color::LightMagenta => own(13),
        Color::LightCyan => own(14),
        Color::White => own(15),
    }
}

fn indexed(index: u8, default: Rgb) -> Rgb {
    let step = |level: u8| if level == 0 { 0 } else { 55 + level * 40 };
    match index {
        0..=15 => OWN.get(usize::from(index)).copied().unwrap_or(default),
        16..=231 => {
            let cube = index - 16;
            (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
        }
        232.. => {
            let grey = 8 + (index - 232) * 10;
            (grey, grey, grey)
        }
    }
}

pub(super) fn mix(front: Rgb, back: Rgb, part: f64) -> Rgb {
    let blend = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    (
        blend(front.0, back.0),
        blend(front.1, back.1),
        blend(front.2, back.2),
    )
}

pub(super) fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
