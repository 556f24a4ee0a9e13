use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use upheld_store::Revision;

use super::*;
use crate::auth::{Access, AuthMethod, Caller};
use crate::config::DecisionLogTo;
use crate::telemetry::{Observed, Surface};

fn made(observed: &Observed, outcome: Outcome) -> DecisionEvent<'_> {
    DecisionEvent { surface: Surface::Http, outcome, observed, place: None, took: Duration::from_micros(7) }
}

fn details() -> Details {
    Details {
        revision: Revision(4),
        request: r#"{"subject": {"id": "ann", "claims": {"pin": "1234"}}}"#.to_owned(),
        policy: Some("admins".to_owned()),
        reason: None,
    }
}

fn config(path: &Path) -> DecisionLog {
    DecisionLog::new(DecisionLogTo::File(path.to_owned()))
}

/// Writes so many denials, and waits until they are there.
fn write(config: &DecisionLog, metrics: &Metrics, outcome: Outcome, names: std::ops::Range<usize>) {
    let decisions = Decisions::open(Some(config), metrics).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for name in names {
            let observed = Observed::named(&format!("request-{name}"));
            observed.called_by(Caller::new("ci", AuthMethod::Token), Access::unlimited());
            if let Some(line) = decisions.line(made(&observed, outcome), details) {
                decisions.write(line).await;
            }
        }
        decisions.close().await;
    });
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Every line names the one before it.
fn assert_chained(lines: &[String]) {
    for pair in lines.windows(2) {
        let line: Json = serde_json::from_str(&pair[1]).unwrap();
        assert_eq!(line["previous"], format!("{:x}", Sha256::digest(&pair[0])));
    }
}

#[test]
fn a_line_has_everything_but_what_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/decisions.jsonl");
    let config = DecisionLog { redact: vec!["/subject/claims/*".to_owned()], ..config(&path) };
    write(&config, &Metrics::new(), Outcome::Deny, 0..1);
    let lines = lines(&path);
    let mut line: Json = serde_json::from_str(&lines[0]).unwrap();
    line["time"] = "then".into();
    insta::assert_snapshot!(line.to_string(), @r#"{"time":"then","id":"request-0","surface":"http","caller":"token:ci","revision":4,"request":{"subject":{"id":"ann","claims":{"pin":"[redacted]"}}},"decision":"deny","policy":"admins","microseconds":7.0,"previous":"0000000000000000000000000000000000000000000000000000000000000000"}"#);
}

#[test]
fn the_chain_goes_on_after_a_restart_and_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    write(&config(&path), &Metrics::new(), Outcome::Deny, 0..3);
    write(&config(&path), &Metrics::new(), Outcome::Deny, 3..5);
    assert_eq!(lines(&path).len(), 5);
    let mut torn = std::fs::read(&path).unwrap();
    torn.extend_from_slice(br#"{"time": "cut o"#);
    std::fs::write(&path, torn).unwrap();
    write(&config(&path), &Metrics::new(), Outcome::Deny, 5..6);
    let lines = lines(&path);
    assert_eq!(lines.len(), 7);
    assert_chained(&lines[..5]);
    assert_chained(&lines[5..]);
}

#[test]
fn files_are_put_aside_and_the_oldest_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let config = DecisionLog { rotate_bytes: 1000, keep_files: 2, ..config(&path) };
    write(&config, &Metrics::new(), Outcome::Deny, 0..40);
    let beside = |number: usize| folder.path().join(format!("decisions.jsonl.{number}"));
    assert!(beside(1).exists() && beside(2).exists() && !beside(3).exists());
    let all = [lines(&beside(2)), lines(&beside(1)), lines(&path)].concat();
    assert_chained(&all);
    assert!(all.last().unwrap().contains("request-39"));
    assert!(std::fs::metadata(beside(1)).unwrap().len() < 2000);
}

#[test]
fn permits_are_sampled_by_their_name_and_denials_never() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    let ids = |path: &Path| -> Vec<String> {
        lines(path).iter().map(|line| serde_json::from_str::<Json>(line).unwrap()["id"].to_string()).collect()
    };
    for path in [&first, &second] {
        let config = DecisionLog { sample_permits: 0.25, ..config(path) };
        write(&config, &Metrics::new(), Outcome::Permit, 0..1000);
    }
    let taken = ids(&first).len();
    assert!((150..350).contains(&taken), "{taken}");
    assert_eq!(ids(&first), ids(&second));
    let none = DecisionLog { sample_permits: 0.0, ..config(&folder.path().join("c.jsonl")) };
    write(&none, &Metrics::new(), Outcome::Permit, 0..100);
    write(&none, &Metrics::new(), Outcome::Undecided, 0..7);
    assert_eq!(lines(&folder.path().join("c.jsonl")).len(), 7);
}

#[test]
fn without_a_log_nothing_is_asked() {
    let decisions = Decisions::open(None, &Metrics::new()).unwrap();
    let observed = Observed::named("x");
    let line = decisions.line(made(&observed, Outcome::Deny), || panic!("nobody wants to know"));
    assert!(line.is_none());
}

#[test]
fn who_may_drop_drops_and_counts_and_who_blocks_loses_nothing() {
    // A queue that nobody reads.
    let (queue, mut unread) = mpsc::channel(1);
    let metrics = Metrics::new();
    let open = |when_full| Open {
        queue: queue.clone(),
        sample: Sample::new(1.0),
        when_full,
        counters: metrics.log.clone(),
        lost: Arc::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let observed = Observed::named("x");
        let line = || Line::new(Timestamp::UNIX_EPOCH, made(&observed, Outcome::Deny), details());
        let dropping = Decisions(Some(open(WhenFull::Drop)));
        for _ in 0..5 {
            dropping.write(line()).await;
        }
        assert_eq!(metrics.log.dropped.get(), 4);
        let blocking = Decisions(Some(open(WhenFull::Block)));
        let waits = tokio::time::timeout(Duration::from_millis(20), blocking.write(line())).await;
        assert!(waits.is_err());
        let (written, read) = tokio::join!(blocking.write(line()), async { unread.recv().await.is_some() });
        assert!(read);
        assert_eq!((written, metrics.log.dropped.get()), ((), 4));
    });
}
