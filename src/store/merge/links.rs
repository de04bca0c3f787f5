//! Links and their answers in another file.

use super::Merger;
use crate::store::Result;

impl Merger<'_> {
    /// Takes over links and what judges answered to them: they name queries and documents, so that nothing is matched.
    pub(crate) fn links(&mut self) -> Result<()> {
        for link in self.other.links()? {
            self.db.add_link(&link)?;
            for answer in &link.answers {
                self.merged.link_answers += self.db.add_link_answer(&link.uid, answer)?;
            }
        }
        Ok(())
    }
}
