//! Starts an acceptance, reports what it accepts, and offers its battles to people.

mod frame;
mod log;
mod offer;
mod queue;
mod report;

pub use frame::start;
pub use log::log_entries;
pub use offer::{AcceptanceOffer, acceptance_offer};
pub use queue::{AcceptedBattles, OfferedBattle, accepted_battles, offered};
pub use report::{AcceptReport, AcceptState, read_report};
