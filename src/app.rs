//! Use cases, one folder each, called by the commands and by the screens alike: they read and write the project, call
//! services, and know nothing of terminals.

pub mod adjudication;
pub mod annotate;
pub mod judge_report;
pub mod log;
pub mod manual;
pub mod merge;
pub mod pick;
pub mod pool;
pub mod review;
pub mod run_lock;
