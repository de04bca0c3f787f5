use super::*;
use crate::domain::prediction::OutcomeProbabilities;
use crate::domain::sampling::SeededRng;
use crate::features::student::domain::figures::{FigureOptions, StudentRow};
use crate::formats::svg::tests::well_formed;

fn figures(battles: usize) -> Figures {
    let mut rng = SeededRng::new(5, &["student figures"]);
    let mut rows = Vec::new();
    for at in 0..battles {
        let a = rng.unit();
        let b = (1.0 - a) * rng.unit();
        rows.push(StudentRow {
            score: (rng.unit() * 6.0).round() / 6.0,
            predicted: OutcomeProbabilities::new(a, b).unwrap(),
            query: at % 9,
        });
    }
    Figures::of(rows, &FigureOptions::of(battles)).unwrap()
}

#[test]
fn figures_are_well_formed_with_axes_and_n_from_one_battle_on() {
    for battles in [1, 2, 7, 400] {
        let figures = figures(battles);
        let steps = [StudentStep {
            step: None,
            figures: &figures,
        }];
        for figure in Figure::ALL {
            let svg = figure_svg(figure, "llama-8b", &steps, 0, Place::File).unwrap();
            assert!(well_formed(&svg) > 8, "{figure:?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{figure:?}");
            assert!(
                svg.contains(&format!("N = {battles} battles")),
                "{figure:?}"
            );
            assert!(svg.contains("prefers-color-scheme:dark"));
        }
        assert_eq!(steps_svg("llama-8b", &steps, Place::File), None);
        assert_eq!(figure_svg(Figure::Fold, "s", &steps, 1, Place::File), None);
    }
}

#[test]
fn a_dot_stands_for_every_battle() {
    let figures = figures(400);
    let steps = [StudentStep {
        step: Some(100),
        figures: &figures,
    }];
    for figure in [Figure::Triangle, Figure::Fold, Figure::Radius, Figure::Axes] {
        let svg = figure_svg(figure, "s", &steps, 0, Place::Page).unwrap();
        assert_eq!(svg.matches("h0").count(), 400, "{figure:?}");
        assert!(svg.contains("step 100") && !svg.contains("<style>"));
    }
}

#[test]
fn several_checkpoints_are_points_of_one_line() {
    let (one, two) = (figures(60), figures(400));
    let steps = [(100, &one), (200, &two)].map(|(step, figures)| StudentStep {
        step: Some(step),
        figures,
    });
    let svg = steps_svg("s", &steps, Place::File).unwrap();
    assert!(well_formed(&svg) > 20);
    assert_eq!(svg.matches("<circle").count(), 6);
    let accuracy = figure_svg(Figure::Accuracy, "s", &steps, 1, Place::File).unwrap();
    assert_eq!(accuracy.matches("<circle").count(), 2);
}

#[test]
fn a_hostile_name_stays_text() {
    let figures = figures(5);
    let steps = [StudentStep {
        step: None,
        figures: &figures,
    }];
    let svg = figure_svg(
        Figure::Fold,
        "</title><script>x</script>",
        &steps,
        0,
        Place::File,
    );
    let svg = svg.unwrap();
    well_formed(&svg);
    assert!(!svg.contains("<script>"));
}
