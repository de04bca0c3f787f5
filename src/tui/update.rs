//! Messages change the model and request effects. Nothing here waits, reads a clock or draws.

pub(crate) mod commands;
mod export;
mod import;
pub(crate) mod leaving;
mod log_page;
mod mouse;
pub(crate) mod offers;
mod overlay;
mod question_set;
mod redo;
mod requests;
mod results;
mod settings;
mod text_search;
pub(crate) mod verdict_state;

use super::key_gate::is_written;
use super::message::{Effect, Msg};
use super::model::{Model, Overlay};
use super::screens::{adjudication, duel, methods, queries, queue, review, ruling, run, student};
use super::widgets::page::Page;
use super::widgets::toast::Level;
use std::time::Instant;

pub fn update(model: &mut Model, msg: Msg, now: Instant) -> Vec<Effect> {
    let before = model.subject();
    let texts = matches!(msg, Msg::Texts(..) | Msg::Opened(..) | Msg::Evidence(..));
    let effects = answer(model, msg, now);
    redo::forget(model, &effects);
    if model.subject() != before {
        model.search = None;
    } else if texts {
        text_search::refresh(model);
    }
    effects
}

fn answer(model: &mut Model, msg: Msg, now: Instant) -> Vec<Effect> {
    model.now = now;
    if model.toast.as_ref().is_some_and(|toast| toast.expired(now)) {
        model.toast = None;
    }
    if matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_)) {
        duel::update::touched(model);
        model.touch(now);
    }
    match msg {
        Msg::Key(key) if verdict_state::follows_line(model) => {
            model.typed = Some(now);
            // Esc, Ctrl-C and the like are not part of a pasted line.
            if !is_written(key) {
                return overlay::on_key(model, key);
            }
            model.inform("keys right after a line are taken for part of it and ignored; wait a \
                          moment");
        }
        Msg::Key(key) => return overlay::on_key(model, key),
        Msg::TextAsKeys => model.inform(
            "many keys at once are taken for pasted text and ignored; wait a moment, then press one",
        ),
        Msg::Paste(text) => return overlay::on_paste(model, &text),
        Msg::Mouse(event) => return mouse::on_mouse(model, event),
        Msg::Resize(columns, rows) => model.size = (columns, rows),
        Msg::Tick => {}
        Msg::ChangedElsewhere => return results::changed_elsewhere(model),
        Msg::Listed(rows) => return queries::update::listed(model, rows),
        Msg::Summarised(summaries) => return queries::update::summarised(model, summaries),
        Msg::ScaleRead(asked, found) => model.scale.take(asked, found),
        Msg::Opened(generation, open) => return results::opened(model, generation, *open),
        Msg::Texts(key, texts) => {
            if let Some(open) = model.open.as_mut().filter(|open| open.info.key == key) {
                open.texts.extend(texts);
            }
            review::update::ready(model);
        }
        Msg::Votes(key, votes) => {
            if let Some(open) = model.open.as_mut().filter(|open| open.info.key == key) {
                open.votes.extend(votes);
            }
        }
        Msg::Saved(key) => return results::saved(model, key),
        Msg::SavedAgain(key, before) => {
            let words = before.words("A", "B");
            model.say(
                Level::Warn,
                &format!("you have decided this pair elsewhere in the meantime: {words}; your \
                          latest decision counts"),
            );
            return results::saved(model, key);
        }
        Msg::NotSaved(error) => return results::not_saved(model, &error),
        Msg::Undone(undone) => return results::undone(model, undone),
        Msg::Redone(redone) => return results::redone(model, redone),
        Msg::LastRun(run) => model.run.last = Some(run),
        Msg::Progress(progress) => return run::update::progressed(model, progress),
        Msg::PairDescribed(query, pair, description) => {
            queue::update::described(model, query, pair, description)
        }
        Msg::QueueWaits(generation, left) if generation == model.queue.generation => {
            model.queue.waits_for = Some(left);
        }
        Msg::StillWriting => model.say(
            Level::Warn,
            "still storing: waiting for the disk, or for another program that has locked the project",
        ),
        Msg::QueueFailed(generation, why) if generation == model.queue.generation => {
            model.say(Level::Error, &why);
            model.queue.failed = Some(why);
        }
        Msg::QueueWaits(..) | Msg::QueueFailed(..) => {}
        Msg::PairTitles(titles) => {
            let titles = titles.into_iter().map(|(pair, found)| (pair, Some(found)));
            model.queue.titles.extend(titles);
        }
        Msg::NoPairTitles(pairs, error) => {
            for pair in pairs {
                model.queue.titles.remove(&pair);
            }
            model.say(Level::Error, &error);
        }
        Msg::Titles(titles) => model.adjudication.titles.extend(titles),
        Msg::Queued(generation, items, stats) => {
            return queue::update::queued(model, generation, items, stats);
        }
        Msg::StudentReported(generation, found) => {
            student::update::reported(model, generation, found);
        }
        Msg::MethodsCompared(asked, report) => methods::update::compared(model, asked, report),
        Msg::JudgesReported(report, students) => {
            model.judges.report = Some(report);
            model.judges.students = students;
        }
        Msg::Without(judge, without) => model.judges.without = Some((judge, without)),
        Msg::Disagreements(generation, overview) => {
            return adjudication::update::overviewed(model, generation, overview);
        }
        Msg::Evidence(evidence) => return ruling::update::loaded(model, evidence),
        Msg::Ruled => model.saving = model.saving.saturating_sub(1),
        Msg::NotRuled(error) => {
            model.saving = model.saving.saturating_sub(1);
            model.say(Level::Error, &format!("the ruling was not stored: {error}"));
            return adjudication::update::not_stored(model);
        }
        Msg::RulingUndone(undone) => return adjudication::update::undone(model, undone),
        Msg::RulingRedone(redone) => return adjudication::update::redone(model, redone),
        Msg::DuelOpened(generation, found) => {
            return duel::update::opened(model, generation, found);
        }
        Msg::DuelMade(generation, made) => return duel::chooser::made(model, generation, made),
        Msg::DuelTexts(at, generation, texts) => duel::update::texts(model, at, generation, &texts),
        Msg::DuelRecorded(number, event) => duel::record::recorded(model, number, *event),
        Msg::DuelNotRecorded(number, error) => {
            duel::record::not_recorded(model, number, &error);
        }
        Msg::DuelResult(text) => show_page(model, "Result", &text),
        Msg::Prefetched(open) => {
            let now = model.open.as_ref();
            if now.is_none_or(|now| now.info.key != open.info.key) {
                model.prefetched = Some(*open);
            }
        }
        Msg::GuidelineLoaded(Some(text)) => show_page(model, "Guideline", &text),
        Msg::GuidelineLoaded(None) => {
            model.inform("this project has no guideline: overrule config project --guideline FILE");
        }
        Msg::FolderListed(generation, entries) => {
            if let Some(dialog) = import::dialog(model, generation) {
                dialog.listed(entries);
            }
        }
        Msg::ImportChecked(generation, found) => {
            if let Some(dialog) = import::dialog(model, generation) {
                dialog.checked(found);
            }
        }
        Msg::ImportProgress(share) => import::progressed(model, share),
        Msg::ProjectMade(result) => return import::made(model, result),
        Msg::Imported(result) => return import::ended(model, result),
        Msg::ContentsLookedUp(held) => export::looked_up(model, held),
        Msg::ExportExists(order, file) => export::ask_to_overwrite(model, order, &file),
        Msg::QuestionsPriced(generation, set, price) => {
            question_set::priced(model, generation, &set, price);
        }
        Msg::QuestionsProgress(progress) => question_set::progressed(model, progress),
        Msg::QuestionsEnded(result) => return question_set::ended(model, result),
        Msg::Exported(result) => export::ended(model, result),
        Msg::SettingsRead(project, student) => settings::open(model, *project, student),
        Msg::LogRead(_) if offers::judges_blind(model) => {}
        Msg::LogRead(rows) => show_page(model, "Log", &log_page::words(&rows)),
        Msg::StudentNamed(words) => {
            model.say(Level::Good, &words);
            let mut effects = vec![Effect::List];
            effects.extend(model.reload());
            return effects;
        }
        Msg::SettingsStored => {
            let mut effects = vec![Effect::List];
            effects.extend(model.reload());
            return effects;
        }
        Msg::Estimated(estimate) => return run::update::ask_to_start(model, &estimate),
        Msg::PairPriced(query, pair, priced) => {
            return run::ask_pair::priced(model, query, pair, priced);
        }
        Msg::Ended(result) => return run::update::ended(model, result),
        Msg::Failed(error) => {
            model.say(Level::Error, &error);
            model.loading = false;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdict_law;

/// Shows a requested text, unless something else was opened since: the text would cover what the
/// person is typing.
fn show_page(model: &mut Model, title: &'static str, text: &str) {
    if model.overlays.is_empty() {
        model.overlays.push(Overlay::Page(Page::new(title, text)));
    }
}
