//! A student's report as image files, and as an HTML page.

use super::report::StudentReport;
use crate::features::student::domain::figure::Figure;
use crate::features::student::formats::page::StudentPage;
use crate::features::student::formats::svg::{StudentStep, figure_svg, steps_svg};
use crate::formats::svg::Place;

impl StudentReport {
    /// File names with their content: `fig1.svg` to `fig10.svg`. With several checkpoints, the
    /// first figure shows all of them, the others are named `fig2-step100.svg` and so on, and
    /// `steps.svg` plots further numbers over the steps.
    pub fn pictures(&self) -> Vec<(String, String)> {
        let steps = self.drawn();
        let mut found = Vec::new();
        for figure in Figure::ALL {
            // The first figure shows all checkpoints.
            let several = steps.len() > 1 && figure != Figure::Accuracy;
            let drawn = if several { steps.len() } else { 1 };
            for (at, step) in steps.iter().take(drawn).enumerate() {
                let name = match step.step.filter(|_| several) {
                    Some(step) => format!("fig{}-step{step}.svg", figure.number()),
                    None => format!("fig{}.svg", figure.number()),
                };
                let svg = figure_svg(figure, &self.name, &steps, at, Place::File);
                found.extend(svg.map(|svg| (name, svg)));
            }
        }
        let over = steps_svg(&self.name, &steps, Place::File);
        found.extend(over.map(|svg| ("steps.svg".to_owned(), svg)));
        found
    }

    /// One figure at a checkpoint, by its index.
    pub fn picture(&self, figure: Figure, at: usize) -> Option<String> {
        let steps = self.drawn();
        let at = at.min(steps.len().checked_sub(1)?);
        figure_svg(figure, &self.name, &steps, at, Place::File)
    }

    /// An HTML page with all figures and their numbers.
    pub fn page(&self) -> String {
        let page = StudentPage {
            student: &self.name,
            notes: &self.notes,
            steps: &self.drawn(),
        };
        page.html()
    }

    fn drawn(&self) -> Vec<StudentStep<'_>> {
        let steps = self.steps.iter();
        steps
            .map(|of| StudentStep {
                step: of.step,
                figures: &of.figures,
            })
            .collect()
    }
}
