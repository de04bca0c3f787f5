//! The bindings. Within a scope the order is the footer's: most important first.

use crossterm::event::KeyCode;

use super::{Binding, Command as Do, KeyChord, Scope};

const fn shown(
    scope: Scope,
    keys: &'static [KeyChord],
    command: Do,
    hint: &'static str,
) -> Binding {
    Binding {
        scope,
        keys,
        command,
        hint,
        footer: true,
    }
}

const fn quiet(
    scope: Scope,
    keys: &'static [KeyChord],
    command: Do,
    hint: &'static str,
) -> Binding {
    Binding {
        scope,
        keys,
        command,
        hint,
        footer: false,
    }
}

macro_rules! keys {
    ($($key:expr),+) => { &[$($key),+] };
}

const fn k(c: char) -> KeyChord {
    KeyChord::char(c)
}

const ENTER: KeyChord = KeyChord::code(KeyCode::Enter);
const ESC: KeyChord = KeyChord::code(KeyCode::Esc);
const TAB: KeyChord = KeyChord::code(KeyCode::Tab);
const BACK_TAB: KeyChord = KeyChord::code(KeyCode::BackTab);

use Scope::{
    Adjudication, Battle, Cycles, Document, Global, Input, Judges, List, Matrix, Queries, Queue,
    Review, Ruling, Run,
};

