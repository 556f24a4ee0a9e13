//! `--server` in place of `-f`.

use crate::served::Client;
use crate::support::{root, run};

#[test]
fn an_address_needs_no_scheme_and_answers_as_files_do() {
    let client = Client::of(&root().join("examples/demo"), Vec::new());
    let question = "explain --kind TrafficLog --from web-1 --to backend-1";
    let asked = run(&root(), &format!("{question} --server {}", client.address()));
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
    let headline = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next().map(str::to_owned);
    let read = run(&root(), &format!("{question} -f examples/demo"));
    assert_eq!(headline(&asked.stdout), headline(&read.stdout));
}

#[test]
fn a_server_that_refuses_is_reached_and_one_that_is_away_is_not() {
    let client = Client::of(&root().join("examples/demo"), Vec::new());
    let address = client.address();
    let refused = run(&root(), &format!("list --server {address} --at 4711"));
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("refuses") && told.contains("4711"), "{told}");
    drop(client);
    let away = run(&root(), &format!("list --server {address}"));
    let told = String::from_utf8_lossy(&away.stderr);
    assert_eq!(away.status.code(), Some(4), "{told}");
    assert!(told.contains("cannot be reached"), "{told}");
}
