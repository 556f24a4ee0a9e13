//! The built-in rights, role by role.

use smol_str::SmolStr;
use upheld_engine::decide::{Action, Environment, Maybe, Names, Resource, Subject};

use super::*;

const OPERATIONS: [&str; 5] = ["ask", "read", "see", "write", "administer"];

fn may(how: &'static str, role: &str, ip: &str, operation: &'static str, sort: &'static str, path: &str) -> bool {
    let request = Request {
        subject: Subject {
            kind: Maybe::Is(SmolStr::new_static(how)),
            id: Maybe::Is("somebody".into()),
            roles: if role.is_empty() { Names::default() } else { Names::of(&[role]) },
            ..Subject::default()
        },
        action: Action {
            method: Maybe::Is("POST".into()),
            operation: Maybe::Is(operation.into()),
            ..Action::default()
        },
        resource: Resource { path: Maybe::Is(path.into()), kind: Maybe::Is(sort.into()), ..Resource::default() },
        environment: Environment { ip: Maybe::Is(ip.into()), ..Environment::default() },
    };
    Rights::open(None).unwrap().decide(&request) == Verdict::Permitted
}

fn operations(how: &'static str, role: &str, ip: &str, sort: &'static str) -> Vec<&'static str> {
    OPERATIONS.into_iter().filter(|operation| may(how, role, ip, operation, sort, "/v1/x")).collect()
}

#[test]
fn every_role_may_what_its_name_says() {
    let of = |role| operations("token", role, "192.0.2.7", "document");
    assert_eq!(of(""), [""; 0]);
    assert_eq!(of("asker"), [""; 0]);
    assert_eq!(of("viewer"), ["ask", "read", "see"]);
    assert_eq!(of("author"), ["ask", "read", "see", "write"]);
    assert_eq!(of("operator"), OPERATIONS);
    assert_eq!(of("admin"), OPERATIONS);
    assert_eq!(of("Admin"), [""; 0]);
    assert_eq!(operations("token", "asker", "192.0.2.7", "decision"), ["ask"]);
}

#[test]
fn who_does_not_say_who_they_are_may_ask_from_this_machine_only() {
    for here in ["127.0.0.1", "127.8.9.1", "::1"] {
        assert_eq!(operations("anonymous", "", here, "document"), ["ask", "read", "see"], "{here}");
    }
    for elsewhere in ["192.0.2.7", "10.0.0.1", "::2", "fe80::1", "nonsense"] {
        assert_eq!(operations("anonymous", "", elsewhere, "document"), [""; 0], "{elsewhere}");
    }
    assert_eq!(operations("token", "", "127.0.0.1", "document"), [""; 0]);
}

#[test]
fn everybody_sees_that_the_server_lives() {
    assert!(may("anonymous", "", "192.0.2.7", "read", "server", "/healthz"));
    assert!(may("anonymous", "", "192.0.2.7", "read", "server", "/grpc.health.v1.Health/Check"));
    for other in ["/readyz", "/healthz/x", "/metrics"] {
        assert!(!may("anonymous", "", "192.0.2.7", "read", "server", other), "{other}");
    }
}
