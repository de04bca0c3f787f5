//! Links of the other file and their answers.

use super::Merger;
use crate::store::Result;

impl Merger<'_> {
    /// Copies links and the judges' answers. They refer to queries and documents by name, so
    /// nothing needs matching.
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
