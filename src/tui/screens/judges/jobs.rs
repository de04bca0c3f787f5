//! Computes the judge report, and the ranking without a judge.

use crate::app::error::AppError;
use crate::app::judge_report::ranking_shift::{RankingShift, ranking_without_judge};
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::domain::vote::JudgeId;
use crate::registry::RATERS;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::additions::AddedRaters;
use crate::tui::slot::Slot;

const REPORT: Slot = Slot::of(Screen::JUDGES, "report");
const WITHOUT: Slot = Slot::of(Screen::JUDGES, "without a judge");

#[derive(Debug, PartialEq)]
pub(crate) struct ReportJudges;

impl Task for ReportJudges {
    type Answer = (RaterReport, Vec<Box<dyn AddedRaters>>);

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let store = context.store();
        let report = rater_report(&store, None)?;
        let added = RATERS.iter().map(|read| read(&store));
        Ok((report, added.collect::<Result<_, _>>()?))
    }
}

#[derive(Debug, PartialEq)]
struct RankWithout(JudgeId);

impl Task for RankWithout {
    type Answer = RankingShift;

    fn run(self, context: &JobContext) -> Result<RankingShift, AppError> {
        let work = move |db: &mut _| ranking_without_judge(db, self.0);
        Ok(context.store().read_blocking(work)?)
    }
}

impl Model {
    pub(crate) fn report_judges(&mut self) -> Vec<Effect> {
        let job = Job::task(ReportJudges, |model, (report, added)| {
            model.judges_mut().report = Some(Box::new(report));
            model.judges_mut().added = added;
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, REPORT).into()]
    }

    pub(crate) fn rank_without_judge(&mut self, judge: JudgeId) -> Vec<Effect> {
        let job = Job::task(RankWithout(judge), move |model, shift| {
            model.judges_mut().without = Some((judge, shift));
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, WITHOUT).into()]
    }
}
