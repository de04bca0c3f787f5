//! The PostgreSQL server: its address, the connection, and the jobs that it keeps.

mod address;
mod error;
mod jobs;
mod leases;
mod notices;
mod passwords;
mod progress;
mod roles;
mod rounds;
mod schema;
mod server;
mod team;
#[cfg(test)]
mod tests;
mod unit;
mod work;

pub use address::Address;
pub use error::ServerError;
pub use jobs::{Job, JobStatus, JoinedWorker, NewUnit, Seat, WorkerStatus};
pub use leases::{Lease, Lessee};
pub use progress::JobRest;
pub use server::Server;
pub use team::{Judgment, Participant, SharedProject, State, StateVersion};
pub use unit::Unit;
pub use work::{Cursor, LEDGER_UNIT, StoredPiece, WorkerReport};
