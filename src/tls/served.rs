//! What handshakes get: the last good pair, swapped as a whole.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tracing::{info, warn};

use super::pair::{Pair, now, utc};
use crate::telemetry::{Check, Health, Metrics, State};

/// The certificate in use, its readiness check and its metrics. Connections live on when it is replaced.
#[derive(Debug)]
pub struct ServedCertificate {
    pub(super) current: ArcSwapOption<Pair>,
    check: Check,
    metrics: Arc<Metrics>,
}

impl ServedCertificate {
    /// Nothing to serve yet: handshakes fail and the check `certificate` too.
    pub fn new(health: &Health, metrics: Arc<Metrics>) -> Arc<Self> {
        let check = health.register("certificate", "no certificate yet");
        Arc::new(Self { current: ArcSwapOption::empty(), check, metrics })
    }

    /// Serves `pair` from the next handshake on.
    pub fn replace(&self, pair: Pair) {
        info!(not_after = utc(pair.validity.not_after), "certificate in use");
        self.metrics.certificate_served(pair.validity.not_after);
        self.current.store(Some(Arc::new(pair)));
        self.check.set(State::Ok);
    }

    /// Says that something was offered that cannot be served; what is served stays.
    pub fn keep(&self, why: &dyn std::error::Error) {
        let why = why.to_string();
        warn!(why, "new certificate not taken, the old one stays in use");
        self.metrics.certificate_reload_failed();
        self.check.set(State::Degraded(why));
        self.review_expiry();
    }

    /// Says that what is served and what is offered are the same again.
    pub(super) fn settled(&self) {
        self.check.set(State::Ok);
        self.review_expiry();
    }

    /// Fails the check once there is nothing that a client would accept.
    pub fn review_expiry(&self) {
        match self.current.load().as_deref() {
            None => self.check.set(State::Failed("no certificate yet".to_owned())),
            Some(pair) if now() > pair.validity.not_after => {
                self.check.set(State::Failed(format!("expired on {}", utc(pair.validity.not_after))));
            }
            Some(_) => {}
        }
    }
}

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current.load().as_deref().map(|pair| Arc::clone(&pair.certified))
    }
}
