//! The capital of bets on the mean of bounded numbers (Waudby-Smith & Ramdas 2024). It is an
//! e-value: if the mean is as supposed, it exceeds 1/α with probability at most α, however often it
//! is looked at (Ville 1939).

/// The shares of the capital that are bet, as tenths of the largest possible share.
const BETS: usize = 9;

/// The average of Π (1 + λ x) over λ = .1, .2, … .9, for numbers x that are at least −1 and, under
/// the hypothesis, 0 or less on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Capital([f64; BETS]);

impl Default for Capital {
    fn default() -> Self {
        Self([1.0; BETS])
    }
}

impl Capital {
    /// Bets on the next number, `distance` / `scale`.
    pub fn bet(&mut self, distance: f64, scale: f64) {
        for (at, capital) in self.0.iter_mut().enumerate() {
            let share = (at + 1) as f64 / 10.0;
            *capital *= 1.0 + share / scale * distance;
        }
    }

    pub fn value(&self) -> f64 {
        self.0.iter().sum::<f64>() / BETS as f64
    }
}
