//! Estimates the prior and the dispersion of ensembles from their battles, at the end of a run, an
//! import or a merge. Only fits are needed for that: intervals, which cost a hundred times as much,
//! are computed when someone looks at them.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::refresh::WalkEnd;
use super::{Db, Result, Store};
use crate::domain::ranking;
use crate::domain::rating::Dispersion;

/// Number of battles from which the dispersion is estimated (science.md § Dispersion).
pub const ENOUGH_BATTLES: usize = 2_000;

/// The setting that says that votes have arrived since the estimates were made. Its value changes
/// with each arrival.
const DUE: &str = "estimates-due";

impl Db {
    /// Marks the estimates as outdated, in the transaction that changes the votes, so that they are
    /// made when the project is next opened if this process is killed first.
    pub fn need_estimates(&self) -> Result<()> {
        self.change(
            "INSERT INTO setting (name, value) VALUES (?1, '1')
             ON CONFLICT (name) DO UPDATE SET value = value + 1",
            [DUE],
        )?;
        Ok(())
    }

    /// Whether an import or a merge ended before it made the estimates.
    pub(super) fn owes_estimates(&self) -> Result<bool> {
        Ok(self.remembered(DUE)?.is_some())
    }

    /// The contribution of a query to the dispersion of its ensemble.
    fn dispersion(&self, query: QueryKey) -> Result<Dispersion> {
        let found = match self.kept_summary(query)? {
            Some(summary) => summary.dispersion,
            None => {
                let (rows, settings) = self.view_inputs(query)?;
                ranking::dispersion(&rows, &settings)
            }
        };
        Ok(found.unwrap_or_default())
    }

    /// Stores the dispersion of an ensemble's battles, if there are enough of them. Returns whether
    /// it has changed; the numbers of the ensemble's queries are then outdated.
    fn keep_phi(&self, ensemble: EnsembleId, pooled: Dispersion) -> Result<bool> {
        let Some(phi) = pooled.phi().filter(|_| pooled.battles >= ENOUGH_BATTLES) else {
            return Ok(false);
        };
        let name = format!("phi:{}", ensemble.0);
        let value = serde_json::json!([phi, pooled.battles]).to_string();
        let changed = self.change(
            "INSERT INTO setting (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value",
            [name, value],
        )?;
        if changed > 0 {
            self.touch_ensemble(ensemble)?;
        }
        Ok(changed > 0)
    }
}

impl Store {
    /// Makes the estimates of all ensembles if votes have arrived since they were made. Blocks.
    pub fn update_estimates(&self) -> Result<()> {
        let Some(due) = self.read_blocking(|db| db.remembered(DUE))? else {
            return Ok(());
        };
        for ensemble in self.read_blocking(|db| db.ensembles_in_force())? {
            self.estimate(ensemble, |_, _| true)?;
        }
        self.write_blocking(move |db| {
            db.change(
                "DELETE FROM setting WHERE name = ?1 AND value = ?2",
                [DUE, &due],
            )?;
            Ok(())
        })
    }

    /// Estimates the prior of an ensemble, then the dispersion of its battles and the tastes of its
    /// judges, unless nothing has changed since they were estimated. The prior and tastes affect the
    /// scores of every query, and all affect its intervals. `told` receives the number of queries done and the number of all, and
    /// returns whether to continue. Blocks.
    pub fn estimate(
        &self,
        ensemble: EnsembleId,
        mut told: impl FnMut(usize, usize) -> bool,
    ) -> Result<()> {
        let basis = self.read_blocking(move |db| {
            let basis = db.estimate_basis(ensemble)?;
            Ok((!db.is_estimated_from(ensemble, &basis)?).then_some(basis))
        })?;
        let Some(basis) = basis else {
            return Ok(());
        };
        let learned = self.learn_prior(ensemble)?;
        let other_prior = self.write_blocking(move |db| db.keep_prior(ensemble, learned))?;
        let queries = self.read_blocking(move |db| db.queries_of(ensemble))?;
        let (mut pooled, mut done) = (Dispersion::default(), 0);
        let walk = self.read_each(&queries, Db::dispersion, |_, of_query| {
            pooled = pooled.pooled(of_query);
            done += 1;
            if told(done, queries.len()) {
                Ok(())
            } else {
                Err(WalkEnd::Enough)
            }
        });
        match walk {
            Ok(()) => {}
            Err(WalkEnd::Enough) => return Ok(()),
            Err(WalkEnd::Error(error)) => return Err(error),
        }
        let other_phi = self.write_blocking(move |db| db.keep_phi(ensemble, pooled))?;
        let taste = self.read_blocking(move |db| db.learn_taste(ensemble))?;
        self.write_blocking(move |db| {
            let other_taste = db.keep_taste(ensemble, taste)?;
            let changes = [other_prior, other_phi, other_taste];
            db.estimated_from(ensemble, basis, changes.map(i64::from).iter().sum())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::import::ai_scores;
    use crate::domain::rating;

    const BATTLES: &[u8] = include_bytes!("../../data/zbench_example.ai_scores.json");

    fn import(db: &mut Db) -> Result<()> {
        ai_scores::add(db, [BATTLES, BATTLES], "battles", "battles").map(drop)
    }

    #[test]
    fn the_dispersion_of_rows_is_that_of_their_view_bit_for_bit() {
        let mut db = Db::scratch().unwrap();
        import(&mut db).unwrap();
        let queries = db.queries().unwrap();
        assert!(!queries.is_empty());
        for info in queries {
            let (rows, settings) = db.view_inputs(info.key).unwrap();
            let of_view: Option<rating::Dispersion> = db.view(info.key).unwrap().dispersion();
            assert!(of_view.is_some());
            assert_eq!(ranking::dispersion(&rows, &settings), of_view);
        }
    }

    #[test]
    fn a_project_whose_import_was_killed_before_its_estimates_makes_them_when_it_opens() {
        let folder = tempfile::tempdir().unwrap();
        let settings = |store: &Store| {
            let read = |db: &mut Db| {
                let names = "SELECT name, value FROM setting ORDER BY name";
                let all: Vec<(String, String)> = db.all(names, [], |row| row.try_into())?;
                Ok(all)
            };
            store.read_blocking(read).unwrap()
        };
        let whole = Store::open(&folder.path().join("whole.db")).unwrap();
        whole.write_blocking(import).unwrap();
        whole.update_estimates().unwrap();
        let ensembles = whole.read_blocking(|db| db.ensembles_in_force()).unwrap();
        assert!(!ensembles.is_empty());
        for ensemble in ensembles {
            let one_by_one = whole.read_blocking(move |db| db.learn_prior(ensemble));
            assert_eq!(whole.learn_prior(ensemble).unwrap(), one_by_one.unwrap());
        }
        let path = folder.path().join("killed.db");
        let killed = Store::open(&path).unwrap();
        killed.write_blocking(import).unwrap();
        assert_ne!(settings(&killed), settings(&whole));
        drop(killed);
        assert_eq!(settings(&Store::open(&path).unwrap()), settings(&whole));
    }
}
