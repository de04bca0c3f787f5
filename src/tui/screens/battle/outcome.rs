//! The effects of a verdict: whether it agrees with the judges, and which documents moved.

use crate::domain::battle::Pair;
use crate::domain::verdict::Decision;
use crate::domain::vote::{Margin, Outcome};
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The note after a verdict that was given with the judges' votes on the screen.
const NOT_BLIND: &str =
    "not blind: it moves the ranking and does not count in agreement with judges";
/// The same if it replaces a verdict, which may have been blind.
const CHANGED: &str =
    "not blind: it moves the ranking; only your blind verdict counts in agreement with judges";
/// Columns of the role of a document, such as `your winner`.
const ROLE: usize = 17;
/// Columns of a change of ranks.
const RANKS: usize = 16;
/// Columns of a change of scores.
const SCORES: usize = 21;
/// Columns of a title in a list of several.
const TITLE: usize = 24;
/// Minimum columns for the scores next to the ranks.
const SCORED: usize = 72;
/// Minimum columns for the keys on the line of the sentence.
const WIDE: usize = 110;

/// The ranks of a document before and after a change.
struct RankChange {
    document: usize,
    was: Option<usize>,
    now: Option<usize>,
}

impl RankChange {
    fn of(open: &OpenQuery, before: &RankingBefore, document: usize) -> Self {
        Self {
            document,
            was: before.ranks.get(document).copied().flatten(),
            now: open.standing(document).map(|standing| standing.rank),
        }
    }

    fn is_change(&self) -> bool {
        self.was != self.now
    }

    fn is_in(rank: Option<usize>, top: usize) -> bool {
        rank.is_some_and(|rank| rank <= top)
    }

    /// Whether it entered the top (`true`) or left it.
    fn crossed(&self, top: usize) -> Option<bool> {
        let (was, now) = (Self::is_in(self.was, top), Self::is_in(self.now, top));
        (was != now).then_some(now)
    }

    fn distance(&self) -> usize {
        self.was
            .zip(self.now)
            .map_or(0, |(was, now)| was.abs_diff(now))
    }

    /// `#14 → #8 ▲6`, or `#8 =`.
    fn words(&self) -> String {
        let name = |rank: Option<usize>| rank.map_or("–".to_owned(), |rank| format!("#{rank}"));
        match (self.was, self.now) {
            (was, now) if was == now => format!("{} =", name(now)),
            (Some(was), Some(now)) if was > now => format!("#{was} → #{now} ▲{}", was - now),
            (Some(was), Some(now)) => format!("#{was} → #{now} ▼{}", now - was),
            (was, now) => format!("{} → {}", name(was), name(now)),
        }
    }

    fn style(&self, theme: &Theme) -> Style {
        match self.was.cmp(&self.now) {
            std::cmp::Ordering::Greater => theme.good(),
            std::cmp::Ordering::Less => theme.bad(),
            std::cmp::Ordering::Equal => theme.muted(),
        }
    }
}

/// `#14 → #8 ▲6`: the ranks of a document before and after a change.
pub(crate) fn rank_change(open: &OpenQuery, before: &RankingBefore, document: usize) -> String {
    RankChange::of(open, before, document).words()
}

/// All documents whose rank changed, by new rank.
fn changes(open: &OpenQuery, before: &RankingBefore) -> Vec<RankChange> {
    open.view
        .by_zelo
        .iter()
        .map(|document| RankChange::of(open, before, *document))
        .filter(RankChange::is_change)
        .collect()
}

