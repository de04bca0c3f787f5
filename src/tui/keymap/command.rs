//! Commands that a key or the palette can run.

use serde::{Serialize, Serializer};
use std::fmt;

/// A command of a feature, which its folder defines as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddedCommand {
    name: &'static str,
    doc: &'static str,
    decides: bool,
    changes_data: bool,
}

impl AddedCommand {
    const fn new(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            decides: false,
            changes_data: false,
        }
    }
}

macro_rules! commands {
    ($($variant:ident $name:literal $doc:literal;)+) => {
        /// A command of the interface, named for the palette.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Command {
            $(#[doc = $doc] $variant,)+
            /// A command of a feature.
            Added(AddedCommand),
        }

        impl Command {
            /// The commands of the core.
            #[cfg(test)]
            pub(crate) const CORE: &'static [Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Added(added) => added.name,
                }
            }

            pub fn doc(self) -> &'static str {
                match self {
                    $(Self::$variant => $doc,)+
                    Self::Added(added) => added.doc,
                }
            }
        }
    };
}

commands! {
    Help "help" "Show the keys that work here.";
    Manual "manual" "Read the manual's chapter on this screen.";
    Tour "tour" "Start the tour of the sample from its beginning, or end it.";
    Palette "palette" "Find a command by name and run it.";
    Filter "filter" "Filter rows, or find words in a text or a document.";
    NextMatch "next-match" "Go to the next place where the words occur.";
    PreviousMatch "previous-match" "Go to the previous place where the words occur.";
    Undo "undo" "Undo the last verdict, ruling or answer of a duel.";
    Redo "redo" "Redo what was undone last.";
    Back "back" "Close what is on top, or return to the screen before.";
    Quit "quit" "Leave the program; asks first, except on the first screen.";
    Suspend "suspend" "Suspend the program and return to the shell.";
    Redraw "redraw" "Draw the whole screen again.";
    NextRamp "next-ramp" "Change the colors of the heatmap.";
    PauseRun "pause-run" "Pause the run, or resume it.";
    ShowRun "show-run" "Show the run: calls, pace, spend, failures.";
    Copy "copy" "Copy what is under the cursor to the clipboard.";
    Down "down" "Move down.";
    Up "up" "Move up.";
    Left "left" "Move left.";
    Right "right" "Move right.";
    First "first" "Go to the first row.";
    Last "last" "Go to the last row.";
    PageDown "page-down" "Go down by a page.";
    PageUp "page-up" "Go up by a page.";
    BorderBack "border-back" "Move the border between two panes to the left or up.";
    BorderForward "border-forward" "Move the border between two panes to the right or down.";
    Open "open" "Open what is under the cursor.";
    NextPane "next-pane" "Go to the next pane.";
    PreviousPane "previous-pane" "Go to the previous pane.";
    StartRun "start-run" "Start judging, or resume where it stopped.";
    Import "import" "Import a file, a project or a benchmark; counted first.";
    Merge "merge" "Merge another person's project into this one; counted first.";
    BuildPools "build-pools" "Build pools of candidates from a benchmark's folder (BEIR).";
    Pick "pick" "Have judges pick the relevant documents; priced first.";
    Batches "batches" "Submit missing calls as batches, or fetch them; priced first.";
    Export "export" "Write the chart, scores, votes, verdicts or labels to a file.";
    ShowLog "show-log" "Read what was decided, imported and run, the latest first.";
    Settings "settings" "Choose colors, order, blindness, verdicts, top k, student.";
    SortQueries "sort-queries" "Sort the queries by the next column.";
    ReverseSort "reverse-sort" "Sort the queries the other way round.";
    ShowMatrix "show-matrix" "Show the battles of the query as a matrix.";
    StopRun "stop-run" "Stop the run; all votes are kept.";
    MoreCalls "more-calls" "Allow twice as many calls at a time.";
    FewerCalls "fewer-calls" "Allow half as many calls at a time.";
    SetBudget "set-budget" "Set the total that the project may spend, in dollars.";
    NextJudge "next-judge" "Choose the next judge of the run.";
    DropJudge "drop-judge" "Drop the chosen judge from the run, or add it again.";
    WithoutJudge "without-judge" "Show what would change without the judge; drops none.";
    Faster "faster" "Raise the limit of calls per second.";
    Slower "slower" "Lower the limit of calls per second.";
    CompareOrders "compare-orders" "Compare the hybrid and the zELO order.";
    FlipOrder "flip-order" "Order the documents by zELO or in hybrid order.";
    NextLayer "next-layer" "Show the next layer of the matrix.";
    PreviousLayer "previous-layer" "Show the previous layer of the matrix.";
    NextJudgeLayer "next-judge-layer" "Show the votes of the next judge alone.";
    ToggleExpectations "toggle-expectations" "Show or hide the fit's expectation where nobody voted.";
    ToggleTitles "toggle-titles" "Show titles or identifiers next to the rows.";
    Zoom "zoom" "Draw the cells of the matrix larger or smaller.";
    NextSurprise "next-surprise" "Go to the next most surprising battle.";
    PreviousSurprise "previous-surprise" "Go to the previous, more surprising battle.";
    RowDocument "row-document" "Open the document of the row.";
    ColumnDocument "column-document" "Open the document of the column.";
    ExpandReasoning "expand-reasoning" "Show a judge's reasoning in full or in brief.";
    SortBattles "sort-battles" "Sort the battles by the next column.";
    NextDocument "next-document" "Go to the next document.";
    PreviousDocument "previous-document" "Go to the previous document.";
    JudgeA "judge-a" "Verdict: A is better.";
    JudgeAStrongly "judge-a-strongly" "Verdict: A is much better.";
    JudgeB "judge-b" "Verdict: B is better.";
    JudgeBStrongly "judge-b-strongly" "Verdict: B is much better.";
    JudgeTie "judge-tie" "Verdict: A and B are equally good.";
    CannotTell "cannot-tell" "Verdict: nobody can tell which is better.";
    WriteNote "write-note" "Write down the reason for the verdict.";
    ToggleFullText "toggle-full-text" "Start long texts at their top or at the best passage.";
    ToggleScrollLock "toggle-scroll-lock" "Scroll the two documents together or apart.";
    ToggleRawReply "toggle-raw-reply" "Show the judge's reply as sent, or with its labels corrected.";
    NextReasoning "next-reasoning" "Show the next judge's reasoning.";
    NextBattle "next-battle" "Go to the next battle.";
    PreviousBattle "previous-battle" "Go to the previous battle.";
    ShowQueue "show-queue" "Show which battles to look at first.";
    ShowJudges "show-judges" "Show how good each judge is.";
    SetUpJudges "set-up-judges" "Choose, test and save the judges of the project.";
    ChooseJudge "choose-judge" "Choose the judge, or remove it from the chosen ones.";
    TestJudge "test-judge" "Ask the judge one question; asks first if it costs money.";
    EditJudge "edit-judge" "Edit the judge's address, key variable and parameters.";
    NextPrompt "next-prompt" "Use the next prompt for the judge.";
    SaveJudges "save-judges" "Write the chosen judges to overrule.toml and use them.";
    ExplainOrder "explain-order" "Show why one of the two documents stands above the other.";
    AskJudges "ask-judges" "Ask the judges about this pair; the price is shown first.";
    ColorSlices "color-slices" "Color the rows of the matrix by this field, or stop that.";
    ShowSlices "show-slices" "Compare scores by a metadata field, and filter the matrix.";
    ShowCycles "show-cycles" "Show the cycles of the query: A over B over C over A.";
    NextPolicy "next-policy" "Use the next order of the list.";
    PreviousPolicy "previous-policy" "Use the previous order of the list.";
    WholeProject "whole-project" "List pairs of one query or of the whole project.";
    Conflicts "conflicts" "List where people differ; in adjudication, also your rulings.";
    Accept "accept" "Find the battles that need no person: start, or show them.";
    PutOff "put-off" "Postpone this one: it comes after all others.";
    Guideline "guideline" "Read the project's guideline.";
    EditGuideline "edit-guideline" "Edit the project's guideline, in $EDITOR if it is set.";
    ChooseGuideline "choose-guideline" "Take the project's guideline from a file.";
    Guess "guess" "Add to the verdict: it is a guess.";
    FairlySure "fairly-sure" "Add to the verdict: you are fairly sure.";
    Sure "sure" "Add to the verdict: you are sure.";
    CauseJudge "cause-judge" "Cause: the judges are wrong.";
    CauseDefensible "cause-defensible" "Cause: both documents can be defended.";
    CauseQuery "cause-query" "Cause: the query is unclear.";
    CauseGuideline "cause-guideline" "Cause: the guideline does not decide it.";
    CauseDocument "cause-document" "Cause: a document is broken.";
    CauseOther "cause-other" "Cause: something else.";
    ShowAdjudication "show-adjudication" "Compare judges' picks with the benchmark's labels.";
    ShowTables "show-tables" "Show all numbers or words of what is under the cursor.";
    RuleRelevant "rule-relevant" "Ruling: the document is relevant.";
    RulePartially "rule-partially" "Ruling: the document is partially relevant.";
    RuleNot "rule-not" "Ruling: the document is not relevant.";
    RuleCannotTell "rule-cannot-tell" "Ruling: nobody can tell; the label stays.";
    FaultLabelWrong "fault-label-wrong" "Cause: the label is wrong.";
    FaultLabelMissing "fault-label-missing" "Cause: the label is missing.";
    FaultJudgeWrong "fault-judge-wrong" "Cause: the judge is wrong.";
    FaultBoth "fault-both" "Cause: label and pick can both be defended.";
    FaultQuery "fault-query" "Cause: the query is unclear.";
    Submit "submit" "Accept the text.";
    Cancel "cancel" "Discard the text.";
}

