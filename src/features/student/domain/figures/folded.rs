//! One battle as drawn in the figures: with the student's favorite first.

use super::StudentRow;
use serde::Serialize;
use std::f64::consts::SQRT_2;

/// Scores this close to 0, ½ and 1 count as these values: means of thirds are rounded.
const EXACT: f64 = 1e-9;

/// How the ensemble voted on the student's favorite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// All votes for the favorite.
    AllFor,
    /// More votes for it than against it.
    MoreFor,
    Even,
    MoreAgainst,
    AllAgainst,
}

impl Category {
    /// In the order in which compositions list them.
    pub const ALL: [Self; 5] = [
        Self::AllFor,
        Self::MoreFor,
        Self::Even,
        Self::MoreAgainst,
        Self::AllAgainst,
    ];

    fn of(folded_score: f64) -> Self {
        match folded_score {
            ..EXACT => Self::AllFor,
            s if s > 1.0 - EXACT => Self::AllAgainst,
            s if (s - 0.5).abs() < EXACT => Self::Even,
            s if s < 0.5 => Self::MoreFor,
            _ => Self::MoreAgainst,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::AllFor => "all for",
            Self::MoreFor => "more for",
            Self::Even => "even",
            Self::MoreAgainst => "more against",
            Self::AllAgainst => "all against",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldedRow {
    /// The favorite's probability, and the other document's: x ≥ y.
    pub x: f64,
    pub y: f64,
    /// The ensemble's score in 0..=1; 0 if all votes are for the favorite.
    pub score: f64,
    /// Whether the favorite is document B.
    pub turned: bool,
    /// Distance from the corner of certainty (1, 0), in 0..=1.
    pub radius: f64,
    pub category: Category,
}

impl FoldedRow {
    pub(super) fn of(row: &StudentRow) -> Self {
        let (a, b) = (row.predicted.a(), row.predicted.b());
        let turned = b > a;
        let (x, y, score) = if turned {
            (b, a, 1.0 - row.score)
        } else {
            (a, b, row.score)
        };
        Self {
            x,
            y,
            score,
            turned,
            radius: ((x - 1.0).powi(2) + y * y).sqrt(),
            category: Category::of(score),
        }
    }

    /// P(A) and P(B) as predicted.
    pub fn predicted(&self) -> (f64, f64) {
        if self.turned {
            (self.y, self.x)
        } else {
            (self.x, self.y)
        }
    }

    /// The expected folded score, in 0..=½.
    pub fn expected(&self) -> f64 {
        0.5 * (1.0 - self.x + self.y)
    }

    /// E|C|.
    pub fn decisiveness(&self) -> f64 {
        self.x + self.y
    }

    /// The ensemble's |C| = |2s − 1|.
    pub fn observed_decisiveness(&self) -> f64 {
        (2.0 * self.score - 1.0).abs()
    }

    /// Distance to the line y = x − 1 (figure 9); divided by √2, it is the expected score.
    pub fn distance_to_certain(&self) -> f64 {
        (1.0 - self.x + self.y) / SQRT_2
    }

    /// Distance to the line y = 1 − x; E|C| is 1 − √2 times this distance.
    pub fn distance_to_decided(&self) -> f64 {
        (1.0 - self.x - self.y) / SQRT_2
    }

    pub fn tie(&self) -> f64 {
        1.0 - self.x - self.y
    }

    pub fn is_consensus(&self) -> bool {
        matches!(self.category, Category::AllFor | Category::AllAgainst)
    }
}
