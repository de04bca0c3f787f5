//! Filtering the rows of a list.

use crate::tui::model::Model;
use crate::tui::screens::behavior::Find;

/// Filters the rows by these words. The selected row stays selected if it matches; otherwise, the
/// first one that does is selected.
pub(super) fn set(model: &mut Model, words: String) {
    let Find::Rows { list, shown, .. } = model.behavior().find() else {
        return;
    };
    let selected = shown(model).get(*list(model).0).copied();
    *list(model).1 = words;
    let place = shown(model).iter().position(|row| Some(*row) == selected);
    *list(model).0 = place.unwrap_or(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::QueryId;
    use crate::store::corpus::{QueryInfo, QueryKey};
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::message::Msg;
    use crate::tui::model::queries::QuerySort;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::{key, typed};
    use crate::tui::update::update;
    use crossterm::event::KeyCode;
    use std::time::Duration;

    fn listed() -> Model {
        let mut model = model(Screen::QUERIES);
        model.stack = vec![Screen::QUERIES];
        let texts = ["sleep one", "diet", "sleep two", "drugs", "sleep three"];
        let rows = texts.iter().zip(0..).map(|(text, key)| {
            let info = QueryInfo {
                key: QueryKey(key),
                id: QueryId::new(format!("q{key}")),
                text: (*text).to_owned(),
                documents: 2,
            };
            (info, Some(QuerySummary::default()))
        });
        model.queries.set_rows(rows.collect());
        model
    }

    fn press(model: &mut Model, keys: impl IntoIterator<Item = crossterm::event::KeyEvent>) {
        for key in keys {
            let now = model.now + Duration::from_secs(1);
            update(model, Msg::Key(key), now);
        }
    }

    fn selected(model: &Model) -> i64 {
        model.queries.selected().unwrap().0.key.0
    }

    #[test]
    fn a_filter_keeps_the_selected_row_and_so_does_its_end() {
        let mut model = listed();
        model.queries.cursor = 2;
        press(&mut model, typed("/sleep"));
        assert_eq!((model.queries.cursor, selected(&model)), (1, 2));
        press(&mut model, [key(KeyCode::Enter), key(KeyCode::Char('j'))]);
        assert_eq!(selected(&model), 4);
        press(&mut model, [key(KeyCode::Esc)]);
        assert_eq!((model.queries.filter.as_str(), selected(&model)), ("", 4));
        press(&mut model, typed("/diet"));
        assert_eq!(selected(&model), 1, "the first one that matches");
        press(&mut model, [key(KeyCode::Esc)]);
        assert_eq!((model.queries.filter.as_str(), selected(&model)), ("", 1));
    }

    #[test]
    fn the_cursor_follows_a_query_whose_numbers_change() {
        let mut model = listed();
        model.queries.sort = QuerySort::Verdicts;
        model.queries.cursor = 3;
        let verdicts = |verdicts| QuerySummary {
            verdicts,
            ..QuerySummary::default()
        };
        model.queries.put_summary(QueryKey(3), None);
        assert_eq!((model.queries.cursor, selected(&model)), (4, 3));
        model.queries.put_summary(QueryKey(3), Some(verdicts(0)));
        assert_eq!((model.queries.cursor, selected(&model)), (3, 3));
        model.queries.put_summary(QueryKey(0), Some(verdicts(9)));
        assert_eq!((model.queries.cursor, selected(&model)), (2, 3));
    }
}
