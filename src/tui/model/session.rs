//! Statistics on a person's decisions in review since it was opened: number, pace, and their
//! effect.

use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::pace::{self, ReadingPace};
use crate::tui::text::counted;

/// A pair that was judged.
#[derive(Clone, Debug)]
pub struct JudgedPair {
    pub query: QueryKey,
    pub pair: Pair,
    /// Active time until the first decision, and the amount of text.
    pub pace: ReadingPace,
    /// Whether the judges' majority agrees; `None` if there is none or the person cannot tell.
    pub agrees: Option<bool>,
    /// Whether the decision changed after the reveal.
    pub changed: bool,
}

/// The ranking of a query when it was first judged in the session, and now.
#[derive(Debug)]
struct TopOfQuery {
    query: QueryKey,
    name: String,
    /// Number of ranks that count as the top, by the project's current setting.
    top: usize,
    before: Vec<String>,
    now: Vec<String>,
}

#[derive(Debug, Default)]
pub struct ReviewSession {
    judged: Vec<JudgedPair>,
    /// Undone verdicts, latest last.
    undone: Vec<JudgedPair>,
    tops: Vec<TopOfQuery>,
}

fn ranking(open: &OpenQuery) -> Vec<String> {
    open.view
        .by_zelo
        .iter()
        .map(|document| open.name(*document))
        .collect()
}

impl ReviewSession {
    /// Records the top of a query before its first verdict of the session.
    pub fn begin(&mut self, open: &OpenQuery) {
        if self.tops.iter().all(|known| known.query != open.info.key) {
            self.tops.push(TopOfQuery {
                query: open.info.key,
                name: crate::domain::sanitize::line(open.info.id.as_str()).into_owned(),
                top: open.top(),
                before: ranking(open),
                now: ranking(open),
            });
        }
    }

    pub fn decided(&mut self, judged: JudgedPair) {
        self.undone.clear();
        self.judged.push(judged);
    }

    /// The verdict on a pair was stored, unchanged or changed.
    pub fn kept(&mut self, query: QueryKey, pair: Pair, changed: bool) {
        let mut all = self.judged.iter_mut().rev();
        if let Some(judged) = all.find(|judged| (judged.query, judged.pair) == (query, pair)) {
            judged.changed = changed;
        }
    }

    /// The verdict on a pair was undone.
    pub fn undone(&mut self, query: QueryKey, pair: Pair) {
        let is = |judged: &JudgedPair| (judged.query, judged.pair) == (query, pair);
        if let Some(at) = self.judged.iter().rposition(is) {
            self.undone.push(self.judged.remove(at));
        }
    }

    /// The verdict on a pair was redone.
    pub fn redone(&mut self, query: QueryKey, pair: Pair) {
        let is = |judged: &JudgedPair| (judged.query, judged.pair) == (query, pair);
        if let Some(at) = self.undone.iter().rposition(is) {
            self.judged.push(self.undone.remove(at));
        }
    }

    /// Records the current ranking of a query.
    pub fn ranked(&mut self, open: &OpenQuery) {
        let mut tops = self.tops.iter_mut();
        if let Some(known) = tops.find(|known| known.query == open.info.key) {
            (known.top, known.now) = (open.top(), ranking(open));
        }
    }

    /// A warning if the latest decisions came faster than the texts can be read.
    pub fn warning(&self) -> Option<String> {
        pace::warning(self.judged.iter().map(|judged| judged.pace))
    }

    /// A summary of the session, line by line; `None` without verdicts.
    pub fn summary(&self) -> Option<String> {
        if self.judged.is_empty() {
            return None;
        }
        let mut lines = vec![format!("{} judged", counted(self.judged.len(), "pair"))];
        lines.extend(pace::time_words(
            self.judged.iter().map(|judged| judged.pace),
            "pair",
        ));
        let known: Vec<bool> = self.judged.iter().filter_map(|one| one.agrees).collect();
        let agreed = known.iter().filter(|agrees| **agrees).count();
        lines.push(match known.len() {
            0 => "no pair has a majority of the judges, so there is nothing to compare with"
                .to_owned(),
            all => format!("you and the judges' majority agree on {agreed} of {all}"),
        });
        let changed = self.judged.iter().filter(|one| one.changed).count();
        lines.push(match changed {
            0 => "no verdict changed after the judges were shown".to_owned(),
            changed => format!(
                "{} changed after the judges were shown",
                counted(changed, "verdict")
            ),
        });
        lines.push(String::new());
        let mut moved = false;
        for query in &self.tops {
            let only = |these: &[String], those: &[String]| -> Vec<String> {
                let those: Vec<_> = those.iter().take(query.top).collect();
                these
                    .iter()
                    .take(query.top)
                    .filter(|name| !those.contains(name))
                    .cloned()
                    .collect()
            };
            let entered = only(&query.now, &query.before);
            let left = only(&query.before, &query.now);
            if !entered.is_empty() {
                moved = true;
                lines.push(format!(
                    "top {} of query {}: {} entered, {} left",
                    query.top,
                    query.name,
                    entered.join(", "),
                    left.join(", ")
                ));
            }
        }
        if !moved {
            lines.push("no document entered or left the top of a query".to_owned());
        }
        lines.extend(self.warning().map(|words| format!("\n{words}")));
        Some(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(words: usize, seconds: f64) -> JudgedPair {
        JudgedPair {
            query: QueryKey(1),
            pair: Pair::new(0, 1).unwrap(),
            pace: ReadingPace {
                seconds: Some(seconds),
                words,
            },
            agrees: Some(true),
            changed: false,
        }
    }

    #[test]
    fn decisions_faster_than_reading_are_said() {
        let mut session = ReviewSession::default();
        for _ in 0..3 {
            assert_eq!(session.warning(), None);
            session.decided(judged(300, 10.0));
        }
        assert!(
            session
                .warning()
                .unwrap()
                .contains("3 of your last 3 decisions")
        );
    }

    #[test]
    fn a_session_is_summed_up_and_an_undone_verdict_is_not_in_it() {
        let mut session = ReviewSession::default();
        assert_eq!(session.summary(), None);
        session.decided(judged(20, 4.0));
        session.decided(JudgedPair {
            pair: Pair::new(1, 2).unwrap(),
            agrees: Some(false),
            ..judged(20, 6.0)
        });
        session.kept(QueryKey(1), Pair::new(1, 2).unwrap(), true);
        let summary = session.summary().unwrap();
        for part in ["2 pairs judged", "agree on 1 of 2", "1 verdict changed"] {
            assert!(summary.contains(part), "{part}: {summary}");
        }
        session.undone(QueryKey(1), Pair::new(1, 2).unwrap());
        let summary = session.summary().unwrap();
        assert!(summary.contains("1 pair judged") && summary.contains("no verdict changed"));
        session.redone(QueryKey(1), Pair::new(1, 2).unwrap());
        assert!(session.summary().unwrap().contains("2 pairs judged"));
    }
}
