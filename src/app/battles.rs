//! A query's battles with all votes on them and people's verdicts on their pairs.

use crate::app::embedded_reasoning::EmbeddedReasoning;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::corpus::DocumentInfo;
use crate::store::vote_details::VoteDetail;
use crate::store::{Db, Result};

pub struct QueryBattles {
    pub documents: Vec<DocumentInfo>,
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    pub view: View,
    /// Indices into the view's battles, with the judges' votes.
    pub battles: Vec<(usize, Vec<VoteDetail>)>,
    pub said: PairVerdicts,
    /// Pairs with a verdict but without a battle.
    pub unfought: Vec<Pair>,
}

impl QueryBattles {
    /// Loads all battles of a query, or those of one document.
    pub fn load(db: &Db, query: &str, document: Option<&str>) -> Result<Self> {
        let key = db.find_query(query)?;
        let document = document.map(|id| db.find_document(key, id)).transpose()?;
        let view = db.view(key)?;
        let judges = db.judges_of(key)?;
        let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
        let wanted = match document {
            Some(document) => view.battles_with(document),
            None => (0..view.battles.len()).collect(),
        };
        let mut reasoning = EmbeddedReasoning::default();
        let mut votes = |index: usize| {
            let battle = view.rows().battles[index].battle.id;
            reasoning.battle_votes(db, key, battle, &ids)
        };
        let battles = wanted
            .into_iter()
            .map(|index| Ok((index, votes(index)?)))
            .collect::<Result<_>>()?;
        let said = PairVerdicts::load(db, key)?;
        let unfought = said
            .pairs()
            .into_iter()
            .filter(|pair| view.battles_of(*pair).is_empty())
            .filter(|pair| document.is_none_or(|document| pair.other(document).is_some()))
            .collect();
        Ok(Self {
            documents: db.documents(key)?,
            judges,
            view,
            battles,
            said,
            unfought,
        })
    }

    pub fn judge(&self, id: JudgeId) -> Option<&JudgeSpec> {
        self.judges
            .iter()
            .find(|(judge, _)| *judge == id)
            .map(|(_, spec)| spec)
    }
}