impl Command {
    /// A command of a feature, with its name in the palette and a sentence about it.
    pub(crate) const fn added(name: &'static str, doc: &'static str) -> Self {
        Self::Added(AddedCommand::new(name, doc))
    }

    /// The same, for a command that gives an answer; see [`Self::decides`].
    pub(crate) const fn decision(name: &'static str, doc: &'static str) -> Self {
        Self::Added(AddedCommand {
            decides: true,
            ..AddedCommand::new(name, doc)
        })
    }

    /// The same, for a command that changes data immediately; see [`Self::changes_data`].
    pub(crate) const fn change(name: &'static str, doc: &'static str) -> Self {
        Self::Added(AddedCommand {
            changes_data: true,
            ..AddedCommand::new(name, doc)
        })
    }

    /// Whether it gives a verdict, a ruling or an answer in a duel. In the verdict state, such a
    /// command runs only on its own key.
    pub(crate) fn decides(self) -> bool {
        matches!(
            self,
            Self::Added(AddedCommand { decides: true, .. })
                | Self::JudgeA
                | Self::JudgeAStrongly
                | Self::JudgeB
                | Self::JudgeBStrongly
                | Self::JudgeTie
                | Self::CannotTell
                | Self::RuleRelevant
                | Self::RulePartially
                | Self::RuleNot
                | Self::RuleCannotTell
        )
    }

    /// Whether it changes the project or a run immediately, without opening a dialog. Verdicts,
    /// rulings and answers are not included, because they only have keys.
    pub(crate) fn changes_data(self) -> bool {
        matches!(
            self,
            Self::Added(AddedCommand {
                changes_data: true,
                ..
            }) | Self::StartRun
                | Self::MoreCalls
                | Self::FewerCalls
                | Self::Faster
                | Self::Slower
                | Self::DropJudge
                | Self::PutOff
                | Self::Guess
                | Self::FairlySure
                | Self::Sure
                | Self::CauseJudge
                | Self::CauseDefensible
                | Self::CauseQuery
                | Self::CauseGuideline
                | Self::CauseDocument
                | Self::CauseOther
                | Self::FaultLabelWrong
                | Self::FaultLabelMissing
                | Self::FaultJudgeWrong
                | Self::FaultBoth
                | Self::FaultQuery
                | Self::SaveJudges
        )
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
