use super::commands;
use super::jobs::ReportStudent;
use super::update::{ask, offers, reported, update};
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::app::{ReportedBattle, StepReport, StudentReport, StudentsFound};
use crate::features::student::domain::OrderShift;
use crate::features::student::domain::figure::Figure;
use crate::features::student::domain::figures::{FigureOptions, Figures, StudentRow};
use crate::tui::job::{answer, only};
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model};
use crate::tui::theme::ColorDepth;
use crate::tui::update::update as apply;

fn step(step: Option<u64>, battles: usize) -> StepReport {
    let row = |at: usize| {
        let a = (at % 23) as f64 / 22.0;
        let b = (1.0 - a) * (at % 17) as f64 / 16.0;
        StudentRow {
            score: (at % 7) as f64 / 6.0,
            predicted: OutcomeProbabilities::new(a, b).unwrap(),
            query: at % 5,
        }
    };
    let rows: Vec<StudentRow> = (0..battles).map(row).collect();
    let battle = |row: &StudentRow| ReportedBattle {
        query: QueryId::new("hostile\u{1b}[2J"),
        pair: Pair::new(0, 1).unwrap(),
        a: DocId::new("a\u{1b}[31m"),
        b: DocId::new("b"),
        score: row.score,
        predicted: row.predicted,
    };
    let p = |a, b| OutcomeProbabilities::new(a, b).unwrap();
    StepReport {
        step,
        figures: Figures::of(rows.clone(), &FigureOptions::of(battles)).unwrap(),
        order: OrderShift::of([(p(0.7, 0.2), p(0.1, 0.6))]),
        unjudged: 0,
        battles: rows.iter().map(battle).collect(),
    }
}

fn found(name: &str, steps: Vec<StepReport>) -> Box<StudentsFound> {
    Box::new(StudentsFound {
        names: vec!["one".to_owned(), "two".to_owned()],
        report: Some(StudentReport {
            name: name.to_owned(),
            judged: 900,
            steps,
            notes: Vec::new(),
        }),
    })
}

/// Two students, the first with three checkpoints.
fn shown() -> Model {
    let mut model = model(Screen::STUDENT);
    let steps = [(100, 40), (200, 150), (300, 300)];
    let steps = steps.map(|(number, battles)| step(Some(number), battles));
    reported(&mut model, Ok(found("one", steps.into())));
    model
}

