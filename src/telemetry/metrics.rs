//! The metrics and their names.

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::counters::{CounterTable, place};
use super::families::{OTHER_RULE, finding_row, findings, policy_reloads, reasons, review_row, reviews};
use super::labels::{HandshakeFailure, Refused};
use super::process::ProcessCollector;
use crate::review::{Endpoint, Record};

/// Content type of what [`Metrics::render`] writes.
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds: from the microseconds of an ordinary review to the second of a body at the limit.
const DURATION_BUCKETS: [f64; 14] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5,
    1.0,
];

/// All metrics of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    rules: Vec<&'static str>,
    reviews: Arc<CounterTable<4>>,
    findings: Arc<CounterTable<3>>,
    refused: Arc<CounterTable<1>>,
    handshakes: Arc<CounterTable<1>>,
    policy_reloads: Arc<CounterTable<1>>,
    review_duration: Histogram,
    exemptions: Counter,
    open_connections: Gauge,
    certificate_expiry: Gauge,
    certificate_reload_failures: Counter,
    policies: Gauge,
    policy_last_reload_success: Gauge,
}

impl Metrics {
    /// All metrics at 0; `rules` are the ids of the rule registry, the label set of findings.
    pub fn new(rules: &[&'static str]) -> Self {
        let rules: Vec<_> = rules.iter().copied().chain([OTHER_RULE]).collect();
        let mut metrics = Self {
            registry: Registry::default(),
            reviews: Arc::new(reviews()),
            findings: Arc::new(findings(&rules)),
            refused: Arc::new(reasons(
                "sundown_review_errors",
                "Requests that got no decision, by reason; the cluster's failurePolicy decided them",
                &Refused::ALL.map(Refused::as_str),
            )),
            handshakes: Arc::new(reasons(
                "sundown_tls_handshake_failures",
                "TLS handshakes that failed, by reason",
                &HandshakeFailure::ALL.map(HandshakeFailure::as_str),
            )),
            policy_reloads: Arc::new(policy_reloads()),
            review_duration: Histogram::new(DURATION_BUCKETS),
            exemptions: Counter::default(),
            open_connections: Gauge::default(),
            certificate_expiry: Gauge::default(),
            certificate_reload_failures: Counter::default(),
            policies: Gauge::default(),
            policy_last_reload_success: Gauge::default(),
            rules,
        };
        metrics.register_tables();
        metrics.register_single();
        metrics
    }

    /// Counts a decided review that took `seconds` from the whole body to the answer.
    pub fn decided(&self, endpoint: Endpoint, record: &Record, seconds: f64) {
        self.reviews.inc(review_row(endpoint, record));
        self.review_duration.observe(seconds);
        if record.exempt.is_some() {
            self.exemptions.inc();
        }
        for finding in &record.findings {
            self.findings.inc(finding_row(&self.rules, finding));
        }
    }

    /// Counts a request that got no decision.
    pub fn refused(&self, why: Refused) {
        self.refused.inc(place(&Refused::ALL, &why));
    }

    /// Counts a TLS handshake that failed.
    pub fn handshake_failed(&self, why: HandshakeFailure) {
        self.handshakes.inc(place(&HandshakeFailure::ALL, &why));
    }

    /// Connections that are open, whether or not a request is in flight on them.
    pub fn open_connections(&self) -> &Gauge {
        &self.open_connections
    }

    /// Says that a certificate is served which expires at `not_after`, in seconds since the epoch.
    pub fn certificate_served(&self, not_after: i64) {
        self.certificate_expiry.set(not_after);
    }

    /// Counts a certificate that was offered and could not be served.
    pub fn certificate_reload_failed(&self) {
        self.certificate_reload_failures.inc();
    }

    /// Says how many policies the process started with.
    pub fn policies_loaded(&self, policies: usize) {
        self.policies.set(i64::try_from(policies).unwrap_or(i64::MAX));
        self.policy_last_reload_success.set(1);
    }

    /// Counts a reload of the policies: `Some` with how many there are now, or `None` when the last good ones serve on.
    pub fn policies_reloaded(&self, policies: Option<usize>) {
        self.policy_reloads.inc(usize::from(policies.is_none()));
        match policies {
            Some(policies) => self.policies_loaded(policies),
            None => {
                self.policy_last_reload_success.set(0);
            }
        }
    }

    /// Everything as OpenMetrics text; see [`OPENMETRICS`].
    pub fn render(&self) -> String {
        let mut text = String::with_capacity(16 * 1024);
        // Writing to a String cannot fail; were it ever to, a scrape without `# EOF` is refused by Prometheus.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn register_tables(&mut self) {
        self.registry.register_collector(Box::new(Arc::clone(&self.reviews)));
        self.registry.register_collector(Box::new(Arc::clone(&self.findings)));
        self.registry.register_collector(Box::new(Arc::clone(&self.refused)));
        self.registry.register_collector(Box::new(Arc::clone(&self.handshakes)));
        self.registry.register_collector(Box::new(Arc::clone(&self.policy_reloads)));
        self.registry.register_collector(Box::new(ProcessCollector));
    }

    fn register_single(&mut self) {
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        let registry = &mut self.registry;
        registry.register("sundown_build", "Version of this build", build);
        registry.register(
            "sundown_review_duration_seconds",
            "Time from the whole request body to the answer",
            self.review_duration.clone(),
        );
        registry.register(
            "sundown_exemptions",
            "Reviews that a sundown.dev/allow-rwo annotation exempted",
            self.exemptions.clone(),
        );
        registry.register(
            "sundown_open_connections",
            "Open connections to the webhook",
            self.open_connections.clone(),
        );
        registry.register(
            "sundown_certificate_expiry_timestamp_seconds",
            "When the served certificate expires, since unix epoch",
            self.certificate_expiry.clone(),
        );
        registry.register(
            "sundown_certificate_reload_failures",
            "Certificates that were offered and could not be served",
            self.certificate_reload_failures.clone(),
        );
        registry.register("sundown_policies", "Policies in force", self.policies.clone());
        registry.register(
            "sundown_policy_last_reload_success",
            "Whether the policy files as they are now are in force",
            self.policy_last_reload_success.clone(),
        );
    }
}
