//! Random numbers that are identical on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

#[derive(Clone, Debug)]
pub struct SeededRng(ChaCha8Rng);

impl SeededRng {
    /// Creates the generator for `purpose`, for example the names of a query and of a judge.
    /// Different purposes are independent.
    pub fn new(seed: u64, purpose: &[&str]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for part in purpose {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(ChaCha8Rng::from_seed(hash.finalize().into()))
    }

    /// A uniform integer in `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound < 2 {
            return 0;
        }
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let draw = self.0.next_u64();
            if draw < fair {
                return (draw % bound) as usize;
            }
        }
    }

    /// Fills `places` with uniform integers in `0..bound`: the same as repeated calls of
    /// [`SeededRng::below`], but without a division for each.
    pub fn fill_below(&mut self, bound: usize, places: &mut [usize]) {
        let bound = bound as u64;
        if bound < 2 {
            places.fill(0);
            return;
        }
        let fair = u64::MAX - u64::MAX % bound;
        // draw / bound is draw · share / 2^64, or up to two more.
        let share = u128::from(u64::MAX / bound);
        for place in places {
            let mut draw = self.0.next_u64();
            while draw >= fair {
                draw = self.0.next_u64();
            }
            let whole = ((u128::from(draw) * share) >> 64) as u64;
            let mut rest = draw - whole * bound;
            while rest >= bound {
                rest -= bound;
            }
            *place = rest as usize;
        }
    }

    /// A uniform number in the open interval (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A standard normal number (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_at_once_are_those_drawn_one_by_one() {
        for bound in [0, 1, 2, 3, 7, 1_000, 1 << 32, (1 << 63) + 1, usize::MAX] {
            let (mut one, mut many) = (SeededRng::new(5, &["fill"]), SeededRng::new(5, &["fill"]));
            let mut places = [7; 500];
            many.fill_below(bound, &mut places);
            for place in places {
                assert_eq!(place, one.below(bound), "{bound}");
            }
            assert_eq!(many.below(1_000), one.below(1_000));
        }
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut rng = SeededRng::new(7, &["normal"]);
        let draws: Vec<f64> = (0..40_000).map(|_| rng.normal()).collect();
        let moment = |power| draws.iter().map(|z| z.powi(power)).sum::<f64>() / 40_000.0;
        assert!(moment(1).abs() < 0.015, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.03, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.2, "{}", moment(4));
    }
}
