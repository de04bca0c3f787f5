//! Writes changed cells to the terminal with few bytes, by sending only differences from its
//! current state.

use crossterm::cursor::{MoveRight, MoveTo};
use crossterm::queue;
use crossterm::style::{
    Attribute, Color as WireColor, Colored, Colors, Print, SetAttribute, SetColors,
    SetUnderlineColor,
};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, IntoCrossterm as _, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use std::fmt;
use std::io::{self, Write};

/// Uses ratatui's own backend for everything except cells.
#[derive(Debug)]
pub(super) struct FrugalBackend<W: Write>(CrosstermBackend<W>);

impl<W: Write> FrugalBackend<W> {
    pub(super) const fn new(out: W) -> Self {
        Self(CrosstermBackend::new(out))
    }
}

/// The upper and the lower half block; each looks like the other with swapped colors.
const HALVES: [&str; 2] = ["▀", "▄"];

/// The current state of the terminal.
struct Pen {
    foreground: Color,
    background: Color,
    underline: Color,
    modifier: Modifier,
    /// The position of the next cell, if it is certain.
    at: Option<Position>,
}

impl Pen {
    /// The state at the beginning and at the end of every frame.
    const LIFTED: Self = Self {
        foreground: Color::Reset,
        background: Color::Reset,
        underline: Color::Reset,
        modifier: Modifier::empty(),
        at: None,
    };

    fn draw(&mut self, out: &mut impl Write, to: Position, cell: &Cell) -> io::Result<()> {
        match self.at {
            Some(at) if at == to => {}
            // Only from a certain position: the width of a non-ASCII character depends on the
            // terminal.
            Some(at) if at.y == to.y && at.x < to.x => queue!(out, MoveRight(to.x - at.x))?,
            _ => queue!(out, MoveTo(to.x, to.y))?,
        }
        self.modify(out, cell.modifier)?;
        let (symbol, foreground, background) = self.painted(cell);
        let text = (foreground != self.foreground).then_some(Sgr::Text(foreground));
        let back = (background != self.background).then_some(Sgr::Back(background));
        match (text, back) {
            // NO_COLOR, which crossterm has read.
            _ if Colored::ansi_color_disabled_memoized() => {}
            (None, None) => {}
            (Some(one), None) | (None, Some(one)) => write!(out, "\x1b[{one}m")?,
            (Some(text), Some(back)) => write!(out, "\x1b[{text};{back}m")?,
        }
        (self.foreground, self.background) = (foreground, background);
        if cell.underline_color != self.underline {
            queue!(
                out,
                SetUnderlineColor(cell.underline_color.into_crossterm())
            )?;
            self.underline = cell.underline_color;
        }
        queue!(out, Print(symbol))?;
        self.at = after(to, symbol);
        Ok(())
    }

    /// A symbol and colors that look like the cell, with as few color changes as possible.
    fn painted<'a>(&self, cell: &'a Cell) -> (&'a str, Color, Color) {
        let (symbol, foreground, background) = (cell.symbol(), cell.fg, cell.bg);
        if !cell.modifier.is_empty() || cell.underline_color != Color::Reset {
            return (symbol, foreground, background);
        }
        if symbol == " " {
            // Its foreground is invisible.
            return (symbol, self.foreground, background);
        }
        let own = [foreground, background].contains(&Color::Reset);
        let Some(half) = HALVES
            .iter()
            .position(|half| *half == symbol)
            .filter(|_| !own)
        else {
            return (symbol, foreground, background);
        };
        if foreground == background {
            return (" ", self.foreground, background);
        }
        let changes = |colors: (Color, Color)| {
            u8::from(colors.0 != self.foreground) + u8::from(colors.1 != self.background)
        };
        let (as_it_is, turned) = ((foreground, background), (background, foreground));
        if changes(turned) < changes(as_it_is) {
            (HALVES[1 - half], turned.0, turned.1)
        } else {
            (symbol, foreground, background)
        }
    }

    fn modify(&mut self, out: &mut impl Write, to: Modifier) -> io::Result<()> {
        let removed = self.modifier - to;
        let mut added = to - self.modifier;
        let weights = Modifier::BOLD | Modifier::DIM;
        if removed.intersects(weights) {
            queue!(out, SetAttribute(Attribute::NormalIntensity))?;
            // That has ended both.
            added |= to & weights;
        }
        let ends = [
            (Modifier::REVERSED, Attribute::NoReverse),
            (Modifier::ITALIC, Attribute::NoItalic),
            (Modifier::UNDERLINED, Attribute::NoUnderline),
            (Modifier::CROSSED_OUT, Attribute::NotCrossedOut),
            (Modifier::HIDDEN, Attribute::NoHidden),
            (
                Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK),
                Attribute::NoBlink,
            ),
        ];
        for (what, attribute) in ends {
            if removed.intersects(what) {
                queue!(out, SetAttribute(attribute))?;
            }
        }
        let begins = [
            (Modifier::REVERSED, Attribute::Reverse),
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
            (Modifier::ITALIC, Attribute::Italic),
            (Modifier::UNDERLINED, Attribute::Underlined),
            (Modifier::CROSSED_OUT, Attribute::CrossedOut),
            (Modifier::HIDDEN, Attribute::Hidden),
            (Modifier::SLOW_BLINK, Attribute::SlowBlink),
            (Modifier::RAPID_BLINK, Attribute::RapidBlink),
        ];
        for (what, attribute) in begins {
            if added.contains(what) {
                queue!(out, SetAttribute(attribute))?;
            }
        }
        self.modifier = to;
        Ok(())
    }
}