/// Whether the person agrees with the judges, in words, and the decision.
pub(crate) fn agreement(
    open: &OpenQuery,
    (a, b): (usize, usize),
    annotator: &str,
    room: usize,
) -> Option<String> {
    let pair = Pair::new(a, b)?;
    let decision = open.people.by(annotator, pair)?.seen_from(a);
    let Some(direction) = decision.direction() else {
        return Some("You cannot tell which is better: no score changes.".to_owned());
    };
    let votes: Vec<Outcome> = open
        .judges
        .iter()
        .filter_map(|(judge, _)| open.view.mean_margin(*judge, b, a))
        .filter_map(|mean| Some(Margin::new(mean)?.outcome()))
        .collect();
    let all = votes.len();
    let agree = votes.iter().filter(|vote| **vote == direction).count();
    let relation = relation(agree, all, contradicts(open, (a, b), annotator, direction));
    let names = open.names_of(
        a,
        b,
        room.saturating_sub(text::width(&relation) + 18).max(12),
    );
    Some(format!(
        "{relation}: {}.",
        decision.words(&names[0], &names[1])
    ))
}

fn relation(agree: usize, all: usize, is_overruled: bool) -> String {
    let judges = match all {
        1 => "the judge".to_owned(),
        2 => "both judges".to_owned(),
        _ => format!("all {all} judges"),
    };
    // A single strong vote can outweigh the judges who agree with the person.
    let is_minority = 2 * agree <= all;
    match agree {
        _ if all == 0 => "You decided alone, since no judge voted".to_owned(),
        0 if is_overruled => format!("You overruled {judges}"),
        _ if is_overruled && is_minority => {
            format!("You overruled {} of {all} judges", all - agree)
        }
        _ if agree == all => format!("You agree with {judges}"),
        _ => format!("You agree with {agree} of {all} judges"),
    }
}

/// Whether the judges' votes together contradict the person's decision on these two documents.
fn contradicts(
    open: &OpenQuery,
    (a, b): (usize, usize),
    annotator: &str,
    direction: Outcome,
) -> bool {
    let Some(pair) = Pair::new(a, b) else {
        return false;
    };
    let counts = open
        .view
        .verdict(pair)
        .is_some_and(|verdict| verdict.annotator == annotator);
    if let Some(effect) = open.view.verdict_effect(pair).filter(|_| counts) {
        return effect.contradicts();
    }
    let share = open.view.vote_count(a, b).share();
    let majority = share.map(|share| match share.total_cmp(&0.5) {
        std::cmp::Ordering::Greater => Outcome::A,
        std::cmp::Ordering::Less => Outcome::B,
        std::cmp::Ordering::Equal => Outcome::Tie,
    });
    majority.is_some_and(|majority| majority != direction)
}

/// The effect of the last change in at most `rows` lines, the most important ones first.
pub(crate) fn lines(
    model: &Model,
    open: &OpenQuery,
    before: &RankingBefore,
    theme: &Theme,
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    let (first, mut last) = sentence(model, open, before, theme, columns);
    if !before.taken_back && is_seen(model) {
        let note = if before.replaces { CHANGED } else { NOT_BLIND };
        last.extend(text::lines(note, columns, theme.muted()));
    }
    let room = rows.saturating_sub(1 + last.len());
    let mut lines = vec![first];
    lines.extend(
        moved(model, open, before, theme, columns)
            .into_iter()
            .take(room),
    );
    lines.extend(last);
    lines.truncate(rows);
    lines
}

/// Whether the last verdict was given with the judges' votes on the screen.
fn is_seen(model: &Model) -> bool {
    match model.screen() {
        Screen::REVIEW => {
            let current = model.queue.current.as_ref();
            current.is_some_and(|current| current.in_sight)
        }
        _ => true,
    }
}

/// The sentence with the keys, or followed by the keys on a narrow screen.
fn sentence(
    model: &Model,
    open: &OpenQuery,
    before: &RankingBefore,
    theme: &Theme,
    columns: usize,
) -> (Line<'static>, Vec<Line<'static>>) {
    let keys = keys(model, before);
    let inline = columns >= WIDE;
    let room = if inline {
        columns - text::width(&keys) - 2
    } else {
        columns
    };
    let sides = (model.battle.a, model.battle.b);
    let given = agreement(
        open,
        sides,
        &model.options.annotator,
        room.saturating_sub(2),
    );
    let words = match given.filter(|_| !before.taken_back) {
        Some(words) => format!("◆ {words}"),
        None => format!("◆ {}", before.change),
    };
    let words = text::truncate(&words, room).into_owned();
    let style = theme.override_mark();
    if !inline {
        let keys = text::truncate(&keys, columns).into_owned();
        let keys = Line::styled(keys, theme.muted());
        return (Line::styled(words, style), vec![keys]);
    }
    let line = Line::from(vec![
        Span::styled(text::pad_right(&words, room + 2), style),
        Span::styled(keys, theme.muted()),
    ]);
    (line, Vec::new())
}

