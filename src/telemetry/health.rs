//! Readiness from named checks: whoever owns a thing holds its check and says how it is.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How one named thing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// In order.
    Ok,
    /// Something needs attention, but requests are answered rightly: the last good policy or certificate serves.
    Degraded(String),
    /// Requests must not come here.
    Failed(String),
}

/// All checks of the process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Health {
    checks: Arc<Mutex<Vec<Check>>>,
}

impl Health {
    /// No checks yet, and so ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check that has failed until its owner says otherwise; `why` says what it waits for.
    pub fn register(&self, name: &'static str, why: &str) -> Check {
        let check = Check { name, state: Arc::new(Mutex::new(State::Failed(why.to_owned()))) };
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push(check.clone());
        check
    }

    /// All checks as they are now, in order of registration.
    pub fn report(&self) -> Report {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        Report(checks.iter().map(|check| (check.name, check.state())).collect())
    }
}

/// The handle with which its owner moves one check.
#[derive(Clone, Debug)]
pub struct Check {
    name: &'static str,
    state: Arc<Mutex<State>>,
}

impl Check {
    /// Sets the state.
    pub fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// The state as it is now.
    pub fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All checks at one moment. Displays as kube-apiserver's `?verbose` does, one line a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report(pub Vec<(&'static str, State)>);

impl Report {
    /// Whether no check has failed; degraded is ready.
    pub fn is_ready(&self) -> bool {
        !self.0.iter().any(|(_, state)| matches!(state, State::Failed(_)))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, state) in &self.0 {
            match state {
                State::Ok => writeln!(f, "[+]{name} ok")?,
                State::Degraded(why) => writeln!(f, "[!]{name} degraded: {why}")?,
                State::Failed(why) => writeln!(f, "[-]{name} failed: {why}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_is_unready_a_degraded_one_is_not() {
        let health = Health::new();
        let policy = health.register("policy", "not loaded yet");
        assert!(!health.report().is_ready());
        policy.set(State::Degraded("a.yaml:3: unknown field".into()));
        health.register("certificate", "").set(State::Ok);
        assert!(health.report().is_ready());
        assert_eq!(
            health.report().to_string(),
            "[!]policy degraded: a.yaml:3: unknown field\n[+]certificate ok\n"
        );
    }
}
