//! Whether a judge of anchors grades some queries more mildly than others: no more calls to it would cure that.

/// Rulings from which on the check says anything.
pub const ENOUGH_RULINGS: usize = 100;
/// The ratio above which anchors of this judge are worth less than links between queries.
const MOST: f64 = 0.8;

/// How a judge's grades differ from people's, between queries and within them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Standard deviation of the queries' own shifts, in grades; noise within queries is taken off.
    pub between: f64,
    /// Standard deviation within queries, in grades.
    pub within: f64,
    /// Documents that judge and people both graded.
    pub rulings: usize,
    pub queries: usize,
}

impl Drift {
    /// From (query, judge's grade − people's grade): one-way analysis of variance. `None` where no query has two of them, or
    /// there is one query only.
    pub fn of(differences: &[(usize, f64)]) -> Option<Self> {
        let mut sorted = differences.to_vec();
        sorted.sort_by_key(|(query, _)| *query);
        let groups: Vec<&[(usize, f64)]> = sorted.chunk_by(|x, y| x.0 == y.0).collect();
        let (n, k) = (sorted.len() as f64, groups.len() as f64);
        if groups.len() < 2 || sorted.len() <= groups.len() {
            return None;
        }
        let mean_of =
            |group: &[(usize, f64)]| group.iter().map(|(_, x)| x).sum::<f64>() / group.len() as f64;
        let mean = mean_of(&sorted);
        let (mut inside, mut outside, mut squares) = (0.0, 0.0, 0.0);
        for group in &groups {
            let (own, size) = (mean_of(group), group.len() as f64);
            inside += group.iter().map(|(_, x)| (x - own).powi(2)).sum::<f64>();
            outside += size * (own - mean).powi(2);
            squares += size * size;
        }
        let within = inside / (n - k);
        let size = (n - squares / n) / (k - 1.0);
        let between = ((outside / (k - 1.0) - within) / size).max(0.0);
        Some(Self {
            between: between.sqrt(),
            within: within.sqrt(),
            rulings: sorted.len(),
            queries: groups.len(),
        })
    }

    /// Between over within; infinite where nothing differs within queries and something between them.
    pub fn ratio(&self) -> f64 {
        match self.between {
            0.0 => 0.0,
            between => between / self.within,
        }
    }

    /// Whether there are rulings enough to say so.
    pub fn is_known(&self) -> bool {
        self.rulings >= ENOUGH_RULINGS
    }

    /// Whether the judge is known to drift too much.
    pub fn is_too_large(&self) -> bool {
        self.is_known() && self.ratio() > MOST
    }
}
