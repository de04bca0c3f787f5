//! List calls: planning, asking, and reading what was answered.

mod answered;
mod ask;
mod batches;
mod counted_lists;
mod counting;
mod export;
mod identities;
mod import;
mod list_judge;
mod list_line;
mod log;
mod mix;
mod overview;
mod qualify;
mod query_lists;
mod ranking;
mod stored_rankings;

pub use answered::{AnsweredList, ListOutcome, answered_lists};
pub use ask::{ListEstimate, ListRun, ListWish, prepare_lists};
pub use batches::{WaitingLists, keep_list_call, list_call_record, listed_documents};
pub use counting::{
    CountingOffer, counted_answers, counted_taste, is_counted, offer_counting, set_counting,
};
pub use export::ListExport;
pub use import::import_lists;
pub use log::log_entries;
pub use mix::{PairMix, PairPrice};
pub use overview::{JudgeLists, overview};
pub use qualify::{JudgeQualification, ProbePlan};
pub use query_lists::{ListCounting, QueryList, query_lists};
pub use ranking::{ListRanking, RankedDocument, list_ranking};
pub use stored_rankings::{RankingUse, RankingsWish, StoredRankings};
