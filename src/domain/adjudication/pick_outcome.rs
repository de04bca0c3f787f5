//! Compares picks with labels, document by document, and counts the outcomes.

use crate::domain::agreement::Share;
use crate::domain::retrieval::JudgingPool;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PickOutcome {
    Agreed,
    LabelOnly,
    PickOnly,
    Neither,
    /// The judge's verdict on the document lacks its proof, so the document is neither picked nor
    /// rejected.
    Unproven,
}

/// The outcome in each slot of a pool, given the positions picked and those whose verdict is
/// unproven.
pub fn pick_outcomes(pool: &JudgingPool, picks: &[usize], unproven: &[usize]) -> Vec<PickOutcome> {
    let outcome = |(at, positive)| match (positive, picks.contains(&at)) {
        _ if unproven.contains(&at) => PickOutcome::Unproven,
        (true, true) => PickOutcome::Agreed,
        (true, false) => PickOutcome::LabelOnly,
        (false, true) => PickOutcome::PickOnly,
        (false, false) => PickOutcome::Neither,
    };
    pool.slots
        .iter()
        .map(|slot| slot.positive)
        .enumerate()
        .map(outcome)
        .collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PickCounts {
    pub agreed: usize,
    pub label_only: usize,
    pub pick_only: usize,
    pub neither: usize,
    /// Documents with an unproven verdict; excluded from all shares and totals.
    pub unproven: usize,
}

impl PickCounts {
    pub fn total(&self) -> usize {
        self.labelled() + self.pick_only + self.neither
    }

    pub fn labelled(&self) -> usize {
        self.agreed + self.label_only
    }

    pub fn picked(&self) -> usize {
        self.agreed + self.pick_only
    }

    /// The share of documents on which pick and label agree, or `None` without documents.
    pub fn agreement(&self) -> Option<f64> {
        share(self.agreed + self.neither, self.total())
    }

    pub fn precision(&self) -> Option<f64> {
        share(self.agreed, self.picked())
    }

    /// The share of the labeled documents that were picked, or `None` without labels. The original
    /// paper calls it the agreement rate.
    pub fn recall(&self) -> Option<f64> {
        share(self.agreed, self.labelled())
    }

    /// Documents without a label.
    pub fn unlabelled(&self) -> usize {
        self.pick_only + self.neither
    }

    /// The share of the documents without a label that were picked.
    pub fn false_pick_rate(&self) -> Option<f64> {
        share(self.pick_only, self.unlabelled())
    }

    pub fn pick_rate(&self) -> Option<f64> {
        share(self.picked(), self.total())
    }

    /// Cohen's κ between picks and labels (Cohen 1960): agreement beyond that of independent picks
    /// with the same totals, at most 1. `None` without documents, or if all or none of them are
    /// both picked and labeled.
    pub fn kappa(&self) -> Option<f64> {
        self.kappa_of(self.agreement()?)
    }

    /// κ for a different observed agreement.
    pub(super) fn kappa_of(&self, agreement: f64) -> Option<f64> {
        let n = self.total() as f64;
        let (labelled, picked) = (self.labelled() as f64 / n, self.picked() as f64 / n);
        let expected = labelled * picked + (1.0 - labelled) * (1.0 - picked);
        let kappa = (agreement - expected) / (1.0 - expected);
        kappa.is_finite().then_some(kappa)
    }
}

pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl AddAssign<PickOutcome> for PickCounts {
    fn add_assign(&mut self, outcome: PickOutcome) {
        *match outcome {
            PickOutcome::Agreed => &mut self.agreed,
            PickOutcome::LabelOnly => &mut self.label_only,
            PickOutcome::PickOnly => &mut self.pick_only,
            PickOutcome::Neither => &mut self.neither,
            PickOutcome::Unproven => &mut self.unproven,
        } += 1;
    }
}

impl AddAssign for PickCounts {
    fn add_assign(&mut self, other: Self) {
        self.agreed += other.agreed;
        self.label_only += other.label_only;
        self.pick_only += other.pick_only;
        self.neither += other.neither;
        self.unproven += other.unproven;
    }
}

impl FromIterator<PickOutcome> for PickCounts {
    fn from_iter<T: IntoIterator<Item = PickOutcome>>(outcomes: T) -> Self {
        let mut boxes = Self::default();
        outcomes.into_iter().for_each(|outcome| boxes += outcome);
        boxes
    }
}

/// Outcome counts for some of the documents, per pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PooledCounts {
    /// Over all pools.
    pub boxes: PickCounts,
    by_pool: Vec<PickCounts>,
}

impl PooledCounts {
    /// The share of the documents labeled relevant that were picked.
    pub fn picked_of_labelled(&self) -> Option<Share> {
        self.share(|boxes| (boxes.agreed, boxes.labelled()))
    }

    /// The share of the unlabeled documents that were picked.
    pub fn picked_of_others(&self) -> Option<Share> {
        self.share(|boxes| (boxes.pick_only, boxes.unlabelled()))
    }

    /// The share of all these documents that are labeled.
    pub fn labelled_of_all(&self) -> Option<Share> {
        self.share(|boxes| (boxes.labelled(), boxes.total()))
    }

    /// A share with its interval, clustered by pool because documents of one pool are similar.
    fn share(&self, counts: impl Fn(&PickCounts) -> (usize, usize)) -> Option<Share> {
        let pools = self.by_pool.iter().map(counts);
        Share::of_clusters(pools.map(|(part, of)| (part as f64, of)))
    }
}

impl AddAssign<PickCounts> for PooledCounts {
    fn add_assign(&mut self, pool: PickCounts) {
        self.boxes += pool;
        self.by_pool.push(pool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_pool_that_are_picked_or_not_together_count_as_one() {
        let pool = |agreed, label_only| PickCounts {
            agreed,
            label_only,
            ..PickCounts::default()
        };
        let mut together = PooledCounts::default();
        let mut apart = PooledCounts::default();
        for at in 0..20 {
            together += pool(
                if at % 2 == 0 { 5 } else { 0 },
                if at % 2 == 0 { 0 } else { 5 },
            );
            for _ in 0..5 {
                apart += pool(usize::from(at % 2 == 0), usize::from(at % 2 != 0));
            }
        }
        let width = |counts: &PooledCounts| {
            let interval = counts.picked_of_labelled().unwrap().interval;
            interval.high - interval.low
        };
        assert_eq!(together.boxes, apart.boxes);
        assert!(width(&together) > 2.0 * width(&apart));
    }

    #[test]
    fn kappa_is_cohens() {
        // Cohen's coefficient on a 2 × 2 table with 20, 5, 10, 15: agreement 0.7, expected 0.5.
        let boxes = PickCounts {
            agreed: 20,
            label_only: 5,
            pick_only: 10,
            neither: 15,
            unproven: 0,
        };
        assert!((boxes.kappa().unwrap() - 0.4).abs() < 1e-15);
        assert_eq!(PickCounts::default().kappa(), None);
        assert_eq!(
            PickCounts {
                neither: 3,
                ..PickCounts::default()
            }
            .kappa(),
            None
        );
    }
}
