//! Health and metrics.

use std::collections::BTreeSet;

use sundown::telemetry::State;

use crate::support::World;

#[tokio::test]
async fn health_is_ok_and_verbose_names_the_checks() {
    let world = World::start(|_| {}).await;
    for path in ["/livez", "/readyz", "/healthz"] {
        let response = world.admin_get(path).await;
        assert_eq!((response.status, response.body.as_str()), (200, "ok"), "{path}");
    }
    let verbose = world.admin_get("/readyz?verbose").await;
    assert_eq!(verbose.body, "[+]policy ok\n[+]certificate ok\n[+]shutdown ok\nreadyz check passed\n");
    assert_eq!(world.admin_get("/livez?verbose").await.body, "[+]ping ok\nlivez check passed\n");
    assert_eq!(world.admin_get("/").await.status, 404);
}

#[tokio::test]
async fn a_degraded_check_shows_and_a_failed_one_makes_unready_but_not_dead() {
    let world = World::start(|_| {}).await;
    world.policy.set(State::Degraded("a.yaml:3: unknown field".into()));
    assert_eq!(world.admin_get("/readyz").await.status, 200);
    let verbose = world.admin_get("/readyz?verbose").await.body;
    assert!(verbose.starts_with("[!]policy degraded: a.yaml:3: unknown field\n"), "{verbose}");
    world.policy.set(State::Failed("none".into()));
    let response = world.admin_get("/readyz").await;
    assert_eq!(response.status, 503);
    assert!(response.body.starts_with("[-]policy failed: none\n"), "{}", response.body);
    assert!(response.body.ends_with("readyz check failed\n"), "{}", response.body);
    assert_eq!(world.admin_get("/livez").await.status, 200);
}

#[tokio::test]
async fn metrics_are_well_formed_openmetrics() {
    let world = World::start(|_| {}).await;
    world.connect(&[]).await.post("/pods/enforce", "patch").await;
    let response = world.admin_get("/metrics").await;
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(content_type));
    assert!(response.body.ends_with("\n# EOF\n"));
    let mut families = BTreeSet::new();
    let mut current = String::new();
    for line in response.body.lines().filter(|line| *line != "# EOF") {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            current = described.split(' ').next().unwrap().to_owned();
            assert!(families.insert(current.clone()), "{current} twice");
        } else if !line.starts_with("# ") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert!(name.starts_with(&current) && value.parse::<f64>().is_ok(), "{line} under {current}");
        }
    }
    for family in ["sundown_build", "process_cpu_seconds", "process_open_fds", "process_start_time_seconds"] {
        assert!(families.contains(family), "{family} in {families:?}");
    }
}

#[tokio::test]
async fn what_happened_is_counted_and_the_rest_is_there_at_zero() {
    let world = World::start(|_| {}).await;
    let zero = [
        "sundown_reviews_total{mode=\"enforce\",resource=\"pods\",operation=\"CREATE\",decision=\"patched\"} 0",
        "sundown_reviews_total{mode=\"audit\",resource=\"statefulsets\",operation=\"UPDATE\",decision=\"would-deny\"} 0",
        "sundown_findings_total{rule=\"grace-period\",action=\"change\",mode=\"enforce\"} 0",
        "sundown_exemptions_total 0",
        "sundown_policy_reloads_total{result=\"failure\"} 0",
        "sundown_review_duration_seconds_count 0",
    ];
    let text = world.metrics.render();
    for line in zero {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
    let mut client = world.connect(&[]).await;
    client.post("/pods/enforce", "patch").await;
    client.post("/pods/audit", "{}").await;
    for line in [
        "sundown_reviews_total{mode=\"enforce\",resource=\"pods\",operation=\"CREATE\",decision=\"patched\"} 1",
        "sundown_reviews_total{mode=\"audit\",resource=\"pods\",operation=\"CREATE\",decision=\"allowed\"} 1",
        "sundown_findings_total{rule=\"grace-period\",action=\"change\",mode=\"enforce\"} 1",
        "sundown_review_duration_seconds_count 2",
        "sundown_open_connections 1",
    ] {
        world.until_metric(line).await;
    }
    drop(client);
    world.until_metric("sundown_open_connections 0").await;
}

#[tokio::test]
async fn labels_never_come_from_requests() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[]).await;
    let before = series(&world);
    for body in ["patch", "bad", "{}"] {
        client.post("/pods/enforce", body).await;
        client.post(&format!("/{body}"), "{}").await;
    }
    assert_eq!(series(&world), before);
}

/// All series of our own, without their values.
fn series(world: &World) -> BTreeSet<String> {
    let text = world.metrics.render();
    let ours = text.lines().filter(|line| line.starts_with("sundown_"));
    ours.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

#[tokio::test]
async fn policies_and_their_reloads_show() {
    let world = World::start(|_| {}).await;
    world.metrics.policies_loaded(2);
    world.metrics.policies_reloaded(None);
    for line in [
        "sundown_policies 2",
        "sundown_policy_last_reload_success 0",
        "sundown_policy_reloads_total{result=\"failure\"} 1",
        "sundown_policy_reloads_total{result=\"success\"} 0",
    ] {
        world.until_metric(line).await;
    }
    world.metrics.policies_reloaded(Some(3));
    for line in ["sundown_policies 3", "sundown_policy_last_reload_success 1"] {
        world.until_metric(line).await;
    }
}
