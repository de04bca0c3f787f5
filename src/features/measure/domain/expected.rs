//! The expected value of a metric when the relevance of documents is uncertain.
//!
//! Relevance is binary: Y_d ~ Bernoulli(p_d), independent. Expectations are exact, by dynamic
//! programming over the number of relevant documents (science.md § Measured differences).

use crate::domain::metrics::{Measure, Metric};

/// A metric whose expected value can be computed exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedMetric {
    kind: Kind,
    cutoff: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Precision,
    Ndcg,
    Recall,
    Map,
    Mrr,
}

impl ExpectedMetric {
    /// `None` for a metric without a cutoff, or with grades or unjudged documents in its
    /// definition.
    pub fn of(metric: Metric) -> Option<Self> {
        let kind = match metric.measure() {
            Measure::Precision => Kind::Precision,
            Measure::Ndcg => Kind::Ndcg,
            Measure::Recall => Kind::Recall,
            Measure::Map => Kind::Map,
            Measure::Mrr => Kind::Mrr,
            _ => return None,
        };
        Some(Self {
            kind,
            cutoff: metric.cutoff()?,
        })
    }

    pub fn cutoff(self) -> usize {
        self.cutoff
    }

    /// Whether the metric is a sum over documents. The estimate of its mean is then unbiased;
    /// otherwise it has an error of second order in the errors of `p`.
    pub fn is_linear(self) -> bool {
        self.kind == Kind::Precision
    }

    /// E m(Y) for one query.
    ///
    /// `relevance` holds the probability p_d of each pool document, in 0..=1, and `ranks` its rank
    /// from 1; `None` if it was not retrieved. A query without relevant documents counts as 0.
    pub fn mean(self, relevance: &[f64], ranks: &[Option<usize>]) -> f64 {
        let order = self.order(ranks);
        self.mean_in_order(relevance, ranks, &order)
    }

    /// g_d = E[m | Y_d = 1] − E[m | Y_d = 0] for each document: the expected impact of its ruling.
    pub fn gradient(self, relevance: &[f64], ranks: &[Option<usize>]) -> Vec<f64> {
        if self.is_linear() {
            let share = 1.0 / self.cutoff as f64;
            let gain = |rank: &Option<usize>| self.counted(*rank).map_or(0.0, |_| share);
            return ranks.iter().map(gain).collect();
        }
        let order = self.order(ranks);
        let mut relevance = relevance.to_vec();
        (0..relevance.len())
            .map(|at| {
                let known = relevance[at];
                let [with, without] = [1.0, 0.0].map(|given| {
                    relevance[at] = given;
                    self.mean_in_order(&relevance, ranks, &order)
                });
                relevance[at] = known;
                with - without
            })
            .collect()
    }

    /// The rank, if it is within the cutoff.
    fn counted(self, rank: Option<usize>) -> Option<usize> {
        rank.filter(|rank| *rank <= self.cutoff)
    }

    /// Indexes of the documents by rank, those not within the cutoff last.
    fn order(self, ranks: &[Option<usize>]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..ranks.len()).collect();
        order.sort_by_key(|at| self.counted(ranks[*at]).unwrap_or(usize::MAX));
        order
    }

    fn mean_in_order(self, relevance: &[f64], ranks: &[Option<usize>], order: &[usize]) -> f64 {
        let top = || {
            order
                .iter()
                .map_while(|at| Some((self.counted(ranks[*at])?, relevance[*at])))
        };
        match self.kind {
            Kind::Precision => top().map(|(_, p)| p).sum::<f64>() / self.cutoff as f64,
            Kind::Mrr => {
                let mut none_above = 1.0;
                let mut mean = 0.0;
                for (rank, p) in top() {
                    mean += none_above * p / rank as f64;
                    none_above *= 1.0 - p;
                }
                mean
            }
            Kind::Ndcg | Kind::Recall | Kind::Map => self.ratio(relevance, ranks, order),
        }
    }

    /// The expectation of a sum over relevant documents, divided by its largest possible value.
    ///
    /// After some documents, `chance[r]` is the probability that r of them are relevant, and
    /// `sum[r]` is E[sum; r are relevant].
    fn ratio(self, relevance: &[f64], ranks: &[Option<usize>], order: &[usize]) -> f64 {
        let mut chance = vec![0.0; order.len() + 1];
        let mut sum = vec![0.0; order.len() + 1];
        chance[0] = 1.0;
        for (done, at) in order.iter().enumerate() {
            let (p, rank) = (relevance[*at], self.counted(ranks[*at]));
            for r in (0..=done + 1).rev() {
                let (mut hit, mut hits_sum) = (0.0, 0.0);
                if r > 0 {
                    let gain = rank.map_or(0.0, |rank| self.gain(r, rank));
                    hit = p * chance[r - 1];
                    hits_sum = p * (sum[r - 1] + chance[r - 1] * gain);
                }
                chance[r] = chance[r] * (1.0 - p) + hit;
                sum[r] = sum[r] * (1.0 - p) + hits_sum;
            }
        }
        let mut ideal = 0.0;
        let mut mean = 0.0;
        for (r, sum) in sum.iter().enumerate().skip(1) {
            match self.kind {
                Kind::Ndcg if r <= self.cutoff => ideal += discount(r),
                Kind::Ndcg => {}
                _ => ideal = r as f64,
            }
            mean += sum / ideal;
        }
        mean
    }

    /// What the `hits`-th relevant document adds at this rank.
    fn gain(self, hits: usize, rank: usize) -> f64 {
        match self.kind {
            Kind::Ndcg => discount(rank),
            Kind::Map => hits as f64 / rank as f64,
            Kind::Recall | Kind::Precision | Kind::Mrr => 1.0,
        }
    }
}

/// 1/log2(rank + 1), with ranks from 1.
pub(super) fn discount(rank: usize) -> f64 {
    1.0 / (rank as f64 + 1.0).log2()
}
