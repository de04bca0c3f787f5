//! The invariant of jobs: whatever order their answers come in, and whichever of them fail or never
//! come, nothing superseded is shown, no choice of the person is lost, and no answer decides
//! anything.

use super::bench::Bench;
use crate::domain::corpus::QueryId;
use crate::domain::sampling::SeededRng;
use crate::features::duel::domain::DuelForm;
use crate::features::duel::screens as duel;
use crate::features::methods::screen::rankings;
use crate::features::methods::screen::state::MethodsChoice;
use crate::features::methods::screens as methods;
use crate::judge::offline;
use crate::tui::job::{Job, Workbench, asked};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::ruling::jobs::SaveRuling;
use crate::tui::update::requests::verdicts::SaveVerdict;
use crate::tui::update::update;
use std::collections::{HashMap, VecDeque};

/// Number of random steps from each screen.
const STEPS: usize = 120;

/// Keys that move, choose, decide and leave.
const KEYS: &str = "enter enter esc esc down up left right tab space backspace a b t x 1 2 3 4 0 z \
                    d e f g G h i j k l m n N o p q r s u U v V w C J K R X Y [ ] + - . , /";

/// What has been asked and not answered yet.
#[derive(Default)]
struct Outstanding {
    /// Work that has not been done, in the order of the requests.
    jobs: Vec<Job>,
    /// Messages about work that was done.
    messages: Vec<VecDeque<Msg>>,
}

/// What a person has chosen, as opposed to what was found.
fn choices(model: &Model) -> String {
    let methods = model.methods();
    let methods = methods.asked.as_ref().unwrap_or(&methods.choice);
    format!(
        "{:?}",
        (
            (&model.stack, model.ramp, model.theme, model.queries.sort),
            (model.queue.policy, model.queue.scope, model.queue.conflicts),
            (model.adjudication.order, model.matrix.order),
            (&methods.baseline, methods.depth, model.student().figure),
        )
    )
}

struct Delayed {
    bench: Bench,
    outstanding: Outstanding,
    rng: SeededRng,
    log: Vec<String>,
    /// Number of the latest request of each slot.
    latest: HashMap<String, u64>,
}

/// The slot and the number of a request, as in `queue 3`.
fn numbered(ticket: &str) -> Option<(String, u64)> {
    let (slot, number) = ticket.rsplit_once(' ')?;
    Some((slot.to_owned(), number.parse().ok()?))
}

impl Delayed {
    fn new(bench: Bench, seed: u64) -> Self {
        Self {
            bench,
            outstanding: Outstanding::default(),
            rng: SeededRng::new(seed, &["answers"]),
            log: Vec::new(),
            latest: HashMap::new(),
        }
    }

    /// Delivers a message; returns whether it has led to a decision.
    fn tell(&mut self, msg: Msg) -> bool {
        let now = self.bench.model.now;
        let effects = update(&mut self.bench.model, msg, now);
        let decides =
            asked::<SaveVerdict>(&effects).is_some() || asked::<SaveRuling>(&effects).is_some();
        let jobs = effects.into_iter().filter_map(|effect| match effect {
            Effect::Job(job) => Some(job),
            _ => None,
        });
        for job in jobs {
            self.latest.extend(numbered(&job.ticket()));
            self.outstanding.jobs.push(job);
        }
        self.bench.draw();
        decides
    }

    fn press(&mut self, key: &str) {
        self.log.push(key.to_owned());
        self.tell(Msg::Key(Bench::key(key)));
    }

    /// Does a job. Writes are done in the order of the requests.
    fn work(&mut self) {
        let jobs = &mut self.outstanding.jobs;
        if jobs.is_empty() {
            return;
        }
        let at = self.rng.below(jobs.len());
        let first = jobs.iter().position(Job::is_write);
        let at = if jobs[at].is_write() {
            first.unwrap_or(at)
        } else {
            at
        };
        let job = jobs.remove(at);
        self.log.push(format!("{job:?} is done"));
        let messages = match self.rng.below(8) {
            // It never answers.
            0 if !job.is_write() => return,
            1 => vec![job.failed("the disk is full")],
            _ => job.run_here(&self.workbench()),
        };
        self.outstanding.messages.push(messages.into());
    }

    fn workbench(&self) -> Workbench {
        let options = self.bench.model.options.clone();
        Workbench::new(self.bench.store.clone(), offline::ensemble(), options)
    }

