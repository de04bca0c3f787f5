//! State of a shared project that is open.

use super::leases;
use crate::domain::agreement::Share;
use crate::features::remote::app::background::{Event, HeldItem, Look, OpenItem, Order};
use crate::features::remote::app::team::{Member, TeamReport};
use crate::features::remote::app::watch::{ABSENT_S, present};
use crate::features::remote::client::{JobStatus, Participant};
use crate::store::merge::MergeCounts;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text::{count, duration};
use crate::tui::widgets::toast::Level;
use std::time::Instant;
use tokio::sync::mpsc;

/// Below this age in seconds, a synchronization has happened just now.
const JUST_NOW_S: u64 = 30;

/// State of the shared project; without `orders`, it is not synchronized here.
#[derive(Debug, Default)]
pub(crate) struct TeamState {
    orders: Option<mpsc::UnboundedSender<Order>>,
    pub(super) link: Link,
    /// Number of changes that are not on the server, if it is known.
    pub(super) waiting: Option<i64>,
    /// When the server was last found to be in step with the project.
    pub(super) synced: Option<Instant>,
    /// Everyone who has taken part, as far as they were read.
    pub(super) people: Vec<Participant>,
    /// What people have open, the oldest first, as far as it was read.
    pub(super) leases: Vec<HeldItem>,
    /// What the server was last told to be open here.
    pub(super) open: Option<OpenItem>,
    /// The jobs of the server, while they are shown and known.
    pub(super) jobs: Option<Vec<JobStatus>>,
    /// What was left out of the last synchronization, and why.
    pub(super) problems: Vec<String>,
    /// The people of the project, or why they cannot be read; `None` while they are being read.
    pub(super) report: Option<Result<TeamReport, String>>,
    /// Index of the selected person.
    pub(super) cursor: usize,
}

/// A person as shown.
#[derive(Debug)]
pub(super) struct PersonRow<'a> {
    pub(super) name: &'a str,
    pub(super) now: Presence,
    /// `None` before the project was read.
    pub(super) counts: Option<(usize, usize)>,
    pub(super) agreement: Option<&'a Share>,
}

/// What is known of a person at the moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Presence {
    /// The server is away, or has not heard of the person.
    Unknown,
    /// Last heard of this many seconds ago.
    Absent(f64),
    /// With the query that is open, and where.
    Present(Option<(String, String)>),
}

/// The connection to the server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Link {
    #[default]
    Connecting,
    Connected,
    /// The server is away, and why.
    Away(String),
    /// The server refuses something, and why.
    Refused(String),
}

impl TeamState {
    /// The project is synchronized from now on by whoever takes these orders.
    pub(crate) fn begin(&mut self, orders: mpsc::UnboundedSender<Order>) {
        self.orders = Some(orders);
    }

    /// Whether the project is synchronized.
    pub(super) fn is_shared(&self) -> bool {
        self.orders.is_some()
    }

    fn members(&self) -> Option<&TeamReport> {
        self.report.as_ref()?.as_ref().ok()
    }

    /// Everyone with decisions in the project or with a copy of it, by name.
    pub(super) fn rows(&self) -> Vec<PersonRow<'_>> {
        let report = self.members();
        let members = report.map_or(&[][..], |report| &report.members);
        let copies = self.people.iter().map(|one| one.person.as_str());
        let mut names: Vec<&str> = members.iter().map(|of| of.name.as_str()).collect();
        names.extend(copies);
        names.sort_unstable();
        names.dedup();
        let row = |name| {
            let at = members.iter().position(|of: &Member| of.name == name);
            let counts = at.map_or((0, 0), |at| (members[at].today, members[at].all));
            PersonRow {
                name,
                now: self.presence(name),
                counts: report
                    .filter(|report| report.only.as_deref().is_none_or(|only| only == name))
                    .map(|_| counts),
                agreement: at.and_then(|at| report?.agreement.people.get(at)?.as_ref()),
            }
        };
        names.into_iter().map(row).collect()
    }

    fn presence(&self, name: &str) -> Presence {
        let copies = self.people.iter().filter(|one| one.person == name);
        match copies.map(|one| one.silent_s).min_by(f64::total_cmp) {
            None => Presence::Unknown,
            Some(silent_s) if silent_s < ABSENT_S => {
                let mut leases = self.leases.iter().rev().map(|held| &held.lease);
                let last = leases.find(|lease| lease.person == name);
                let at = last.map(|lease| (lease.query.clone(), lease.place.clone()));
                Presence::Present(at)
            }
            Some(silent_s) => Presence::Absent(silent_s),
        }
    }

    /// The name of the selected person.
    pub(super) fn selected(&self) -> Option<String> {
        let rows = self.rows();
        let at = self.cursor.min(rows.len().checked_sub(1)?);
        Some(rows[at].name.to_owned())
    }

    /// Gives an order, if someone takes it.
    pub(super) fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Nobody takes orders any more if the project cannot be synchronized.
            drop(orders.send(order));
        }
    }

    /// The connection and what waits, from the longest words to the shortest.
    pub(crate) fn words(&self, now: Instant) -> Option<(Vec<String>, Level)> {
        if !self.is_shared() {
            return None;
        }
        let waiting = self.waiting.unwrap_or_default();
        let changes = self.waiting.map(|waiting| match waiting {
            1 => "1 change waiting".to_owned(),
            waiting => format!("{} changes waiting", count(waiting)),
        });
        let briefly = match waiting {
            0 => String::new(),
            waiting => format!("{} waiting", count(waiting)),
        };
        let join = |parts: [&str; 3]| {
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join(" · ")
        };
        let changes = changes.unwrap_or_default();
        let away = match &self.link {
            Link::Connecting => "connecting to the server",
            Link::Away(_) => "server offline",
            Link::Refused(_) => "not synced",
            Link::Connected => {
                let people = present(&self.people).len();
                let here = match people {
                    1 => "1 person here".to_owned(),
                    people => format!("{people} people here"),
                };
                let synced = self.synced.map_or("synced".to_owned(), |at| age(at, now));
                let left_out = match self.problems.len() {
                    0 => String::new(),
                    1 => "1 problem".to_owned(),
                    problems => format!("{problems} problems"),
                };
                let brief = join([&left_out, &briefly, &format!("{people} here")]);
                let long = join([&synced, &changes, &here]);
                let words = vec![
                    join([&left_out, &long, ""]),
                    format!("synced · {brief}"),
                    join([&left_out, &briefly, ""]),
                ];
                let level = if left_out.is_empty() {
                    Level::Info
                } else {
                    Level::Warn
                };
                return Some((words, level));
            }
        };
        let words = vec![
            join([away, &changes, ""]),
            join([away, &briefly, ""]).replace(" · ", ", "),
        ];
        let level = match self.link {
            Link::Connecting => Level::Info,
            _ => Level::Warn,
        };
        Some((words, level))
    }
}

