//! State of the comparison screen: why one of two documents is ranked above the other, and the
//! selected piece of evidence.

use crate::app::annotate::pair_question::PricedQuestion;
use crate::domain::ranking::OrderEvidence;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;

#[derive(Debug, Default)]
pub struct ComparisonState {
    pub a: usize,
    pub b: usize,
    /// Index in [`Self::entries`].
    pub cursor: usize,
    /// Whether the opponent's battle with B is selected instead of that with A.
    pub right: bool,
    /// Computed when the pair or the query's votes change, not for every frame.
    pub evidence: Option<OrderEvidence>,
    /// Cost of asking the judges about the pair, or why that is impossible; `None` until it is
    /// known.
    pub price: Option<Result<Box<PricedQuestion>, String>>,
    /// P(A truly ranks above B) before the judges were asked.
    pub above_before: Option<f64>,
}

/// A line that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvidenceEntry {
    /// The battle between the two documents.
    Direct,
    /// A link in the chain of wins.
    Link(usize),
    /// A common opponent.
    Opponent(usize),
}

impl Model {
    pub(crate) fn comparison(&self) -> &ComparisonState {
        self.state()
    }

    pub(crate) fn comparison_mut(&mut self) -> &mut ComparisonState {
        self.state_mut()
    }
}

impl ComparisonState {
    pub(crate) fn of(open: &OpenQuery, a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            evidence: open.view.order_evidence(a, b),
            ..Self::default()
        }
    }

    /// The lines that can be opened, in display order.
    pub(crate) fn entries(&self) -> Vec<EvidenceEntry> {
        let Some(evidence) = &self.evidence else {
            return Vec::new();
        };
        // A chain with one link is the battle between the two documents.
        let links = if evidence.chain.len() > 1 {
            evidence.chain.len()
        } else {
            0
        };
        let mut entries = vec![EvidenceEntry::Direct];
        entries.extend((0..links).map(EvidenceEntry::Link));
        entries.extend((0..evidence.common.len()).map(EvidenceEntry::Opponent));
        entries
    }

    /// Replaces the evidence. The cursor follows its battle; if that is no longer listed, it stays
    /// where it is.
    pub(crate) fn renew(&mut self, evidence: Option<OrderEvidence>) {
        let chosen = self.chosen();
        self.evidence = evidence;
        let mut entries = self.entries().into_iter();
        let place = entries.position(|entry| self.battle(entry) == chosen);
        self.cursor = place.unwrap_or(self.cursor);
    }

    /// The two documents of the battle under the cursor, A's side first.
    pub(crate) fn chosen(&self) -> Option<(usize, usize)> {
        let entries = self.entries();
        let at = self.cursor.min(entries.len().saturating_sub(1));
        self.battle(*entries.get(at)?)
    }

    fn battle(&self, entry: EvidenceEntry) -> Option<(usize, usize)> {
        let evidence = self.evidence.as_ref()?;
        match entry {
            EvidenceEntry::Direct => Some((self.a, self.b)),
            EvidenceEntry::Link(at) => {
                let link = evidence.chain.get(at)?;
                Some((link.winner, link.loser))
            }
            EvidenceEntry::Opponent(at) => {
                let common = evidence.common.get(at)?;
                Some((if self.right { self.b } else { self.a }, common.document))
            }
        }
    }
}
