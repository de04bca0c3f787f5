//! The configuration of judges for a job.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::store::Store;
use crate::tui::job::JobContext;

/// Works with the configuration of the open project, using only permissions that were given.
pub(super) fn configured<T>(
    context: &JobContext,
    work: impl FnOnce(&Store, &JudgeConfiguration<'_>) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let (store, config) = (context.store(), &context.options().config);
    let configuration = JudgeConfiguration {
        project: store.path(),
        config,
        insecure_http: false,
        consent: &config.permissions,
    };
    work(&store, &configuration)
}
