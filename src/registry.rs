//! The features of this build: what each adds to the core. No other file of the core names a
//! feature.

pub use crate::features::scale::app::project_scale;