    /// Delivers a message about work that was done.
    fn answer(&mut self) {
        let waiting = self.outstanding.messages.len();
        if waiting == 0 {
            return;
        }
        let at = self.rng.below(waiting);
        let messages = &mut self.outstanding.messages[at];
        let message = messages.pop_front();
        if messages.is_empty() {
            self.outstanding.messages.remove(at);
        }
        let Some(message) = message else { return };
        self.log.push(format!("{message:?}"));
        let words = format!("{message:?}");
        let words = words.trim_start_matches("Answer(").trim_end_matches(')');
        let superseded = numbered(words)
            .is_some_and(|(slot, number)| self.latest.get(&slot).is_some_and(|at| number < *at));
        let shown = superseded.then(|| self.bench.shot());
        let before = choices(&self.bench.model);
        let drafts = self.bench.model.drafts.clone();
        let screens = self.bench.model.stack.clone();
        assert!(!self.tell(message), "an answer decides: {:#?}", self.log);
        if let Some(shown) = shown {
            assert_eq!(self.bench.shot(), shown, "{:#?}", self.log);
        }
        if self.bench.model.stack == screens && self.bench.model.methods().report.is_none() {
            assert_eq!(choices(&self.bench.model), before, "{:#?}", self.log);
        }
        // The reason of a decision that was not stored becomes a draft again.
        let now = &self.bench.model.drafts;
        let kept = drafts.iter().all(|(of, note)| now.get(of) == Some(note));
        assert!(kept, "{:#?}", self.log);
    }

    /// Does all that is outstanding, in the order of the requests.
    fn settle(&mut self) {
        for _ in 0..200 {
            while !self.outstanding.messages.is_empty() {
                self.answer();
            }
            if self.outstanding.jobs.is_empty() {
                return;
            }
            let job = self.outstanding.jobs.remove(0);
            self.outstanding
                .messages
                .push(job.run_here(&self.workbench()).into());
        }
    }

    /// What is shown is what the project contains.
    fn is_current(&mut self) {
        let open = self.bench.model.reload();
        for effect in open {
            if let Effect::Job(job) = effect {
                self.outstanding.jobs.push(job);
            }
        }
        self.settle();
        let Some(open) = &self.bench.model.open else {
            return;
        };
        let key = open.info.key;
        let shown = open.view.rows().verdicts.clone();
        let stored = self
            .bench
            .store
            .read_blocking(move |db| db.view(key))
            .unwrap();
        assert_eq!(shown, stored.rows().verdicts, "{:#?}", self.log);
    }

    fn run(&mut self, way: &str) {
        for key in way.split(' ').filter(|key| !key.is_empty()) {
            self.press(key);
            self.settle();
        }
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        for _ in 0..STEPS {
            match self.rng.below(5) {
                0..3 => {
                    let key = keys[self.rng.below(keys.len())];
                    self.press(key);
                }
                3 => self.work(),
                _ => self.answer(),
            }
        }
        self.settle();
        self.is_current();
    }
}

#[test]
fn answers_that_are_late_lost_or_failed_change_no_choice_and_decide_nothing() {
    let judged = [
        "",
        "enter",
        "enter d",
        "enter enter",
        "w",
        "w enter",
        "J",
        "Y",
        "Y enter",
        "r",
    ];
    for (seed, way) in (0..).zip(judged) {
        Delayed::new(Bench::judged(100, 30), seed).run(way);
    }
    for (seed, way) in (100..).zip(["R", "R enter"]) {
        Delayed::new(methods::bench(100, 30), seed).run(way);
    }
    for (seed, way) in (200..).zip(["C", "C enter"]) {
        Delayed::new(Bench::picked(100, 30), seed).run(way);
    }
    for (seed, way) in (300..).zip(["X", "X enter"]) {
        let bench = Bench::judged(100, 30);
        bench
            .store
            .write_blocking(|db| duel::duel(DuelForm::Grid)(db))
            .unwrap();
        Delayed::new(bench, seed).run(way);
    }
}

/// The baseline of the comparison that is shown, and the chosen baseline and number of documents.
fn compared(bench: &Delayed) -> (String, Option<String>, Option<usize>) {
    let methods = bench.bench.model.methods();
    let shown = methods.found().map(|report| report.baseline.clone());
    let MethodsChoice {
        baseline, depth, ..
    } = methods.choice.clone();
    (shown.unwrap_or_default(), baseline, depth)
}