/// The parameters that set a color. The sixteen that every color terminal has are set with the
/// codes that each of them knows; crossterm takes them for colors of a palette of 256.
#[derive(Clone, Copy)]
enum Sgr {
    Text(Color),
    Back(Color),
}

impl fmt::Display for Sgr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Text(color) | Self::Back(color)) = *self;
        let number = match color {
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
            Color::Indexed(number @ 0..16) => number,
            Color::Reset | Color::Indexed(_) | Color::Rgb(..) => {
                let color = color.into_crossterm();
                return match self {
                    Self::Text(_) => Colored::ForegroundColor(color).fmt(f),
                    Self::Back(_) => Colored::BackgroundColor(color).fmt(f),
                };
            }
        };
        let first = match (self, number < 8) {
            (Self::Text(_), true) => 30,
            (Self::Text(_), false) => 90,
            (Self::Back(_), true) => 40,
            (Self::Back(_), false) => 100,
        };
        write!(f, "{}", first + number % 8)
    }
}

/// The position of the cursor after a symbol at `at`, if it is certain.
fn after(at: Position, symbol: &str) -> Option<Position> {
    let sure = symbol.len() == 1 || HALVES.contains(&symbol);
    sure.then(|| Position {
        x: at.x.saturating_add(1),
        y: at.y,
    })
}