#[test]
fn the_latest_checkpoint_comes_first_and_the_others_are_a_key_away() {
    let mut model = shown();
    model.student_mut().figure = Figure::Accuracy;
    model.student_mut().regroup();
    let page = flat(&mut model, SIZES[1]);
    for words in [
        "student one · 1 of 2",
        "step 300, 3 of 3",
        "N = 300 battles of 5 queries",
        "900 judged",
        " a coin",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The axis names the first and the last step.
    for size in SIZES {
        let page = flat(&mut model, size);
        let axis = page.split("checkpoint →").collect::<Vec<_>>();
        assert!(
            axis.len() == 2 && axis[0].trim_end().ends_with("100"),
            "{page}"
        );
        assert!(axis[1].trim_start().starts_with("300"), "{page}");
    }
    // The middle number is next to its line, whether the number of rows is even or odd.
    for height in 24..28 {
        let page = flat(&mut model, (100, height));
        assert!(page.contains("0.50│┄"), "{height}: {page}");
    }
    update(&mut model, commands::PREVIOUS_CHECKPOINT);
    assert!(flat(&mut model, SIZES[1]).contains("step 200, 2 of 3"));
    update(&mut model, commands::NEXT_CHECKPOINT);
    update(&mut model, commands::NEXT_CHECKPOINT);
    assert_eq!(model.student().step, 2);
}

#[test]
fn tab_asks_for_the_next_student_and_late_answers_are_dropped() {
    let mut model = shown();
    let mut late = ask(&mut model, None);
    let mut effects = update(&mut model, commands::NEXT_STUDENT);
    let Some(ReportStudent(name)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(name.as_deref(), Some("two"));
    let now = model.now;
    let found_late = *found("late", vec![step(None, 5)]);
    apply(
        &mut model,
        answer::<ReportStudent>(&mut late, found_late),
        now,
    );
    assert!(flat(&mut model, SIZES[0]).contains("student one"));
    let two = *found("two", vec![step(None, 5)]);
    apply(&mut model, answer::<ReportStudent>(&mut effects, two), now);
    let page = flat(&mut model, SIZES[0]);
    assert!(
        page.contains("student two · 2 of 2") && page.contains("N = 5 battles"),
        "{page}"
    );
    assert!(!offers(&model, commands::NEXT_CHECKPOINT) && offers(&model, commands::NEXT_STUDENT));
}

#[test]
fn every_group_of_every_figure_can_be_reached_and_opened() {
    let mut model = shown();
    assert_eq!(model.student().figure, Figure::Buckets);
    model.student_mut().figure = Figure::Accuracy;
    model.student_mut().regroup();
    for figure in Figure::ALL {
        assert_eq!(model.student().figure, figure);
        let count = model.student().groups.len();
        let mut seen = vec![false; count];
        let ways = [Command::Right, Command::Left, Command::Up, Command::Down];
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            for way in ways {
                model.student_mut().cursor = at;
                update(&mut model, way);
                open.push(model.student().cursor);
            }
        }
        assert!(seen.iter().all(|seen| *seen), "{figure:?}");
        model.student_mut().cursor = count - 1;
        let battles = model.student().groups[count - 1].rows.len();
        update(&mut model, Command::Open);
        assert_eq!(model.screen() == Screen::STUDENT_BATTLES, battles > 0);
        if battles > 0 {
            assert_eq!(model.student().battles.len(), battles);
            model.stack.pop();
        }
        update(&mut model, commands::NEXT_FIGURE);
    }
    assert_eq!(model.student().figure, Figure::Accuracy);
}

#[test]
fn battles_are_listed_from_the_farthest_on_without_control_characters() {
    let mut model = shown();
    model.student_mut().figure = Figure::Buckets;
    model.student_mut().regroup();
    update(&mut model, Command::Last);
    update(&mut model, Command::Open);
    let figures = &model.student().step().unwrap().figures;
    let distances: Vec<f64> = model
        .student()
        .battles
        .iter()
        .map(|at| (figures.rows[*at].expected() - figures.rows[*at].score).abs())
        .collect();
    assert!(distances.windows(2).all(|pair| pair[0] >= pair[1]) && distances.len() > 3);
    let page = drawn(&mut model, ColorDepth::None, SIZES[0]);
    assert!(
        !page.contains('\u{1b}') && page.contains("P(tie)"),
        "{page}"
    );
}

#[test]
fn what_cannot_be_shown_is_said() {
    let mut model = model(Screen::STUDENT);
    assert!(flat(&mut model, SIZES[0]).contains("calculating"));
    let error = AppError::Failed("no pair is judged".to_owned());
    reported(&mut model, Err(error));
    assert!(flat(&mut model, SIZES[0]).contains("no pair is judged"));
    let none = StudentsFound {
        names: Vec::new(),
        report: None,
    };
    reported(&mut model, Ok(Box::new(none)));
    let page = flat(&mut model, SIZES[0]);
    assert!(page.contains("overrule student train"), "{page}");
    for command in [
        Command::Open,
        commands::NEXT_FIGURE,
        commands::NEXT_STUDENT,
        Command::Down,
    ] {
        assert!(update(&mut model, command).is_empty());
    }
}

#[test]
fn no_size_and_no_depth_is_too_small() {
    let mut model = shown();
    for _ in Figure::ALL {
        for size in TINY.into_iter().chain(SIZES) {
            drawn(&mut model, ColorDepth::None, size);
            drawn(&mut model, ColorDepth::True, size);
        }
        update(&mut model, commands::NEXT_FIGURE);
    }
    update(&mut model, Command::Open);
    for size in TINY.into_iter().chain(SIZES) {
        drawn(&mut model, ColorDepth::True, size);
    }
}
