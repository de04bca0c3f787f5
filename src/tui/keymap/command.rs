//! What a key or the palette can run.

use serde::{Serialize, Serializer};
use std::fmt;

macro_rules! commands {
    ($($variant:ident $name:literal $doc:literal;)+) => {
        /// An act of the interface, named for the palette.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Command {
            $(#[doc = $doc] $variant,)+
        }

        impl Command {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)+ }
            }
        }
    };
}

commands! {
    Help "help" "Show the keys that work here.";
    Manual "manual" "Read the manual's chapter on this screen.";
    Palette "palette" "Find a command by name and run it.";
    Filter "filter" "Keep rows, or find words in a text or a document by name.";
    NextMatch "next-match" "Go to the next place where the words stand.";
    PreviousMatch "previous-match" "Go to the previous place where the words stand.";
    Undo "undo" "Take back the last verdict, ruling or answer of a duel.";
    Redo "redo" "Give again what was taken back last.";
    Back "back" "Close what is on top, or return to the screen before.";
    Quit "quit" "Leave the program; asks first, except on the first screen.";
    Suspend "suspend" "Suspend the program and return to the shell.";
    Redraw "redraw" "Draw the whole screen again.";
    NextRamp "next-ramp" "Change the colours of the heatmap.";
    PauseRun "pause-run" "Pause the run, or let it go on.";
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
    Open "open" "Open what is under the cursor.";
    NextPane "next-pane" "Go to the next pane.";
    PreviousPane "previous-pane" "Go to the previous pane.";
    StartRun "start-run" "Start judging, or resume where it stopped.";
    Import "import" "Import a file, a project or a benchmark; counted first.";
    Merge "merge" "Merge another person's project into this one; counted first.";
    BuildPools "build-pools" "Build pools of candidates from a benchmark's folder (BEIR).";
    Pick "pick" "Have judges pick the relevant documents; priced first.";
    Anchors "anchors" "Have a judge grade documents, for one scale; priced first.";
    Links "links" "Have judges compare documents of two queries; priced first.";
    Export "export" "Write scores, votes, verdicts, labels or picks to a file.";
    Settings "settings" "Choose colours, order, blindness and whose verdict counts.";
    SortQueries "sort-queries" "Sort the queries by the next column.";
    ReverseSort "reverse-sort" "Sort the queries the other way round.";
    ShowMatrix "show-matrix" "Show the battles of the query as a matrix.";
    StopRun "stop-run" "Stop the run; what is judged stays.";
    MoreCalls "more-calls" "Allow twice as many calls at a time.";
    FewerCalls "fewer-calls" "Allow half as many calls at a time.";
    SetBudget "set-budget" "Set the dollars that the project may have spent.";
    NextJudge "next-judge" "Choose the next judge of the run.";
    DropJudge "drop-judge" "Let the chosen judge make no more calls, or again.";
    Faster "faster" "Raise the limit of calls per second.";
    Slower "slower" "Lower the limit of calls per second.";
    FlipOrder "flip-order" "Order the documents by zELO or in hybrid order.";
    NextLayer "next-layer" "Show the next layer of the matrix.";
    PreviousLayer "previous-layer" "Show the previous layer of the matrix.";
    NextJudgeLayer "next-judge-layer" "Show the votes of the next judge alone.";
    ToggleExpectations "toggle-expectations" "Show or hide the fit's expectation where nobody voted.";
    ToggleTitles "toggle-titles" "Show titles or identifiers beside the rows.";
    Zoom "zoom" "Draw the cells of the matrix larger or smaller.";
    NextSurprise "next-surprise" "Go to the next most surprising battle.";
    PreviousSurprise "previous-surprise" "Go to the previous, more surprising battle.";
    RowDocument "row-document" "Open the document of the row.";
    ColumnDocument "column-document" "Open the document of the column.";
    ExpandReasoning "expand-reasoning" "Show a judge's reasoning in full or in brief.";
    SortBattles "sort-battles" "Sort the battles by the next column.";
    NextDocument "next-document" "Go to the next document.";
    PreviousDocument "previous-document" "Go to the previous document.";
    JudgeA "judge-a" "Rule that A is better.";
    JudgeAStrongly "judge-a-strongly" "Rule that A is much better.";
    JudgeB "judge-b" "Rule that B is better.";
    JudgeBStrongly "judge-b-strongly" "Rule that B is much better.";
    JudgeTie "judge-tie" "Rule that A and B are equally good.";
    CannotTell "cannot-tell" "Rule that this battle cannot be decided.";
    WriteNote "write-note" "Write down the reason for the verdict.";
    ToggleFullText "toggle-full-text" "Begin long texts at their top or at the best passage.";
    ToggleScrollLock "toggle-scroll-lock" "Scroll the two documents together or apart.";
    ToggleRawReply "toggle-raw-reply" "Show the judge's reply as sent or with its labels put right.";
    NextReasoning "next-reasoning" "Show the next judge's reasoning.";
    NextBattle "next-battle" "Go to the next battle.";
    PreviousBattle "previous-battle" "Go to the previous battle.";
    ShowQueue "show-queue" "Show which battles to look at first.";
    ShowJudges "show-judges" "Show how good each judge is.";
    ShowMethods "show-methods" "Show reranking methods: quality, cost, wins and losses.";
    ShowStudent "show-student" "Show what a student of the ensemble is worth.";
    NextStudent "next-student" "Show the next student.";
    NextFigure "next-figure" "Show the next figure of the student.";
    PreviousFigure "previous-figure" "Show the previous figure of the student.";
    NextCheckpoint "next-checkpoint" "Show the student's next checkpoint.";
    PreviousCheckpoint "previous-checkpoint" "Show the student's previous checkpoint.";
    NextTruth "next-truth" "Measure methods against labels, rulings or judges.";
    SetBaseline "set-baseline" "Test the other methods against this one.";
    NextDepth "next-depth" "Look at more documents of each ranking, then few again.";
    ExplainOrder "explain-order" "Show why one of the two documents stands above the other.";
    AskJudges "ask-judges" "Ask the judges about this pair now; the price is said first.";
    ShowCycles "show-cycles" "Show the cycles of the query: A over B over C over A.";
    NextPolicy "next-policy" "Order what is to be judged by the next policy.";
    PreviousPolicy "previous-policy" "Order what is to be judged by the previous policy.";
    WholeProject "whole-project" "Queue one query or the whole project.";
    Conflicts "conflicts" "List what people differ on or, in adjudication, own rulings.";
    PutOff "put-off" "Take this one up after all others.";
    Guideline "guideline" "Read the project's guideline.";
    Guess "guess" "Say that the verdict is a guess.";
    FairlySure "fairly-sure" "Say that you are fairly sure.";
    Sure "sure" "Say that you are sure.";
    CauseJudge "cause-judge" "Say that the judges are wrong.";
    CauseDefensible "cause-defensible" "Say that both documents can be defended.";
    CauseQuery "cause-query" "Say that the query is unclear.";
    CauseGuideline "cause-guideline" "Say that the guideline does not decide it.";
    CauseDocument "cause-document" "Say that a document is broken.";
    CauseOther "cause-other" "Say that there is another cause.";
    ShowAdjudication "show-adjudication" "Compare judges' picks with the benchmark's labels.";
    ShowTables "show-tables" "Show numbers: of a query, of picks by source, of a duel.";
    RuleRelevant "rule-relevant" "Rule that the document is relevant.";
    RulePartially "rule-partially" "Rule that the document is relevant in part.";
    RuleNot "rule-not" "Rule that the document is not relevant.";
    RuleCannotTell "rule-cannot-tell" "Rule that nobody can tell; the label stays.";
    FaultLabelWrong "fault-label-wrong" "Say that the label is wrong.";
    FaultLabelMissing "fault-label-missing" "Say that the label is missing.";
    FaultJudgeWrong "fault-judge-wrong" "Say that the judge is wrong.";
    FaultBoth "fault-both" "Say that label and pick can both be defended.";
    FaultQuery "fault-query" "Say that the query is unclear.";
    NewDuel "new-duel" "Make another duel of two rankings of the project.";
    ShowDuel "show-duel" "Open the latest duel: two rankings, compared blind.";
    ChooseWhole "choose-whole" "Choose the document as a whole.";
    RemoveChoice "remove-choice" "Take the choice of the document away.";
    NoneServes "none-serves" "Say that none of the documents serves the query.";
    FinishTask "finish-task" "Say that the task is done and go to the next one.";
    NextTask "next-task" "Go to the next task.";
    PreviousTask "previous-task" "Go to the previous task.";
    PauseTask "pause-task" "Hide the task and stop its clock, or go on.";
    PreferLeft "prefer-left" "Say that the left list is better.";
    PreferLeftStrongly "prefer-left-strongly" "Say that the left list is much better.";
    PreferNeither "prefer-neither" "Say that the lists are equally good.";
    PreferRight "prefer-right" "Say that the right list is better.";
    PreferRightStrongly "prefer-right-strongly" "Say that the right list is much better.";
    Place1 "place-one" "Go to the first document.";
    Place2 "place-two" "Go to the second document.";
    Place3 "place-three" "Go to the third document.";
    Place4 "place-four" "Go to the fourth document.";
    Place5 "place-five" "Go to the fifth document.";
    Place6 "place-six" "Go to the sixth document.";
    Place7 "place-seven" "Go to the seventh document.";
    Place8 "place-eight" "Go to the eighth document.";
    Place9 "place-nine" "Go to the ninth document.";
    MoreSentences "more-sentences" "Mark one more sentence.";
    FewerSentences "fewer-sentences" "Mark one sentence less.";
    EarlierStart "earlier-start" "Let the mark begin a word earlier.";
    LaterStart "later-start" "Let the mark begin a word later.";
    Submit "submit" "Accept the text.";
    Cancel "cancel" "Give up the text.";
}

impl Command {
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|command| command.name() == name)
    }

    /// Whether it gives a verdict, a ruling or an answer in a duel: only its own key may, in the verdict state.
    pub(crate) fn decides(self) -> bool {
        matches!(
            self,
            Self::JudgeA
                | Self::JudgeAStrongly
                | Self::JudgeB
                | Self::JudgeBStrongly
                | Self::JudgeTie
                | Self::CannotTell
                | Self::RuleRelevant
                | Self::RulePartially
                | Self::RuleNot
                | Self::RuleCannotTell
                | Self::ChooseWhole
                | Self::RemoveChoice
                | Self::NoneServes
                | Self::FinishTask
                | Self::PreferLeft
                | Self::PreferLeftStrongly
                | Self::PreferNeither
                | Self::PreferRight
                | Self::PreferRightStrongly
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
