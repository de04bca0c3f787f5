use super::*;

fn status(state: BatchState, done: u64, failed: u64, files: &[&str]) -> BatchStatus {
    BatchStatus {
        state,
        done,
        failed,
        total: if done + failed == 0 { 0 } else { 7 },
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        message: None,
    }
}

fn arrived(answered: u64, failed: u64) -> Arrived {
    Arrived {
        calls: 7,
        answered,
        failed,
    }
}

#[test]
fn a_batch_is_whole_when_every_answer_and_failure_that_was_told_of_is_here() {
    use BatchState::{Cancelled, Ended, Expired, Failed};
    use Completeness::{Lacking, Late, Whole};
    for (state, told, files, here, expected) in [
        (Ended, (7, 0), 1, (7, 0), Whole),
        (Ended, (4, 3), 2, (4, 3), Whole),
        (Ended, (4, 3), 2, (2, 3), Lacking),
        (Ended, (4, 3), 2, (4, 1), Late),
        (Ended, (4, 0), 1, (4, 0), Late),
        (Ended, (0, 0), 0, (0, 0), Late),
        (Ended, (0, 0), 1, (7, 0), Whole),
        (Ended, (0, 0), 1, (5, 0), Late),
        (Failed, (4, 3), 2, (4, 3), Whole),
        (Failed, (4, 0), 0, (0, 0), Lacking),
        (Failed, (0, 0), 1, (4, 0), Late),
        (Expired, (4, 0), 1, (4, 0), Whole),
        (Expired, (4, 3), 2, (4, 1), Late),
        (Expired, (0, 7), 0, (0, 0), Late),
        (Expired, (0, 0), 0, (0, 0), Late),
        (Cancelled, (3, 0), 1, (2, 0), Lacking),
    ] {
        let files = &["a", "b"][..files];
        let status = status(state, told.0, told.1, files);
        assert_eq!(
            arrived(here.0, here.1).verdict(&status, false),
            expected,
            "{status:?} {here:?}"
        );
    }
}

#[test]
fn a_line_that_cannot_be_read_keeps_a_batch_open_unless_every_call_has_a_result() {
    let cut_short = status(BatchState::Expired, 4, 0, &["a"]);
    let verdict = |here: Arrived| here.verdict(&cut_short, true);
    assert_eq!(verdict(arrived(4, 0)), Completeness::Lacking);
    assert_eq!(verdict(arrived(4, 3)), Completeness::Whole);
}
