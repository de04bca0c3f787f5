//! What a judge's calls are expected to take, learnt from the answers that it has given.

use super::batch::BatchApi;
use super::call::Usage;
use super::judge_trait::Judge;
use serde::Serialize;

/// What a judge's answers so far took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LearntUsage {
    /// Answers that were counted.
    pub answers: usize,
    /// Tokens of one of them on average.
    pub mean: Usage,
    /// Tokens and dollars on average, of those answers whose cost is known and that came outside of
    /// batches.
    #[serde(skip)]
    pub charged: Option<(Usage, f64)>,
}

impl LearntUsage {
    /// What a further call is expected to take if its input has that many tokens: it is answered
    /// like those before. Whatever made them dearer or cheaper than their tokens say goes on.
    pub fn expect(
        &self,
        judge: &dyn Judge,
        input: u64,
        batch: Option<&dyn BatchApi>,
    ) -> (Usage, Option<f64>) {
        let share = self.mean.cached as f64 / self.mean.input.max(1) as f64;
        let usage = Usage {
            input,
            cached: (share * input as f64).round() as u64,
            output: self.mean.output,
            thinking: 0,
        };
        if let Some(batch) = batch {
            return (usage, batch.batch_usd_of(&usage));
        }
        let usd = match (judge.usd_of(&usage), self.charged) {
            (Some(usd), Some((tokens, charged))) => {
                let by_tokens = judge.usd_of(&tokens).filter(|usd| *usd > 0.0);
                Some(usd * by_tokens.map_or(1.0, |by_tokens| charged / by_tokens))
            }
            (usd, charged) => usd.or(charged.map(|(_, usd)| usd)),
        };
        (usage, usd)
    }
}

/// Sums over answers of a judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageSums {
    all: (u64, Usage),
    charged: (u64, Usage, f64),
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
            add(&mut self.charged.1, usage);
            self.charged.2 += usd;
        }
    }

    /// What one of the answers took; `None` if there is none.
    pub fn learnt(&self) -> Option<LearntUsage> {
        let ((answers, all), (charged, tokens, usd)) = (self.all, self.charged);
        (answers > 0).then(|| LearntUsage {
            answers: usize::try_from(answers).unwrap_or(usize::MAX),
            mean: mean(all, answers),
            charged: (charged > 0).then(|| (mean(tokens, charged), usd / charged as f64)),
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
        assert_eq!(learnt.charged, Some((usage(1000, 2000), 0.01)));
    }
}
