//! Reads what people have judged.

use crate::domain::sanitize;
use crate::features::remote::app::team::{
    ComparedVerdicts, TeamReport, compared_verdicts, day_began_ms, team_report,
};
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::text::counted;
use crate::tui::widgets::page::Page;
use std::fmt::Write as _;

const TEAM: Slot = Slot::of(Screen::TEAM, "team");
const VERDICTS: Slot = Slot::of(Screen::TEAM, "verdicts");

/// Number of a person's verdicts that are listed.
const LISTED: usize = 200;

/// Reads the people of the project.
#[derive(Debug, PartialEq)]
struct ReadTeam;

impl Request for ReadTeam {
    type Answer = TeamReport;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<TeamReport> {
        team_report(db, context.annotator(), day_began_ms(context.asked_ms))
    }
}

/// Reads the verdicts of this person.
#[derive(Debug, PartialEq)]
struct ReadVerdicts(String);

impl Request for ReadVerdicts {
    type Answer = ComparedVerdicts;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<ComparedVerdicts> {
        compared_verdicts(db, &self.0, context.annotator(), LISTED)
    }
}

impl Model {
    pub(super) fn read_team(&mut self) -> Effect {
        let then = |model: &mut Self, report| {
            model.team_mut().report = Some(Ok(report));
            Vec::new()
        };
        Job::read(ReadTeam, then)
            .or_else(|model, error| {
                model.team_mut().report = Some(Err(error.to_string()));
                Vec::new()
            })
            .latest(&mut self.jobs, TEAM)
            .into()
    }

    pub(super) fn read_verdicts_of(&mut self, person: String) -> Effect {
        let name = person.clone();
        Job::read(ReadVerdicts(person), move |model, found| {
            let page = Page::new("Verdicts", &verdict_words(&name, &found));
            model.overlays.push(Overlay::Page(page));
            Vec::new()
        })
        .latest(&mut self.jobs, VERDICTS)
        .into()
    }
}

/// A person's verdicts, one after the other.
fn verdict_words(person: &str, found: &ComparedVerdicts) -> String {
    let person = sanitize::line(person);
    let mut words = String::new();
    for one in &found.shown {
        let [a, b] = one.documents.each_ref().map(|name| sanitize::line(name));
        let query = sanitize::line(&one.query);
        let said = one.verdict.decision.words(&a, &b);
        let _ = writeln!(words, "{query}: {a} or {b}");
        let _ = write!(words, "  {person}: {said}");
        if let Some(own) = &one.own {
            let own = own.seen_from(one.verdict.a).words(&a, &b);
            let _ = write!(words, " · you: {own}");
        }
        if let Some(note) = &one.verdict.note {
            let _ = write!(words, "\n  {}", sanitize::line(note));
        }
        words.push_str("\n\n");
    }
    if found.more > 0 {
        let more = counted(found.more, "earlier verdict");
        let _ = writeln!(words, "{more} not shown");
    }
    match (found.hidden, found.shown.is_empty()) {
        (0, _) if found.is_partial => {
            let _ = writeln!(
                words,
                "Verdicts of {person} on other pairs come after you have judged them."
            );
        }
        (0, true) => {
            let _ = writeln!(words, "No verdict of {person} yet.");
        }
        (0, false) => {}
        (hidden, _) => {
            let hidden = counted(hidden, "verdict");
            let _ = writeln!(
                words,
                "{hidden} on pairs that you have not judged: hidden, so that you can judge them \
                 blind"
            );
        }
    }
    words
}
