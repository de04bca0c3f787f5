//! The `overrule` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    overrule::main()
}
