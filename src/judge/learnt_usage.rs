//! Expected tokens and cost of a judge's calls, based on its answers so far.

use super::batch::BatchApi;
use super::call::Usage;
use super::judge_trait::Judge;
use serde::Serialize;

/// Average tokens and cost of a judge's answers so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LearntUsage {
    /// Number of answers that the averages are taken over.
    pub answers: usize,
    /// Average tokens of an answer.
    pub mean: Usage,
    /// Average cost in dollars of the answers outside of batches whose cost is known.
    pub mean_usd: Option<f64>,
}

impl LearntUsage {
    /// Expected tokens and dollars of another call: the tokens at today's price, in a batch at that
    /// of batches. If the price is unknown, such as that of a gateway, the earlier costs count.
    pub fn expect(&self, judge: &dyn Judge, batch: Option<&dyn BatchApi>) -> (Usage, Option<f64>) {
        let usd = match batch {
            Some(batch) => batch.batch_usd_of(&self.mean),
            None => judge.usd_of(&self.mean).or(self.mean_usd),
        };
        (self.mean, usd)
    }
}

/// Sums over answers of a judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageSums {
    all: (u64, Usage),
    charged: (u64, f64),
}

impl UsageSums {
    /// Adds an answer, if its tokens were counted.
    pub fn add(&mut self, usage: Usage, cost_usd: Option<f64>) {
        if usage.input == 0 {
            return;
        }
        self.all.0 += 1;
        add(&mut self.all.1, usage);
        if let Some(usd) = cost_usd {
            self.charged.0 += 1;
            self.charged.1 += usd;
        }
    }

    /// The averages; `None` if there are no answers.
    pub fn learnt(&self) -> Option<LearntUsage> {
        let ((answers, all), (charged, usd)) = (self.all, self.charged);
        (answers > 0).then(|| LearntUsage {
            answers: usize::try_from(answers).unwrap_or(usize::MAX),
            mean: mean(all, answers),
            mean_usd: (charged > 0).then(|| usd / charged as f64),
        })
    }
}

fn add(sum: &mut Usage, more: Usage) {
    sum.input += more.input;
    sum.cached += more.cached;
    sum.output += more.output;
}

fn mean(sum: Usage, count: u64) -> Usage {
    let of = |tokens: u64| (tokens as f64 / count as f64).round() as u64;
    Usage {
        input: of(sum.input),
        cached: of(sum.cached),
        output: of(sum.output),
        thinking: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_without_counts_say_nothing() {
        let mut sums = UsageSums::default();
        sums.add(Usage::default(), Some(0.5));
        assert_eq!(sums.learnt(), None);
        let usage = |input, output| Usage {
            input,
            output,
            ..Usage::default()
        };
        sums.add(usage(1000, 2000), Some(0.01));
        sums.add(usage(3000, 3000), None);
        let learnt = sums.learnt().unwrap();
        assert_eq!((learnt.answers, learnt.mean), (2, usage(2000, 2500)));
        assert_eq!(learnt.mean_usd, Some(0.01));
    }
}
