//! A share drawn as a short bar.

use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Span;

/// A bar of `cells` cells for a share in 0..=1.
pub(crate) fn gauge(share: f64, cells: usize, fill: Style, theme: &Theme) -> [Span<'static>; 2] {
    let filled = ((cells as f64 * share.clamp(0.0, 1.0)) as usize).min(cells);
    [
        Span::styled("━".repeat(filled), fill),
        Span::styled("┄".repeat(cells - filled), theme.bar_back()),
    ]
}
