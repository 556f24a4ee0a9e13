use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, Response, StatusCode};
use upheld_engine::decide::Outcome;
use upheld_store::{Revision, State, StoreError};

use super::*;
use crate::folders::Contents;
use crate::view::View;

fn text(metrics: &Metrics) -> String {
    let view = View::build(Arc::new(State::default()), Contents::default(), &Arc::default()).unwrap();
    let (head, staleness) = (Revision(3), Duration::from_millis(1500));
    metrics.text(&ServerState { view: &view, head, staleness, held: 0, problem: None, sizes: Sizes::Told })
}

fn answer(status: StatusCode) -> Response<()> {
    let mut answer = Response::new(());
    *answer.status_mut() = status;
    answer
}

fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "no `{line}` in\n{text}");
}

#[test]
fn decisions_are_counted_by_where_and_what() {
    let metrics = Metrics::new();
    metrics.decided(Surface::Grpc, Outcome::Deny, Duration::from_micros(20));
    metrics.decided(Surface::Grpc, Outcome::Deny, Duration::from_mins(1));
    metrics.decided(Surface::Http, Outcome::Undecided, Duration::from_nanos(1));
    let text = text(&metrics);
    has(&text, r#"upheld_decisions_total{surface="grpc",outcome="deny"} 2"#);
    has(&text, r#"upheld_decisions_total{surface="http",outcome="undecided"} 1"#);
    has(&text, r#"upheld_decisions_total{surface="seed",outcome="permit"} 0"#);
    has(&text, r#"upheld_decision_duration_seconds_bucket{le="0.00001",surface="grpc"} 0"#);
    has(&text, r#"upheld_decision_duration_seconds_bucket{le="0.000025",surface="grpc"} 1"#);
    has(&text, r#"upheld_decision_duration_seconds_bucket{le="+Inf",surface="grpc"} 2"#);
    has(&text, r#"upheld_decision_duration_seconds_count{surface="grpc"} 2"#);
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_time_on_a_bound_is_below_it() {
    let metrics = Metrics::new();
    metrics.decided(Surface::Http, Outcome::Permit, Duration::from_micros(10));
    has(&text(&metrics), r#"upheld_decision_duration_seconds_bucket{le="0.00001",surface="http"} 1"#);
}

#[test]
fn answers_are_counted_by_route_in_order() {
    let metrics = Metrics::new();
    metrics.answered("/v1/decide", "POST", &answer(StatusCode::OK), Duration::from_millis(1));
    metrics.answered("/v1/decide", "POST", &answer(StatusCode::TOO_MANY_REQUESTS), Duration::from_millis(1));
    metrics.answered("/a/{b}", "GET", &answer(StatusCode::OK), Duration::from_millis(1));
    metrics.answered("/a/{b}", "GET", &answer(StatusCode::OK), Duration::from_millis(1));
    let text = text(&metrics);
    let answers: Vec<&str> = text.lines().filter(|line| line.starts_with("upheld_http_requests_total")).collect();
    assert_eq!(
        answers,
        [
            r#"upheld_http_requests_total{route="/a/{b}",method="GET",status="200"} 2"#,
            r#"upheld_http_requests_total{route="/v1/decide",method="POST",status="200"} 1"#,
            r#"upheld_http_requests_total{route="/v1/decide",method="POST",status="429"} 1"#,
        ]
    );
    has(&text, r#"upheld_http_refused_total{reason="too-many"} 1"#);
}

#[test]
fn refusals_of_grpc_are_refusals() {
    let metrics = Metrics::new();
    let mut refused = Response::new(());
    refused.headers_mut().insert("grpc-status", HeaderValue::from_static("16"));
    metrics.answered("/x", "POST", &refused, Duration::ZERO);
    has(&text(&metrics), r#"upheld_http_refused_total{reason="unauthenticated"} 1"#);
}

#[test]
fn where_the_server_stands_is_looked_up() {
    let metrics = Metrics::new();
    metrics.stored(Operation::Head, Duration::ZERO, Some(&StoreError::Unreachable("away".to_owned())));
    metrics.reloaded(Reloaded::Broken);
    let working = metrics.working();
    let away = text(&metrics);
    has(&away, "upheld_revision_lag 3.0");
    has(&away, "upheld_snapshot_staleness_seconds 1.5");
    has(&away, "upheld_snapshot_documents 0.0");
    has(&away, "upheld_store_up 0");
    has(&away, r#"upheld_store_errors_total{sort="unreachable"} 1"#);
    has(&away, r#"upheld_reloads_total{result="broken"} 1"#);
    has(&away, "upheld_http_requests_in_flight 1");
    drop(working);
    metrics.stored(Operation::Head, Duration::ZERO, Some(&StoreError::Conflict(Revision(1))));
    let back = text(&metrics);
    has(&back, "upheld_http_requests_in_flight 0");
    has(&back, "upheld_store_up 1");
}

#[test]
fn many_may_count_at_once() {
    let metrics = Metrics::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for route in ["/a", "/b", "/c", "/d"].repeat(50) {
                    metrics.answered(route, "GET", &answer(StatusCode::OK), Duration::ZERO);
                }
            });
        }
    });
    for route in ["/a", "/b", "/c", "/d"] {
        has(
            &text(&metrics),
            &format!(r#"upheld_http_requests_total{{route="{route}",method="GET",status="200"}} 200"#),
        );
    }
}

#[test]
fn made_up_methods_are_one() {
    assert_eq!(method_name(&axum::http::Method::from_bytes(b"BREW").unwrap()), "other");
    assert_eq!(method_name(&axum::http::Method::PATCH), "PATCH");
}