/// The keys that undo, explain or change the last verdict.
fn keys(model: &Model, before: &RankingBefore) -> String {
    let key = |command| key_on(command, model.screen());
    if before.taken_back {
        return format!("{} redoes it", key(Command::Redo));
    }
    let change = [
        Command::JudgeA,
        Command::JudgeB,
        Command::JudgeTie,
        Command::CannotTell,
    ]
    .map(key);
    let (undo, reason) = (key(Command::Undo), key(Command::WriteNote));
    format!(
        "{undo} undo · {reason} reason · {} change it",
        change.join(" ")
    )
}

/// The ranks of the two documents, then the documents that crossed the cut, then the number of
/// others that moved.
fn moved(
    model: &Model,
    open: &OpenQuery,
    before: &RankingBefore,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let (a, b) = (model.battle.a, model.battle.b);
    let pair = Pair::new(a, b);
    let own = pair.and_then(|pair| open.people.by(&model.options.annotator, pair));
    let decision = own
        .filter(|_| !before.taken_back)
        .map(|own| own.seen_from(a));
    let changes = changes(open, before);
    let mut lines = Vec::new();
    if changes.is_empty() {
        let words = unmoved(open, (a, b), decision);
        lines.extend(text::lines(&words, columns, theme.text()));
    }
    let roles = match decision.and_then(Decision::direction) {
        Some(Outcome::A) => [("your winner", a), ("the other", b)],
        Some(Outcome::B) => [("your winner", b), ("the other", a)],
        _ => [("A", a), ("B", b)],
    };
    let names = open.names_of(a, b, title_columns(columns));
    lines.extend(roles.map(|(role, document)| {
        let name = &names[usize::from(document == b)];
        change_line(open, before, role, (document, name), theme, columns)
    }));
    lines.extend(crossings(open, &changes, (a, b), theme, columns));
    lines.extend(shifts(open, &changes, (a, b), theme, columns));
    lines
}

/// The documents that crossed the cut.
fn crossings(
    open: &OpenQuery,
    changes: &[RankChange],
    (a, b): (usize, usize),
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let top = open.top();
    let mut lines = Vec::new();
    for (role, entered) in [("into the top", true), ("out of the top", false)] {
        let crossed: Vec<String> = changes
            .iter()
            .filter(|change| change.crossed(top) == Some(entered))
            .map(|change| {
                let title = open.headline(change.document);
                let title = text::truncate(&title, TITLE);
                // The ranks of the pair are above.
                if [a, b].contains(&change.document) {
                    title.into_owned()
                } else {
                    format!("{title} {}", change.words())
                }
            })
            .collect();
        if !crossed.is_empty() {
            let role = format!("{role} {top}");
            let words = format!("  {} {}", text::pad_right(&role, ROLE), crossed.join(" · "));
            lines.push(text::line(&words, columns, theme.text()));
        }
    }
    lines
}

/// The number of other documents that moved without crossing the cut.
fn shifts(
    open: &OpenQuery,
    changes: &[RankChange],
    (a, b): (usize, usize),
    theme: &Theme,
    columns: usize,
) -> Option<Line<'static>> {
    let distances: Vec<usize> = changes
        .iter()
        .filter(|change| ![a, b].contains(&change.document))
        .filter(|change| change.crossed(open.top()).is_none())
        .map(RankChange::distance)
        .collect();
    let ranks = match distances.iter().max()? {
        1 => "1 rank".to_owned(),
        most => format!("up to {most} ranks"),
    };
    let words = format!(
        "  {} moved by {ranks} without crossing the cut: {}",
        counted(distances.len(), "other document"),
        key_on(Command::ShowTables, Screen::BATTLE)
    );
    Some(text::line(&words, columns, theme.muted()))
}

