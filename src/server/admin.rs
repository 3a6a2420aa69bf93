//! The second port: health and metrics, in plain HTTP.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::telemetry::{Health, Metrics, OPENMETRICS, Report, State as CheckState};

/// The router of the admin port: `/livez`, `/healthz` (alive), `/readyz` (may get requests), `/metrics`.
pub fn admin(health: Health, metrics: Arc<Metrics>) -> Router {
    let live = |name: &'static str| get(move |query: RawQuery| async move { report(name, &alive(), &query) });
    let ready = |State(health): State<Health>, query: RawQuery| async move {
        report("readyz", &health.report(), &query)
    };
    Router::new()
        .route("/livez", live("livez"))
        .route("/healthz", live("healthz"))
        .route("/readyz", get(ready))
        .route("/metrics", get(move || async move { ([(CONTENT_TYPE, OPENMETRICS)], metrics.render()) }))
        .with_state(health)
}

/// Whoever can answer is alive: nothing that a restart would mend is known otherwise.
fn alive() -> Report {
    Report(vec![("ping", CheckState::Ok)])
}

/// `ok`, or every check as kube-apiserver writes them; those also when one failed.
fn report(name: &str, report: &Report, RawQuery(query): &RawQuery) -> Response {
    if !report.is_ready() {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{report}{name} check failed\n")).into_response();
    }
    let asks = |query: &str| query.split('&').any(|pair| pair == "verbose" || pair.starts_with("verbose="));
    match query.as_deref().is_some_and(asks) {
        true => format!("{report}{name} check passed\n").into_response(),
        false => "ok".into_response(),
    }
}