#[test]
fn a_baseline_that_is_being_computed_is_kept_when_one_leaves_and_comes_back() {
    for seed in 0..6 {
        let mut delayed = Delayed::new(methods::bench(120, 40), seed);
        delayed.press("R");
        delayed.settle();
        delayed.press("down");
        delayed.press("0");
        let wanted = delayed.bench.model.methods().method().unwrap().name.clone();
        delayed.press("esc");
        delayed.press("R");
        // The answers to both requests, in any order, before and after the next key.
        let late = delayed.outstanding.jobs.drain(..);
        let late: Vec<Job> = late
            .filter(|job| format!("{job:?}").starts_with("CompareMethods"))
            .collect();
        assert_eq!(late.len(), 2);
        let mut late: Vec<Msg> = late
            .into_iter()
            .flat_map(|job| job.run_here(&delayed.workbench()))
            .collect();
        let reversed = seed % 2 == 0;
        if reversed {
            late.reverse();
        }
        let before = seed as usize % 3;
        for msg in late.drain(..before) {
            delayed.tell(msg);
        }
        // A key changes the comparison on screen, so it does nothing before that has arrived.
        let arrived = before > usize::from(!reversed);
        let methods = delayed.bench.model.methods();
        let depth = if arrived {
            methods.next_depth()
        } else {
            methods.choice.depth
        };
        delayed.press("z");
        for msg in late {
            delayed.tell(msg);
        }
        delayed.settle();
        let wanted = (wanted.clone(), Some(wanted), depth);
        assert_eq!(compared(&delayed), wanted, "{seed}: {:#?}", delayed.log);
    }
}

#[test]
fn rankings_follow_the_query_that_was_chosen_last() {
    let mut delayed = Delayed::new(methods::bench(120, 40), 1);
    delayed.press("R");
    delayed.settle();
    let rows = delayed.bench.model.queries.rows();
    // The selected query was read ahead, and is opened without a job.
    let queries: Vec<QueryId> = rows
        .iter()
        .skip(1)
        .take(2)
        .map(|(info, _)| info.id.clone())
        .collect();
    let mut jobs = Vec::new();
    for query in &queries {
        let effects = rankings::update::show(&mut delayed.bench.model, query.clone());
        assert_eq!(delayed.bench.model.screen(), Screen::RANKINGS);
        jobs.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Job(job) => Some(job),
            _ => None,
        }));
        delayed.press("esc");
    }
    assert_eq!(jobs.len(), 2);
    // The later query is read first.
    jobs.reverse();
    for job in jobs {
        for msg in job.run_here(&delayed.workbench()) {
            delayed.tell(msg);
        }
    }
    let model = &delayed.bench.model;
    let shown = model.open.as_ref().map(|open| &open.info.id);
    assert_eq!(shown, Some(&queries[1]));
    assert_eq!(shown, model.methods().query.as_ref());
}

#[test]
fn battles_of_a_student_open_the_pair_under_the_cursor() {
    let mut delayed = Delayed::new(Bench::judged(120, 40), 1);
    for key in ["Y", "v", "v", "v", "v", "v", "G", "enter"] {
        delayed.press(key);
        delayed.settle();
    }
    assert_eq!(delayed.bench.model.screen(), Screen::STUDENT_BATTLES);
    let battle = |delayed: &Delayed| {
        let student = &delayed.bench.model.student();
        let battle = student.battle(student.battle_cursor).unwrap();
        (battle.query.clone(), battle.pair)
    };
    let (other, _) = battle(&delayed);
    delayed.press("enter");
    delayed.press("esc");
    for _ in 0..delayed.bench.model.student().battles.len() {
        if battle(&delayed).0 == other {
            delayed.press("down");
        }
    }
    let (query, pair) = battle(&delayed);
    assert_ne!(query, other);
    delayed.press("enter");
    let mut jobs: Vec<Job> = delayed.outstanding.jobs.drain(..).collect();
    jobs.reverse();
    for job in jobs {
        for msg in job.run_here(&delayed.workbench()) {
            delayed.tell(msg);
        }
    }
    delayed.settle();
    let model = &delayed.bench.model;
    assert_eq!(model.open.as_ref().map(|open| &open.info.id), Some(&query));
    assert_eq!(model.battle.pair(), Some(pair));
}

#[test]
fn a_passage_stays_open_while_its_duel_is_read_again() {
    let bench = Bench::judged(120, 40);
    bench
        .store
        .write_blocking(|db| duel::duel(DuelForm::Grid)(db))
        .unwrap();
    let mut delayed = Delayed::new(bench, 1);
    delayed.press("X");
    let mut late: Vec<Job> = delayed.outstanding.jobs.drain(..).collect();
    delayed.press("esc");
    delayed.press("X");
    delayed.settle();
    delayed.press("enter");
    assert_eq!(delayed.bench.model.screen(), Screen::PASSAGE);
    let open = |delayed: &Delayed| {
        let duel = delayed.bench.model.duel().open().unwrap();
        duel.reading.as_ref().unwrap().document.clone()
    };
    let document = open(&delayed);
    // The first request is answered after the second one.
    let job = late.pop().unwrap();
    for msg in job.run_here(&delayed.workbench()) {
        delayed.tell(msg);
    }
    assert_eq!(open(&delayed), document);
    delayed.press("esc");
    assert_eq!(delayed.bench.model.screen(), Screen::DUEL);
}
