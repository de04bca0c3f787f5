//! Questions asked outside a run, on the run's screen.

use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// Their progress, or how the last ones in this session ended; `None` if there were none.
pub(crate) fn line(model: &Model, theme: &Theme) -> Option<Line<'static>> {
    let words = match (&model.questions.going, &model.questions.ended) {
        (Some((set, progress)), _) => {
            let mut parts = vec![format!(
                "{}: {} of {}",
                set.describe(),
                text::count(progress.done),
                text::counted(progress.all, set.unit())
            )];
            for (count, what) in [(progress.invalid, "unusable"), (progress.failed, "failed")] {
                parts.extend((count > 0).then(|| format!("{} {what}", text::count(count))));
            }
            parts.join(" · ")
        }
        (None, Some(ended)) => ended.clone(),
        (None, None) => return None,
    };
    let label = Span::styled(format!("{:<10}", "asked"), theme.muted());
    Some(Line::from(vec![label, Span::raw(words)]))
}