/// Every binding of the interface.
pub const BINDINGS: &[Binding] = &[
    shown(Queries, keys![ENTER], Do::Open, "matrix"),
    quiet(Queries, keys![k('m')], Do::ShowMatrix, "matrix"),
    shown(Queries, keys![k('s')], Do::StartRun, "start"),
    shown(Queries, keys![k('o')], Do::SortQueries, "sort"),
    shown(Queries, keys![k('w')], Do::ShowQueue, "queue"),
    shown(Queries, keys![k('J')], Do::ShowJudges, "judges"),
    shown(Queries, keys![k('C')], Do::ShowAdjudication, "adjudicate"),
    shown(Run, keys![k('s')], Do::StartRun, "start"),
    shown(Run, keys![k('x')], Do::StopRun, "stop"),
    shown(Run, keys![k('+'), k('=')], Do::MoreCalls, "more"),
    shown(Run, keys![k('-')], Do::FewerCalls, "fewer"),
    shown(Run, keys![k('b')], Do::SetBudget, "budget"),
    shown(Run, keys![k('n')], Do::NextJudge, "next judge"),
    shown(Run, keys![k('d')], Do::DropJudge, "drop judge"),
    shown(Run, keys![k(']')], Do::Faster, "faster"),
    shown(Run, keys![k('[')], Do::Slower, "slower"),
    shown(Matrix, keys![ENTER], Do::Open, "battle"),
    shown(Matrix, keys![k('n')], Do::NextSurprise, "surprise"),
    quiet(Matrix, keys![k('N')], Do::PreviousSurprise, "previous"),
    shown(Matrix, keys![k('v')], Do::NextLayer, "layer"),
    quiet(Matrix, keys![k('V')], Do::PreviousLayer, "layer back"),
    shown(Matrix, keys![k('o')], Do::FlipOrder, "order"),
    shown(Matrix, keys![k('d')], Do::RowDocument, "row doc"),
    quiet(Matrix, keys![k('D')], Do::ColumnDocument, "column doc"),
    quiet(Matrix, keys![k('J')], Do::NextJudgeLayer, "judge"),
    shown(Matrix, keys![k('z')], Do::Zoom, "zoom"),
    shown(Matrix, keys![k('w')], Do::ShowQueue, "queue"),
    quiet(Matrix, keys![k('t')], Do::ShowCycles, "cycles"),
    shown(Document, keys![ENTER], Do::Open, "battle"),
    shown(Document, keys![k('e')], Do::ExpandReasoning, "reasoning"),
    shown(Document, keys![k('o')], Do::SortBattles, "sort"),
    shown(Document, keys![k('n')], Do::NextDocument, "next"),
    quiet(Document, keys![k('N')], Do::PreviousDocument, "previous"),
    shown(Battle, keys![k('a')], Do::JudgeA, "A better"),
    shown(Battle, keys![k('b')], Do::JudgeB, "B better"),
    shown(Battle, keys![k('t')], Do::JudgeTie, "tie"),
    shown(Battle, keys![k('x')], Do::CannotTell, "can't tell"),
    quiet(Battle, keys![k('A')], Do::JudgeAStrongly, "A by far"),
    quiet(Battle, keys![k('B')], Do::JudgeBStrongly, "B by far"),
    shown(Battle, keys![k('i')], Do::WriteNote, "reason"),
    shown(Battle, keys![k('n')], Do::NextBattle, "next"),
    quiet(Battle, keys![k('N')], Do::PreviousBattle, "previous"),
    shown(Battle, keys![k('f')], Do::ToggleFullText, "full text"),
    shown(Battle, keys![TAB], Do::NextReasoning, "judge"),
    quiet(Battle, keys![k('w')], Do::ToggleRawReply, "raw reply"),
    quiet(Battle, keys![k('s')], Do::ToggleScrollLock, "scroll lock"),
    shown(Queue, keys![ENTER], Do::Open, "judge"),
    shown(Queue, keys![k('o')], Do::NextPolicy, "order"),
    quiet(Queue, keys![k('O')], Do::PreviousPolicy, "order back"),
    shown(Queue, keys![k('m')], Do::WholeProject, "scope"),
    shown(Queue, keys![k('d')], Do::Conflicts, "conflicts"),
    shown(Queue, keys![k('v')], Do::Guideline, "guideline"),
    shown(Review, keys![k('a')], Do::JudgeA, "A better"),
    shown(Review, keys![k('b')], Do::JudgeB, "B better"),
    shown(Review, keys![k('t')], Do::JudgeTie, "tie"),
    shown(Review, keys![k('x')], Do::CannotTell, "can't tell"),
    shown(Review, keys![ENTER], Do::Open, "keep, next"),
    quiet(Review, keys![k('A')], Do::JudgeAStrongly, "A by far"),
    quiet(Review, keys![k('B')], Do::JudgeBStrongly, "B by far"),
    shown(Review, keys![k('s')], Do::PutOff, "later"),
    shown(Review, keys![k('i')], Do::WriteNote, "reason"),
    shown(Review, keys![k('f')], Do::ToggleFullText, "full text"),
    shown(Review, keys![k('v')], Do::Guideline, "guideline"),
    quiet(Review, keys![k('n')], Do::NextBattle, "next"),
    quiet(Review, keys![k('N')], Do::PreviousBattle, "previous"),
    quiet(Review, keys![k('1')], Do::Guess, "a guess"),
    quiet(Review, keys![k('2')], Do::FairlySure, "fairly sure"),
    quiet(Review, keys![k('3')], Do::Sure, "sure"),
    quiet(Review, keys![k('4')], Do::CauseJudge, "judges wrong"),
    quiet(Review, keys![k('5')], Do::CauseDefensible, "both"),
    quiet(Review, keys![k('6')], Do::CauseQuery, "query"),
    quiet(Review, keys![k('7')], Do::CauseGuideline, "guideline"),
    quiet(Review, keys![k('8')], Do::CauseDocument, "document"),
    quiet(Review, keys![k('9')], Do::CauseOther, "other"),
    quiet(Review, keys![TAB], Do::NextReasoning, "judge"),
    quiet(Review, keys![k('w')], Do::ToggleRawReply, "raw reply"),
    shown(Judges, keys![ENTER], Do::Open, "its battles"),
    shown(Judges, keys![k('d')], Do::DropJudge, "without it"),
    shown(Judges, keys![k('w')], Do::ShowQueue, "queue"),
    shown(Cycles, keys![ENTER], Do::Open, "weakest"),
    shown(Cycles, keys![k('w')], Do::ShowQueue, "queue"),
    shown(Adjudication, keys![ENTER], Do::Open, "rule"),
    shown(Adjudication, keys![k('o')], Do::NextPolicy, "order"),
    quiet(
        Adjudication,
        keys![k('O')],
        Do::PreviousPolicy,
        "order back",
    ),
    shown(Adjudication, keys![k('d')], Do::Conflicts, "other lists"),
    shown(Adjudication, keys![k('t')], Do::ShowTables, "tables"),
    shown(Adjudication, keys![TAB], Do::NextPane, "ranking"),
    shown(Adjudication, keys![k('v')], Do::Guideline, "guideline"),
    shown(Ruling, keys![k('1')], Do::RuleRelevant, "relevant"),
    quiet(Ruling, keys![k('2')], Do::RulePartially, "partially"),
    shown(Ruling, keys![k('3')], Do::RuleNot, "not"),
    quiet(
        Ruling,
        keys![k('4'), k('x')],
        Do::RuleCannotTell,
        "can't tell",
    ),
    shown(Ruling, keys![ENTER], Do::Open, "keep, next"),
    shown(Ruling, keys![k('s')], Do::PutOff, "later"),
    shown(Ruling, keys![k('i')], Do::WriteNote, "reason"),
    shown(Ruling, keys![k('f')], Do::ToggleFullText, "top, passage"),
    shown(Ruling, keys![k('v')], Do::Guideline, "guideline"),
    quiet(Ruling, keys![k('5')], Do::FaultLabelWrong, "label wrong"),
    quiet(Ruling, keys![k('6')], Do::FaultLabelMissing, "missing"),
    quiet(Ruling, keys![k('7')], Do::FaultJudgeWrong, "judge wrong"),
    quiet(Ruling, keys![k('8')], Do::FaultBoth, "both"),
    quiet(Ruling, keys![k('9')], Do::FaultQuery, "query"),
    quiet(Ruling, keys![k('n')], Do::NextDocument, "next"),
    quiet(Ruling, keys![k('N')], Do::PreviousDocument, "previous"),
    shown(List, keys![ENTER], Do::Open, "choose"),
    shown(List, keys![ESC, k('q')], Do::Back, "close"),
    shown(Input, keys![ENTER], Do::Submit, "accept"),
    shown(Input, keys![ESC], Do::Cancel, "cancel"),
    shown(Global, keys![k('?')], Do::Help, "help"),
    shown(Global, keys![k('/')], Do::Filter, "filter"),
    shown(Global, keys![k(':')], Do::Palette, "commands"),
    shown(Global, keys![k('u')], Do::Undo, "undo"),
    shown(Global, keys![k('p')], Do::PauseRun, "pause"),
    shown(Global, keys![k('r')], Do::ShowRun, "run"),
    shown(Global, keys![ESC], Do::Back, "back"),
    shown(Global, keys![k('q'), KeyChord::ctrl('c')], Do::Quit, "quit"),
    quiet(Global, keys![ENTER], Do::Open, "open"),
    quiet(Global, keys![k('c')], Do::NextRamp, "colours"),
    quiet(Global, keys![k('y')], Do::Copy, "copy"),
    quiet(
        Global,
        keys![k('j'), KeyChord::code(KeyCode::Down)],
        Do::Down,
        "down",
    ),
    quiet(
        Global,
        keys![k('k'), KeyChord::code(KeyCode::Up)],
        Do::Up,
        "up",
    ),
    quiet(
        Global,
        keys![k('h'), KeyChord::code(KeyCode::Left)],
        Do::Left,
        "left",
    ),
    quiet(
        Global,
        keys![k('l'), KeyChord::code(KeyCode::Right)],
        Do::Right,
        "right",
    ),
    quiet(
        Global,
        keys![k('g'), KeyChord::code(KeyCode::Home)],
        Do::First,
        "first",
    ),
    quiet(
        Global,
        keys![k('G'), KeyChord::code(KeyCode::End)],
        Do::Last,
        "last",
    ),
    quiet(
        Global,
        keys![KeyChord::code(KeyCode::PageDown), KeyChord::ctrl('d')],
        Do::PageDown,
        "page down",
    ),
    quiet(
        Global,
        keys![KeyChord::code(KeyCode::PageUp), KeyChord::ctrl('u')],
        Do::PageUp,
        "page up",
    ),
    quiet(Global, keys![TAB], Do::NextPane, "next pane"),
    quiet(Global, keys![BACK_TAB], Do::PreviousPane, "pane back"),
    quiet(Global, keys![KeyChord::ctrl('l')], Do::Redraw, "redraw"),
    quiet(Global, keys![KeyChord::ctrl('z')], Do::Suspend, "suspend"),
];
