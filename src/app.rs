//! Use cases, one folder each, called by the commands and by the screens alike: they read and write the project, call
//! services, and know nothing of terminals. Data in, data out, progress by callback.

pub mod adjudication;
pub mod annotate;
pub mod battles;
pub mod choose_judges;
pub mod embedded_reasoning;
pub mod embedder_check;
pub mod embeddings;
pub mod error;
pub mod evaluate;
pub mod export;
pub mod fit;
pub mod gold;
pub mod import;
pub mod init;
pub mod input_files;
pub mod intervals;
pub mod judge_check;
pub mod judge_report;
pub mod log;
pub mod manual;
pub mod merge;
pub mod methods;
pub mod output_file;
pub mod pick;
pub mod pool;
pub mod project;
pub mod rerank;
pub mod reranker_check;
pub mod review;
pub mod run_lock;
pub mod settings;
pub mod simulate;
pub mod status;
pub mod truth;
pub mod wording;
