//! The four endpoints.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::body;
use super::options::Limits;
use super::refusal::Refusal;
use crate::review::{Endpoint, Reviewer};
use crate::telemetry::{Metrics, log_decision};

/// What the endpoints share. Clones are the same.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

struct Shared {
    reviewer: Arc<dyn Reviewer>,
    metrics: Arc<Metrics>,
    limits: Limits,
    draining: AtomicBool,
}

impl AppState {
    /// Endpoints that `reviewer` decides for, within `limits`.
    pub fn new(reviewer: Arc<dyn Reviewer>, metrics: Arc<Metrics>, limits: Limits) -> Self {
        Self(Arc::new(Shared { reviewer, metrics, limits, draining: AtomicBool::new(false) }))
    }

    /// From now on every HTTP/1 answer ends its connection.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }

    async fn answer(&self, endpoint: Endpoint, request: Request) -> Result<Vec<u8>, Refusal> {
        expect_plain_json(request.headers())?;
        let body = body::read(request.into_body(), &self.0.limits).await?;
        self.decide(endpoint, &body)
    }

    fn decide(&self, endpoint: Endpoint, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let start = Instant::now();
        // A reviewer decides from its arguments and keeps nothing that a panic could leave half done.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.0.reviewer.review(endpoint, body)));
        let reviewed = outcome.map_err(|_| Refusal::Panic)??;
        self.0.metrics.decided(endpoint, &reviewed.record, start.elapsed().as_secs_f64());
        log_decision(endpoint, &reviewed.record);
        Ok(reviewed.body)
    }

    fn respond(&self, version: Version, answer: Result<Vec<u8>, Refusal>) -> Response {
        let mut response = match answer {
            Ok(review) => decided(review),
            Err(refusal) => {
                self.0.metrics.refused(refusal.reason());
                refusal.log();
                refusal.into_response()
            }
        };
        if version <= Version::HTTP_11 && self.0.draining.load(Ordering::Relaxed) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The router over all endpoints.
pub fn app(state: AppState) -> Router {
    let review = |endpoint: Endpoint| {
        post(move |State(state): State<AppState>, request: Request| async move {
            let version = request.version();
            let answer = state.answer(endpoint, request).await;
            state.respond(version, answer)
        })
    };
    let mut router = Router::new();
    for endpoint in Endpoint::ALL {
        router = router.route(endpoint.path(), review(endpoint));
    }
    router
        .method_not_allowed_fallback(|State(state): State<AppState>, version: Version| async move {
            state.respond(version, Err(Refusal::Method))
        })
        .fallback(|State(state): State<AppState>, version: Version| async move {
            state.respond(version, Err(Refusal::Path))
        })
        .with_state(state)
}

fn decided(review: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(review));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn expect_plain_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content_type.is_some_and(is_utf8_json) {
        return Err(Refusal::ContentType);
    }
    match headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(()),
        Some(_) => Err(Refusal::ContentEncoding),
    }
}

/// Media type `application/json`, with no charset or UTF-8; other parameters mean nothing (RFC 8259, section 11).
fn is_utf8_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
            !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt;

    use super::*;
    use crate::review::{ReviewError, Reviewed};

    struct Unasked;

    impl Reviewer for Unasked {
        fn review(&self, _: Endpoint, _: &[u8]) -> Result<Reviewed, ReviewError> {
            unreachable!("no review is posted")
        }
    }

    #[tokio::test]
    async fn only_http_1_answers_end_their_connection_when_draining() {
        let state = AppState::new(Arc::new(Unasked), Arc::new(Metrics::new(&[])), Limits::default());
        state.drain();
        for (version, close) in [(Version::HTTP_11, true), (Version::HTTP_2, false)] {
            let request = Request::get("/").version(version).body(Body::empty()).unwrap();
            let response = app(state.clone()).oneshot(request).await.unwrap();
            assert_eq!(response.headers().contains_key(CONNECTION), close, "{version:?}");
        }
    }

    #[test]
    fn json_in_utf8_is_taken_whatever_its_spelling() {
        for good in [
            "application/json",
            "Application/JSON; charset=\"UTF-8\"",
            "application/json;charset=utf-8",
            "application/json; v=1",
        ] {
            assert!(is_utf8_json(good), "{good}");
        }
        for bad in [
            "",
            "text/json",
            "application/jsonx",
            "application/json-patch+json",
            "application/json; charset=latin1",
        ] {
            assert!(!is_utf8_json(bad), "{bad}");
        }
    }
}
