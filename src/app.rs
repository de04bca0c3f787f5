//! Use cases: what the command line and the workbench both do, free of terminals.

pub mod manual;