/// `synced 2 min 10 s ago`.
fn age(at: Instant, now: Instant) -> String {
    match now.saturating_duration_since(at).as_secs() {
        ..JUST_NOW_S => "synced just now".to_owned(),
        seconds => format!("synced {} ago", duration(seconds as f64)),
    }
}

impl Model {
    pub(crate) fn team(&self) -> &TeamState {
        self.state()
    }

    pub(crate) fn team_mut(&mut self) -> &mut TeamState {
        self.state_mut()
    }
}

/// Shows what has happened on the server.
pub(crate) fn happened(model: &mut Model, event: Event) -> Vec<Effect> {
    match event {
        Event::Looked(look) => looked(model, *look),
        Event::Lost {
            why,
            is_temporary,
            waiting,
        } => {
            let link = if is_temporary {
                Link::Away(why)
            } else {
                Link::Refused(why)
            };
            // The person has to do something about it, so it is said once.
            if let Link::Refused(why) = &link
                && model.team().link != link
            {
                model.say(Level::Warn, &format!("not synced: {why}"));
            }
            let team = model.team_mut();
            team.link = link;
            team.waiting = waiting.or(team.waiting);
            team.people.clear();
            team.leases.clear();
            team.jobs = None;
            Vec::new()
        }
        Event::Waiting(waiting) => {
            model.team_mut().waiting = Some(waiting);
            Vec::new()
        }
        Event::Taken(subject, by) => {
            leases::tell_taken(model, &subject, &by);
            Vec::new()
        }
        Event::Decided(subject, by) => {
            leases::tell_decided(model, &subject, &by);
            Vec::new()
        }
    }
}

fn looked(model: &mut Model, look: Look) -> Vec<Effect> {
    let now = model.now;
    let team = model.team_mut();
    team.link = Link::Connected;
    team.waiting = Some(look.waiting);
    team.synced = Some(now);
    team.people = look.people;
    team.leases = look.leases;
    team.jobs = look.jobs;
    let report = team.report.as_ref().and_then(|report| report.as_ref().ok());
    let is_old = report.is_some_and(|report| report.since_ms != look.day_began_ms);
    if let Some(synced) = look.synced {
        let refused = synced.received.refused.iter();
        let refused = refused.map(|(query, why)| format!("query {query:?}: left out: {why}"));
        team.problems = synced.problems.iter().cloned().chain(refused).collect();
        if synced.received != MergeCounts::default() {
            return show_news(model);
        }
    }
    // Another day has begun.
    let is_old = is_old && model.screen() == Screen::TEAM;
    is_old.then(|| model.read_team()).into_iter().collect()
}

/// Rows of others were merged: reads again what is on screen.
fn show_news(model: &mut Model) -> Vec<Effect> {
    let mut effects = model.show_changes();
    if model.screen() == Screen::TEAM {
        effects.push(model.read_team());
    }
    match model.screen() {
        Screen::QUEUE | Screen::REVIEW if model.queue.loaded => {
            effects.extend(model.build_queue());
        }
        Screen::ADJUDICATION => effects.extend(model.read_overview()),
        _ => {}
    }
    effects
}
