//! Builds without the feature `remote`, which cannot share work.

/// Why a build does not share work, and the remedy.
pub const WITHOUT_SERVER: &str = "this overrule was built without PostgreSQL, through which work is \
                                  shared; use a released binary, or build it with `cargo install \
                                  --path . --features remote`";
