//! Links and their answers in another file.

use super::Merger;
use crate::store::Result;

impl Merger<'_> {
    /// Takes over links and what judges answered to them: they name queries and documents, so that nothing is matched.
    pub(crate) fn links(&mut self) -> Result<()> {
        let known: usize = self.db.links()?.iter().map(|link| link.answers.len()).sum();
        for link in self.other.links()? {
            self.db.add_link(&link)?;
            for (judge, second) in &link.answers {
                self.db
                    .add_link_answer(&link.uid, judge, *second, link.created_ms)?;
            }
        }
        let now: usize = self.db.links()?.iter().map(|link| link.answers.len()).sum();
        self.merged.link_answers = now - known;
        Ok(())
    }
}
