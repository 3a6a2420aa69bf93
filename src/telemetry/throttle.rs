//! At most one log line per interval, counting what was left out.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets one event per interval through.
#[derive(Debug)]
pub struct Throttle {
    interval: Duration,
    state: Mutex<(Option<Instant>, u64)>,
}

impl Throttle {
    /// A throttle that lets the first event through, and then one per `interval`.
    pub fn new(interval: Duration) -> Self {
        Self { interval, state: Mutex::new((None, 0)) }
    }

    /// `Some(n)` when this event may be logged, where `n` is how many were left out since the last; else `None`.
    pub fn pass(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, left_out) = *state;
        if last.is_some_and(|last| now.saturating_duration_since(last) < self.interval) {
            *state = (last, left_out.saturating_add(1));
            return None;
        }
        *state = (Some(now), 0);
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_an_interval_passes_and_the_rest_is_counted() {
        let throttle = Throttle::new(Duration::from_secs(60));
        let start = Instant::now();
        assert_eq!(throttle.pass(start), Some(0));
        assert_eq!(throttle.pass(start + Duration::from_secs(1)), None);
        assert_eq!(throttle.pass(start + Duration::from_secs(59)), None);
        assert_eq!(throttle.pass(start + Duration::from_secs(60)), Some(2));
    }
}