impl<W: Write> Backend for FrugalBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut pen = Pen::LIFTED;
        let mut last: Option<Position> = None;
        for (x, y, cell) in content {
            let to = Position { x, y };
            // The next cell follows the previous one, however wide that was drawn.
            let adjacent = last.filter(|last| last.y == y && last.x.saturating_add(1) == x);
            if adjacent.is_some() {
                pen.at = Some(to);
            }
            pen.draw(&mut self.0, to, cell)?;
            last = Some(to);
        }
        queue!(
            self.0,
            SetColors(Colors::new(WireColor::Reset, WireColor::Reset)),
            SetUnderlineColor(WireColor::Reset),
            SetAttribute(Attribute::Reset),
        )
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.0.clear_region(clear_type)
    }

    fn append_lines(&mut self, count: u16) -> io::Result<()> {
        self.0.append_lines(count)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

impl<W: Write> Write for FrugalBackend<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use std::num::NonZero;

    const AREA: Rect = Rect::new(0, 0, 90, 30);

    /// A screen of half blocks, letters and blanks with some colors and attributes.
    fn screen(rng: &mut SeededRng, colors: usize) -> Buffer {
        let mut buffer = Buffer::empty(AREA);
        let symbols = ["▀", "▄", " ", " ", "x", "é", "│", "▀"];
        let modifiers = [
            Modifier::BOLD,
            Modifier::DIM,
            Modifier::BOLD | Modifier::DIM,
            Modifier::REVERSED | Modifier::UNDERLINED,
            Modifier::ITALIC,
        ];
        for cell in &mut buffer.content {
            let mut color = || match rng.below(colors + 1) {
                0 => Color::Reset,
                shade => Color::Rgb(shade as u8 * 7, 90, 3 * shade as u8),
            };
            cell.set_fg(color());
            cell.set_bg(color());
            cell.set_symbol(symbols[rng.below(symbols.len())]);
            if rng.below(6) == 0 {
                cell.modifier = modifiers[rng.below(modifiers.len())];
            }
        }
        buffer
    }

    fn bytes_of(before: &Buffer, now: &Buffer) -> (Vec<u8>, Vec<u8>) {
        let (mut frugal, mut plain) = (Vec::new(), Vec::new());
        FrugalBackend::new(&mut frugal)
            .draw(before.diff(now).into_iter())
            .unwrap();
        CrosstermBackend::new(&mut plain)
            .draw(before.diff(now).into_iter())
            .unwrap();
        (frugal, plain)
    }

    /// The appearance of each half of a cell.
    fn looks(screen: &vt100::Screen) -> Vec<String> {
        let cells = (0..AREA.height).flat_map(|y| (0..AREA.width).map(move |x| (y, x)));
        cells
            .map(|(y, x)| {
                let cell = screen.cell(y, x).unwrap();
                let (ink, ground) = (cell.fgcolor(), cell.bgcolor());
                let style = (
                    cell.bold(),
                    cell.dim(),
                    cell.italic(),
                    cell.underline(),
                    cell.inverse(),
                );
                let plain = style == (false, false, false, false, false);
                match cell.contents() {
                    "▀" if plain => format!("{ink:?} {ground:?}"),
                    "▄" if plain => format!("{ground:?} {ink:?}"),
                    "" | " " if plain => format!("{ground:?} {ground:?}"),
                    other => format!("{other:?} {ink:?} {ground:?} {style:?}"),
                }
            })
            .collect()
    }

    #[test]
    fn a_screen_looks_as_with_ratatuis_own_backend_and_takes_fewer_bytes() {
        let mut rng = SeededRng::new(3, &["screens"]);
        let size = [AREA.height, AREA.width].map(|cells| NonZero::new(cells).unwrap());
        let mut terminals = [0, 1].map(|_| vt100::Parser::new(size[0], size[1], 0));
        let mut before = Buffer::empty(AREA);
        for colors in [3, 30, 1, 12, 2] {
            let now = screen(&mut rng, colors);
            let (frugal, plain) = bytes_of(&before, &now);
            assert!(frugal.len() < plain.len());
            let [ours, theirs] = &mut terminals;
            ours.process(&frugal);
            theirs.process(&plain);
            assert_eq!(looks(ours.screen()), looks(theirs.screen()));
            before = now;
        }
    }

    #[test]
    fn the_sixteen_colors_are_set_as_every_terminal_knows_them() {
        let named = [
            (Color::Black, 30),
            (Color::Red, 31),
            (Color::Gray, 37),
            (Color::DarkGray, 90),
            (Color::LightRed, 91),
            (Color::White, 97),
            (Color::Indexed(4), 34),
            (Color::Indexed(12), 94),
        ];
        for (color, code) in named {
            assert_eq!(Sgr::Text(color).to_string(), code.to_string());
            assert_eq!(Sgr::Back(color).to_string(), (code + 10).to_string());
        }
        if !Colored::ansi_color_disabled_memoized() {
            assert_eq!(Sgr::Text(Color::Indexed(16)).to_string(), "38;5;16");
            assert_eq!(Sgr::Back(Color::Reset).to_string(), "49");
        }
    }

    #[test]
    fn a_picture_of_halves_takes_a_third_less() {
        let mut rng = SeededRng::new(5, &["picture"]);
        let mut now = Buffer::empty(AREA);
        for cell in &mut now.content {
            let mut color = || Color::Rgb(rng.below(12) as u8 * 20, 100, 100);
            let (upper, lower) = (color(), color());
            cell.set_symbol("▀").set_fg(upper).set_bg(lower);
        }
        let (frugal, plain) = bytes_of(&Buffer::empty(AREA), &now);
        assert!(
            frugal.len() * 10 < plain.len() * 9,
            "{} of {}",
            frugal.len(),
            plain.len()
        );
    }
}