/// Why no document changed its rank.
fn unmoved(open: &OpenQuery, (a, b): (usize, usize), decision: Option<Decision>) -> String {
    let rank = |document: usize| Some(open.standing(document)?.rank);
    let winner = match decision.and_then(Decision::direction) {
        Some(Outcome::A) => Some((a, b)),
        Some(Outcome::B) => Some((b, a)),
        _ => None,
    };
    let ranks = winner.and_then(|(winner, other)| rank(winner).zip(rank(other)));
    let others = open.view.battles_with(a).len() + open.view.battles_with(b).len();
    let own = Pair::new(a, b).map_or(0, |pair| open.view.battles_of(pair).len());
    match ranks {
        Some((winner, other)) if winner < other => {
            "  No rank changed: your winner was ranked above the other document already.".to_owned()
        }
        Some((winner, other)) => format!(
            "  No rank changed: the two are {} apart, and {} of these documents count too.",
            counted(winner - other, "rank"),
            counted(others - 2 * own, "other battle"),
        ),
        None => "  No rank changed.".to_owned(),
    }
}

fn title_columns(columns: usize) -> usize {
    let scores = if columns < SCORED { 0 } else { SCORES };
    columns.saturating_sub(3 + ROLE + 1 + RANKS + scores).max(8)
}

/// `your winner   Sleep in adults   #14 → #8 ▲6   zELO −0.21 → +0.96`.
fn change_line(
    open: &OpenQuery,
    before: &RankingBefore,
    role: &str,
    (document, name): (usize, &str),
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let change = RankChange::of(open, before, document);
    let scores = before
        .scores
        .get(document)
        .copied()
        .flatten()
        .zip(open.standing(document))
        .filter(|_| columns >= SCORED)
        .map_or(String::new(), |(was, standing)| {
            let [was, now] = [was, standing.zelo].map(|score| text::signed(score, 2));
            format!("zELO {was} → {now}")
        });
    let room = title_columns(columns);
    let name = text::truncate(name, room);
    let line = Line::from(vec![
        Span::styled(
            format!("  {} ", text::pad_right(role, ROLE)),
            theme.strong(),
        ),
        Span::raw(text::pad_right(&name, room + 1)),
        Span::styled(text::pad_right(&change.words(), RANKS), change.style(theme)),
        Span::styled(scores, theme.muted()),
    ]);
    if line.width() > columns {
        text::ended(&line, columns)
    } else {
        line
    }
}

/// All rank changes as text, for a page.
pub(super) fn page_text(open: &OpenQuery, before: &RankingBefore) -> String {
    let changes = changes(open, before);
    if changes.is_empty() {
        return "No document changed its rank.\n".to_owned();
    }
    changes
        .iter()
        .map(|change| {
            let title = open.headline(change.document);
            format!("{}  {title}\n", text::pad_right(&change.words(), RANKS))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::relation;
    use rstest::rstest;

    #[rstest]
    #[case(0, 0, false, "You decided alone, since no judge voted")]
    #[case(0, 1, true, "You overruled the judge")]
    #[case(0, 3, true, "You overruled all 3 judges")]
    #[case(1, 3, true, "You overruled 2 of 3 judges")]
    #[case(1, 2, true, "You overruled 1 of 2 judges")]
    #[case(2, 3, true, "You agree with 2 of 3 judges")]
    #[case(3, 3, true, "You agree with all 3 judges")]
    #[case(3, 3, false, "You agree with all 3 judges")]
    #[case(2, 3, false, "You agree with 2 of 3 judges")]
    fn the_larger_part_of_the_judges_decides_what_is_said(
        #[case] agree: usize,
        #[case] all: usize,
        #[case] is_overruled: bool,
        #[case] words: &str,
    ) {
        assert_eq!(relation(agree, all, is_overruled), words);
    }
}
