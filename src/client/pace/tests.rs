//! Tests the pace against servers that admit a known rate and against absurd headers.

use super::*;
use proptest::prelude::*;

fn limits(requests: Option<u64>, tokens: Option<u64>) -> JudgeLimits {
    JudgeLimits {
        requests_per_minute: requests,
        tokens_per_minute: tokens,
        ..JudgeLimits::default()
    }
}

#[test]
fn a_minute_never_takes_more_than_its_calls_and_one_burst() {
    let start = Instant::now();
    let mut pace = Pace::new(limits(Some(120), None), start);
    let (mut now, mut begun) = (start, 0);
    while now < start + Duration::from_secs(60) {
        now = pace.ready(0, now);
        pace.begin(0, now);
        begun += 1;
    }
    assert!((120..=131).contains(&begun), "{begun}");
}

/// Simulates one minute against a server that admits `per_s` calls. Returns the numbers of admitted
/// and refused calls.
fn against(per_s: f64, burst: f64, wait: Option<Duration>) -> (u32, u32) {
    let start = Instant::now();
    let mut server = (burst, start);
    let mut pace = Pace::new(JudgeLimits::default(), start);
    let (mut now, mut admitted, mut refused) = (start, 0, 0);
    while now < start + Duration::from_secs(180) {
        now = pace.ready(0, now) + Duration::from_millis(1);
        let number = pace.begin(0, now);
        let level = (server.0 + (now - server.1).as_secs_f64() * per_s).min(burst);
        server = (level, now);
        if level >= 1.0 {
            server.0 -= 1.0;
            admitted += 1;
            pace.answered(number);
        } else {
            refused += 1;
            pace.refused(number, wait, now);
        }
    }
    (admitted, refused)
}

#[test]
fn refusals_teach_the_rate_of_the_server() {
    for wait in [None, Some(1), Some(20)] {
        let wait = wait.map(Duration::from_secs);
        for per_s in [0.5, 1.0, 10.0] {
            let (admitted, refused) = against(per_s, 20.0, wait);
            // A requested wait is respected even if the server would have accepted calls long
            // before.
            let possible =
                20.0 + 180.0 * per_s - wait.map_or(0.0, |wait| wait.as_secs_f64() * per_s);
            assert!(
                f64::from(admitted) > 0.75 * possible,
                "{admitted} of {possible}, {wait:?}"
            );
            let share = f64::from(refused) / f64::from(admitted + refused);
            assert!(share < 0.12, "{refused} refused at {per_s}, {wait:?}");
        }
    }
}

#[test]
fn sporadic_refusals_teach_nothing() {
    let start = Instant::now();
    let mut pace = Pace::new(JudgeLimits::default(), start);
    // Many calls begin at once, and refusals return before answers.
    for _ in 0..10 {
        let numbers: Vec<u64> = (0..100).map(|_| pace.begin(1, start)).collect();
        let (refused, answered): (Vec<u64>, Vec<u64>) = numbers
            .into_iter()
            .partition(|number| (*number as u32).wrapping_mul(2_654_435_761) >> 29 < 2);
        assert!(refused.len() > 20);
        for number in refused {
            pace.refused(number, Some(UNNAMED), start);
        }
        for number in answered {
            pace.answered(number);
        }
        assert_eq!(pace.ready(1, start), start);
    }
}

#[test]
fn what_the_headers_tell_is_kept_to_without_stopping() {
    let start = Instant::now();
    let mut pace = Pace::new(JudgeLimits::default(), start);
    let told = RateLimits {
        requests_limit: Some(600),
        requests_remaining: Some(5),
        requests_reset: Some(Duration::from_secs(60)),
        ..RateLimits::default()
    };
    pace.hear(&told, 0, 10, start);
    for _ in 0..5 {
        assert_eq!(pace.ready(10, start), start);
        pace.begin(10, start);
    }
    assert_eq!(pace.ready(10, start), start + Duration::from_millis(100));
}

#[test]
fn headers_alone_hold_nothing_for_hours() {
    let now = Instant::now();
    let mut pace = Pace::new(JudgeLimits::default(), now);
    let mut told = RateLimits {
        tokens_remaining: Some(0),
        tokens_reset: Some(Duration::from_secs(86_400)),
        ..RateLimits::default()
    };
    pace.hear(&told, 0, 10, now);
    assert_eq!(pace.ready(10, now), now);
    told.tokens_reset = Some(Duration::from_secs(40));
    pace.hear(&told, 0, 10, now);
    assert_eq!(pace.ready(10, now), now + Duration::from_secs(40));
}

#[test]
fn absurd_waits_are_capped() {
    let now = Instant::now();
    let mut pace = Pace::new(JudgeLimits::default(), now);
    let absurd = RateLimits {
        requests_limit: Some(1),
        requests_remaining: Some(0),
        requests_reset: Some(Duration::MAX),
        tokens_limit: Some(u64::MAX),
        tokens_remaining: Some(u64::MAX),
        tokens_reset: Some(Duration::MAX),
        retry_after: Some(Duration::MAX),
    };
    pace.hear(&absurd, usize::MAX, u64::MAX, now);
    for _ in 0..20 {
        let number = pace.begin(1, now);
        pace.refused(number, absurd.retry_after, now);
    }
    assert!(pace.ready(u64::MAX, now) <= now + 2 * LONGEST);
    assert!(named(Duration::MAX, 1.0) <= 2 * LONGEST);
}

proptest! {
    #[test]
    fn tokens_are_kept_to(rate in 600u64..600_000, sizes in prop::collection::vec(1u64..5_000, 1..80)) {
        let start = Instant::now();
        let mut pace = Pace::new(limits(None, Some(rate)), start);
        let (mut now, mut taken) = (start, 0u64);
        for size in sizes {
            now = pace.ready(size, now);
            pace.begin(size, now);
            taken += size;
            let allowed = rate as f64 / 60.0 * ((now - start).as_secs_f64() + BURST.as_secs_f64());
            prop_assert!(taken as f64 <= allowed + size as f64 + 1.0);
        }
    }

    #[test]
    fn back_off_stays_within_its_bounds(attempt in 0u32..40, draw in 0.0f64..1.0) {
        let wait = back_off(attempt, draw);
        prop_assert!(wait <= Duration::from_secs(60));
    }
}
