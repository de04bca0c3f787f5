//! A student of the ensemble: its training data, its predictions for judged pairs, and their
//! reliability.

mod cards;
pub mod distilled;
pub mod export;
mod found;
mod import;
mod judged_pairs;
mod known_texts;
pub mod naming;
mod other_scores;
mod pictures;
mod prediction_rows;
mod predictions;
mod report;
pub mod sample;
mod scratch;
mod status;
mod stored;
pub mod train;
mod training_pools;
mod vectors;

pub use cards::{StudentCard, student_cards};
pub use found::{StudentsFound, students_found};
pub use import::{check_name, import_student, keep_trained};
pub use prediction_rows::PredictionExport;
pub use report::{ReportedBattle, StepReport, StudentReport, report_file, report_student};
pub use status::status;
pub use stored::known_student;
pub use vectors::KnownVectors;
