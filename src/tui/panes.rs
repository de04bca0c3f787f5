//! Divides an area into two panes with a border that can be moved.

use ratatui::layout::{Constraint, Layout, Rect};

/// A border between two panes, which can be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneBorder {
    /// Whether the panes are next to each other, and not one above the other.
    pub upright: bool,
    /// The pane to the right of it or below it.
    pub second: Rect,
    /// Columns or rows between the panes.
    pub gap: u16,
}

impl PaneBorder {
    /// The first column or row of the second pane.
    pub fn at(self) -> u16 {
        if self.upright {
            self.second.x
        } else {
            self.second.y
        }
    }

    /// Columns or rows of the second pane.
    pub fn size(self) -> u16 {
        if self.upright {
            self.second.width
        } else {
            self.second.height
        }
    }

    /// Where it can be dragged: between the panes, or at the edge of the second one if there is
    /// nothing between them.
    pub fn grip(self) -> Rect {
        if self.second.is_empty() {
            return Rect::default();
        }
        let (before, thick) = match (self.gap, self.upright) {
            (0, true) => (1, 2),
            (0, false) => (0, 1),
            (gap, _) => (gap, gap),
        };
        let second = self.second;
        if self.upright {
            Rect {
                x: second.x.saturating_sub(before),
                width: thick,
                ..second
            }
        } else {
            Rect {
                y: second.y.saturating_sub(before),
                height: thick,
                ..second
            }
        }
    }
}

/// How an area is divided into two panes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaneSplit {
    /// Whether the panes are next to each other, and not one above the other.
    pub(crate) upright: bool,
    /// Columns or rows between them.
    pub(crate) gap: u16,
    /// Columns or rows of the second pane until the person moves the border.
    pub(crate) usual: u16,
    /// The fewest columns or rows of each pane that the border can be moved to.
    pub(crate) least: [u16; 2],
}

/// Two panes, with the border between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitPanes {
    pub(crate) first: Rect,
    pub(crate) between: Rect,
    pub(crate) second: Rect,
    pub(crate) border: PaneBorder,
}

impl PaneSplit {
    /// Divides an area; the person has chosen the size of the second pane, or it is the usual one.
    pub(crate) fn divide(self, area: Rect, chosen: Option<u16>) -> SplitPanes {
        let Self {
            upright,
            gap,
            usual,
            least,
        } = self;
        let length = if upright { area.width } else { area.height };
        let size = chosen.map_or(usual, |size| {
            let most = length.saturating_sub(gap + least[0]);
            size.min(most).max(least[1])
        });
        let sizes = [
            Constraint::Fill(1),
            Constraint::Length(gap),
            Constraint::Length(size.min(length)),
        ];
        let [first, between, second] = if upright {
            Layout::horizontal(sizes).areas(area)
        } else {
            Layout::vertical(sizes).areas(area)
        };
        SplitPanes {
            first,
            between,
            second,
            border: PaneBorder {
                upright,
                second,
                gap,
            },
        }
    }
}

/// Columns or rows of the second of two panes that share a length as `parts`.
pub(crate) fn second_share(length: u16, gap: u16, parts: [u16; 2]) -> u16 {
    let sizes = [
        Constraint::Fill(parts[0]),
        Constraint::Length(gap),
        Constraint::Fill(parts[1]),
    ];
    let [_, _, second] = Layout::horizontal(sizes).areas(Rect::new(0, 0, length, 1));
    second.width
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: PaneSplit = PaneSplit {
        upright: true,
        gap: 2,
        usual: 20,
        least: [30, 10],
    };

    #[test]
    fn the_chosen_size_leaves_both_panes_their_minimum() {
        let area = Rect::new(3, 1, 80, 10);
        for (chosen, size) in [(None, 20), (Some(25), 25), (Some(99), 48), (Some(1), 10)] {
            let panes = SPLIT.divide(area, chosen);
            assert_eq!(
                panes.second,
                Rect::new(83 - size, 1, size, 10),
                "{chosen:?}"
            );
            assert_eq!(panes.first.right() + 2, panes.second.x);
            assert_eq!(panes.border.grip(), panes.between);
        }
        let below = PaneSplit {
            upright: false,
            gap: 0,
            least: [3, 1],
            usual: 4,
        };
        let panes = below.divide(area, Some(9));
        assert_eq!((panes.border.at(), panes.border.size()), (4, 7));
        assert_eq!(panes.border.grip(), Rect::new(3, 4, 80, 1));
    }

    #[test]
    fn tiny_areas_are_divided_too() {
        for length in 0..60 {
            for chosen in [None, Some(0), Some(7), Some(200)] {
                let area = Rect::new(0, 0, length, 1);
                let panes = SPLIT.divide(area, chosen);
                assert!(panes.first.right() <= panes.second.x);
                assert!(panes.second.right() <= length);
            }
        }
    }
}
