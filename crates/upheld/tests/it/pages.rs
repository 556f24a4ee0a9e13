//! Pages from the command line: one file, or a server for oneself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::support::{example, run, upheld};

/// Every family, and several kinds at once.
const QUESTIONS: [&str; 5] = [
    "explain --from web-1 --to backend-1",
    "explain --kind TrafficLog --from web-1 --to backend-1",
    "explain httproute/checkout --kind TrafficPolicy",
    "explain --subject role=admin --action DELETE --resource /api/audit/123",
    "explain project/trial~workspace/lab",
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_page_is_one_file_that_begins_with_the_sentence_of_the_command_line() {
    let folder = example("demo");
    for question in QUESTIONS {
        let printed = text(&run(folder.path(), question).stdout);
        let page = text(&run(folder.path(), &format!("{question} -o html")).stdout);
        let headline = page.split_once("<h1>").and_then(|(_, rest)| rest.split_once("</h1>")).unwrap().0;
        // A terminal breaks long lines.
        let said: String = printed.split("\n\n").next().unwrap().split_whitespace().collect();
        let headline: String = headline.split_whitespace().collect();
        assert!(said.starts_with(&headline), "{question}: {headline} is not {said}");
        assert!(page.contains("<style>") && !page.contains("<script") && !page.contains("http://"), "{question}");
        assert!(!page.contains("href=\"/") && !page.contains("<form"), "{question}: it leads nowhere");
        assert!(page.contains("upheld explain"), "{question}: it names its command");
    }
}

#[test]
fn everybody_and_everything_is_a_page_too() {
    let folder = example("demo");
    let page = text(&run(folder.path(), "explain --all-pairs --kind TrafficLog -o html").stdout);
    assert!(page.contains("<h1>TrafficLog for 30 pairs of caller and called.</h1>"), "{page}");
    assert!(page.contains("upheld explain --kind TrafficLog --all-pairs"), "{page}");
}

#[test]
fn what_changes_what_is_supposed_and_what_is_wrong_are_pages_too() {
    let folder = example("demo");
    let changed = example("demo");
    let file = changed.path().join("policies/resilience.yaml");
    let text_of = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text_of.replace("interval: 10s", "interval: '<b>11s</b>'")).unwrap();
    let diff = format!("diff . {}", changed.path().display());
    let supposed = "explain --from web-1 --to backend-1 --kind HealthCheck --without hc-a";
    for command in [diff.as_str(), "lint", supposed] {
        let printed = text(&run(folder.path(), command).stdout);
        let page = text(&run(folder.path(), &format!("{command} -o html")).stdout);
        let headline = page.split_once("<h1>").and_then(|(_, rest)| rest.split_once("</h1>")).unwrap().0.to_owned();
        let said: String = printed.split_whitespace().collect();
        assert!(said.contains(&headline.split_whitespace().collect::<String>()), "{command}: {headline} in {printed}");
        assert!(page.contains("<style>") && !page.contains("<script") && !page.contains("<b>11s"), "{command}");
        assert!(!page.contains("href=\"/") && !page.contains("<form"), "{command}: it leads nowhere");
    }
    let page = text(&run(folder.path(), &format!("{diff} -o html")).stdout);
    assert!(page.contains("<ins>&lt;b&gt;11s&lt;/b&gt;</ins>"), "{page}");
}

#[test]
fn an_audit_is_the_page_that_a_server_shows() {
    let folder = example("compliance");
    let printed = text(&run(folder.path(), "audit").stdout);
    let page = text(&run(folder.path(), "audit -o html").stdout);
    let headline = page.split_once("<h1>").and_then(|(_, rest)| rest.split_once("</h1>")).unwrap().0.to_owned();
    let said: String = printed.split_whitespace().collect();
    assert!(said.starts_with(&headline.split_whitespace().collect::<String>()), "{headline} in {printed}");
    assert!(page.contains("<style>") && !page.contains("<script") && !page.contains("<form"));
    assert!(!page.contains("href=\"/") && page.contains("href=\"#w0\""), "it leads to its own parts alone");
    assert!(page.contains("upheld audit") && page.contains("id=\"show-hard\""), "{page}");
}

#[test]
fn other_commands_make_no_pages() {
    let folder = example("demo");
    let refused = run(folder.path(), "list -o html");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("only `explain`, `diff`, `lint` and `audit` make pages"), "{refused:?}");
}

#[test]
fn open_serves_the_files_at_hand_to_this_machine() {
    let folder = example("demo");
    let mut command = upheld(folder.path());
    command.args(["open", "--print", "/policies"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("http://127.0.0.1:") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let (host, path) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    assert_eq!(path, "policies");
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("GET /policies HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(text(&answer).contains("web-to-backend-policy"), "{}", text(&answer));
}
