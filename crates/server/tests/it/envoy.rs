//! A real Envoy in front of a small service, asking a server that can be killed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::proxies::front::Front;
use crate::proxies::parts::{Child, Client, Upstream, until};
use crate::proxies::{POLICIES, STAFF};

#[test]
fn envoy_asks_over_grpc() {
    let (mut server, upstream) = (Child::start(&["peer=127.0.0.1"]), Upstream::start());
    server.put(POLICIES);
    let Some(envoy) = Front::envoy_grpc(server.address, upstream.address) else { return };
    let client = Client::new(envoy.address);

    // Permitted: the service hears who decided, and nothing that a client only pretends.
    let pretended = ("x-policy-decision", "pretended");
    let seen = until("the first answer", || Some(client.get("/orders", &[STAFF, pretended])).filter(is(200)));
    let seen = seen.json();
    assert_eq!(seen["x-policy-decision"], "permit");
    assert_eq!(seen["x-policy"], "staff-may-read");

    // Denied, with the reason.
    let denied = client.get("/salaries/7", &[STAFF]);
    assert_eq!((denied.status, denied.header("x-policy-decision")), (403, Some("deny")), "{}", denied.text);
    assert_eq!(denied.header("x-policy-reason"), Some("Salaries are for the payroll only"));
    assert_eq!(denied.json()["policy"], "salaries-stay-closed");
    assert_eq!(client.get("/orders", &[]).status, 403);
    assert_eq!(client.get("/orders/%2e%2e/salaries/7", &[STAFF]).status, 403);

    // Another policy, another answer, at once and without a restart.
    server.put(&POLICIES.replace("/salaries/**", "/orders/**"));
    assert_eq!(client.get("/orders/1", &[STAFF]).status, 403);
    assert_eq!(client.get("/salaries/7", &[STAFF]).status, 200);
    server.put(POLICIES);
    assert_eq!(client.get("/orders/1", &[STAFF]).status, 200);
    assert_eq!(client.get("/salaries/7", &[STAFF]).status, 403);

    upstream.take();
    killed_under_load(&mut server, &client);
    assert!(!upstream.saw("/salaries"), "what is denied came through");
}

/// At most so many requests of one client, whatever happens.
const MOST: usize = 20_000;

fn killed_under_load(server: &mut Child, client: &Client) {
    let (done, permitted, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let client = client.another();
                for _ in 0..MOST {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    let counted = match client.get("/orders/1", &[STAFF]).status {
                        200 => &permitted,
                        403 | 503 => &refused,
                        other => panic!("a status that nobody expects: {other}"),
                    };
                    counted.fetch_add(1, Ordering::Relaxed);
                    let closed = client.get("/salaries/7", &[STAFF]).status;
                    assert!(matches!(closed, 403 | 503), "{closed}");
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        // What fails here must end the others too.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let more = |counter: &AtomicUsize, count: usize| {
                let wanted = counter.load(Ordering::Relaxed) + count;
                until("more answers", || (counter.load(Ordering::Relaxed) >= wanted).then_some(()));
            };
            for _ in 0..2 {
                more(&permitted, 50);
                server.kill();
                for _ in 0..20 {
                    let status = client.get("/orders/1", &[STAFF]).status;
                    assert!(matches!(status, 403 | 503), "{status} from a proxy that nobody can answer");
                }
                more(&refused, 20);
                server.restart();
                more(&permitted, 50);
            }
        }));
        done.store(true, Ordering::Relaxed);
        if let Err(failure) = outcome {
            std::panic::resume_unwind(failure);
        }
    });
}

#[test]
fn envoy_asks_over_http() {
    let (mut server, upstream) = (Child::start(&["peer=127.0.0.1"]), Upstream::start());
    server.put(POLICIES);
    let Some(envoy) = Front::envoy_http(server.address, upstream.address) else { return };
    let client = Client::new(envoy.address);
    let seen = until("the first answer", || Some(client.get("/orders", &[STAFF])).filter(is(200)));
    assert_eq!(seen.json()["x-policy-decision"], "permit");
    let denied = client.get("/salaries/7", &[STAFF]);
    assert_eq!((denied.status, denied.header("x-policy-decision")), (403, Some("deny")), "{}", denied.text);
    assert_eq!(denied.json()["policy"], "salaries-stay-closed");
    assert_eq!(client.get("/orders", &[]).status, 403);
    server.kill();
    assert_eq!(client.get("/orders", &[STAFF]).status, 503);
    server.restart();
    until("the server to be back", || Some(client.get("/orders", &[STAFF])).filter(is(200)));
    assert!(!upstream.saw("/salaries"), "what is denied came through");
}

fn is(status: u16) -> impl Fn(&crate::support::Answer) -> bool {
    move |answer| answer.status == status
}
