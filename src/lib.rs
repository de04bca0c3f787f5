//! Overrule: a workbench for people who measure search.
//!
//! An ensemble of judges battles the candidate documents of a query pair by pair, a Bradley–Terry
//! fit turns the battles into zELO scores, and a person checks and overrules them. The crate is
//! layered; dependencies point down only:
//!
//! ```text
//! cli, tui        commands and screens
//! app             use cases, one folder each, called by both
//! client          the one caller of paid services: limits, retries, budget, the ledger of calls
//! store           the SQLite project: rows only
//! embedding       texts to vectors, over the judges' providers or a model on this machine
//! judge           prompts, wire formats and replies of judges
//! config          overrule.toml
//! formats         files in and out
//! domain          the nouns and the pure science: no I/O, no clock, no async
//! ```
//!
//! `features` has a folder for everything that not every project needs (duels, students, reranking
//! methods, one scale, simulations), in the same layers. The core reaches them through `registry`.
#![cfg_attr(
    feature = "internals",
    allow(missing_docs, reason = "what the benches see is no interface")
)]

mod app;
mod cli;
mod client;
mod config;
mod domain;
mod embedding;
mod features;
mod formats;
mod judge;
mod registry;
mod store;
mod tui;

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod suites;

pub use cli::main;

/// Functions for the benches. Behind a feature, so that the compiler sees what the command itself
/// does not need.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::domain::battle::{Battle, BattleId, Pair};
    pub use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
    pub use crate::domain::ranking::{
        BattleRecord, DocumentOrder, QueryRows, RankingSettings, View,
    };
    pub use crate::domain::rating::{
        Observation, RatingModel, RatingOptions, covariance, dispersion, fit, rank_intervals,
        structure,
    };
    pub use crate::domain::sampling::{SeededRng, plan};
    pub use crate::domain::verdict::{AnnotatorVerdicts, Decision, Verdict};
    pub use crate::domain::vote::{JudgeId, Margin, Vote};
    #[cfg(feature = "remote")]
    pub mod remote {
        pub use crate::features::remote::client::{Address, NewUnit, Seat, Server, WorkerReport};
    }
    pub use crate::judge::JudgeSpec;
    pub use crate::registry::{AllowedPairs, SampleQuery, SampleRequest, SampleSplit, sample};
    pub use crate::store::corpus::{DocumentInfo, QueryInfo, QueryKey};
    pub use crate::store::{Store, StoreError};
    pub use crate::tui::drawing::Caches;
    pub use crate::tui::effects::answer;
    pub use crate::tui::message::{Effect, Msg};
    pub use crate::tui::model::matrix::Layer;
    pub use crate::tui::model::open_query::OpenQuery;
    pub use crate::tui::model::{Model, TuiOptions};
    pub use crate::tui::screens::Screen;
    pub use crate::tui::theme::{ColorDepth, Ramp, Theme};
    pub use crate::tui::update::update;
    pub use crate::tui::view::view;
}
