//! The names of the judges of imported lists. A judge may have been renamed in one of the projects.

use crate::features::lists::app::list_line::ListLine;
use crate::features::lists::store::StoredList;
use crate::judge::JudgeSpec;
use crate::store::{Db, Result};
use std::collections::{BTreeSet, HashMap};

/// The names that judges have in this project.
pub(super) struct JudgeNames {
    /// Of the judges of its lists, by identity. After a rename there are two if a list was asked
    /// under both.
    of_lists: HashMap<[u8; 32], BTreeSet<String>>,
    voters: Vec<JudgeSpec>,
}

impl JudgeNames {
    pub(super) fn read(db: &Db) -> Result<Self> {
        let mut of_lists: HashMap<_, BTreeSet<String>> = HashMap::new();
        for list in db.list_calls(None)? {
            of_lists
                .entry(list.identity)
                .or_default()
                .insert(list.judge);
        }
        let voters = db.all_judges()?.into_iter();
        Ok(Self {
            of_lists,
            voters: voters.map(|(_, spec)| spec).collect(),
        })
    }

    /// The name that the judge of a line has here: that of its lists, or else that of a voter with
    /// one of the names in the line, or of the only voter with its model and parameters. A judge
    /// that is not known keeps its name.
    fn name_of<'a>(&'a self, line: &'a ListLine) -> &'a str {
        let is_voter = |name: &&String| self.voters.iter().any(|of| of.name == **name);
        let of_lists = self.of_lists.get(&line.identity.0);
        let of_lists =
            of_lists.and_then(|names| names.iter().find(is_voter).or_else(|| names.first()));
        of_lists
            .or_else(|| [&line.judge, &line.spec.name].into_iter().find(is_voter))
            .or_else(|| self.only_voter_like(&line.spec))
            .unwrap_or(&line.judge)
    }

    fn only_voter_like(&self, spec: &JudgeSpec) -> Option<&String> {
        let like = self.voters.iter().filter(|of| {
            (&of.provider, &of.model, &of.params) == (&spec.provider, &spec.model, &spec.params)
        });
        let mut names: BTreeSet<&String> = like.map(|of| &of.name).collect();
        let first = names.pop_first();
        first.filter(|_| names.is_empty())
    }

    /// The same name, unless the judge has the same list under it with another identity: both would
    /// count. The list then gets an earlier name, as after a rename.
    pub(super) fn free_name<'a>(
        &'a self,
        db: &Db,
        line: &'a ListLine,
        list: &StoredList,
    ) -> Result<&'a str> {
        for name in [self.name_of(line), &line.judge] {
            if !db.has_list_of_other_identity(&list.of_judge(name))? {
                return Ok(name);
            }
        }
        Ok(&line.spec.name)
    }
}
