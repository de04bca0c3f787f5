//! Statistics on the people of a project.

mod team_agreement;

pub use team_agreement::{TeamAgreement, team_agreement};
