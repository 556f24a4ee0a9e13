//! `doctor`: what is unsafe or unhealthy, and how to fix it. A configuration is looked at as `serve` would take it; a running server is
//! asked, as a stranger and with the token that there is.

use anstyle::{AnsiColor, Style};
use serde_json::{Value as Json, json};
use upheld_server::doctor::{Finding, Weight, examine};

use super::{Session, refuse, say, serve, server};
use crate::cli::{Format, Serve};
use crate::exit::Exit;
use crate::remote::{NoAnswer, Server};
use crate::render::print_names;
use crate::render::table::{Align, Table};

pub(super) fn run(session: &Session<'_>, wanted: &Serve) -> Exit {
    let found = match server(session.common) {
        None => match serve::config(session, wanted) {
            Ok(config) => examine(&config),
            Err(problem) => return refuse(&[problem]),
        },
        Some(server) => match running(&server) {
            Ok(found) => found,
            Err(NoAnswer { diagnostics, exit }) => {
                refuse(&diagnostics);
                return exit;
            }
        },
    };
    print(session, &found);
    if found.iter().any(|finding| finding.weight != Weight::Note) { Exit::No } else { Exit::Yes }
}

fn print(session: &Session<'_>, found: &[Finding]) {
    match session.screen.format {
        Format::Json | Format::Yaml => session.screen.print_data(&json!({"findings": found})),
        Format::Jsonl => found.iter().for_each(|finding| session.screen.print_data(finding)),
        Format::Name => print_names(found.iter().map(|finding| &finding.code)),
        Format::Table | Format::Wide if found.is_empty() => say("Nothing is unsafe or unhealthy."),
        Format::Table | Format::Wide => {
            let mut table = Table::new(&[("", Align::Left), ("WHAT", Align::Left), ("FIX", Align::Left)]);
            for Finding { weight, what, fix, .. } in found {
                let (word, style) = match weight {
                    Weight::Bad => ("BAD", AnsiColor::Red.on_default()),
                    Weight::Risky => ("RISKY", AnsiColor::Yellow.on_default()),
                    Weight::Note => ("note", Style::new()),
                };
                table.row(style, [word.to_owned(), what.clone(), fix.clone()]);
            }
            session.screen.print(&table.render(session.screen.width, 2));
        }
    }
}

/// An answer of a server.
struct Answer {
    status: u16,
    text: String,
}

struct Asked<'s> {
    server: &'s Server,
    agent: ureq::Agent,
}

impl Asked<'_> {
    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Result<Answer, NoAnswer> {
        let mut request = self.agent.get(format!("{}{path}", self.server.base()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().map_err(|error| self.server.unreachable(&error))?;
        let text = response.body_mut().read_to_string().map_err(|error| self.server.unreachable(&error))?;
        Ok(Answer { status: response.status().as_u16(), text })
    }

    fn with_token(&self, path: &str) -> Result<Answer, NoAnswer> {
        match &self.server.token {
            Some(token) => self.get(path, &[("authorization", &format!("Bearer {token}"))]),
            None => self.get(path, &[]),
        }
    }
}

fn running(server: &Server) -> Result<Vec<Finding>, NoAnswer> {
    let agent = server.agent()?;
    let asked = Asked { server, agent };
    let mut found = Vec::new();
    let health = asked.get("/healthz", &[])?;
    if health.status != 200 {
        let what = format!("`/healthz` answers {}", health.status);
        found.push(Finding::new(
            "no-health",
            Weight::Bad,
            what,
            "is it this program, and does a proxy in front pass `/healthz` on?",
        ));
    }
    strangers(&asked, &mut found)?;
    readiness(&asked, &mut found)?;
    numbers(&asked, &mut found)?;
    found.sort_by_key(|finding| finding.weight);
    Ok(found)
}

/// What it lets those do who do not say who they are.
fn strangers(asked: &Asked<'_>, found: &mut Vec<Finding>) -> Result<(), NoAnswer> {
    let base = asked.server.base();
    let is_here = ["http://localhost", "http://127.", "http://[::1]"].iter().any(|here| base.starts_with(here));
    if base.starts_with("http://") && !is_here {
        let what = "it is asked without TLS: whoever is on the way reads tokens and decisions";
        found.push(Finding::new(
            "plain-text",
            Weight::Bad,
            what,
            "give it `tls` in the file of --security, or a proxy that encrypts in front",
        ));
    }
    if asked.get("/v1/documents?limit=1", &[])?.status == 200 {
        let (weight, from) = if is_here { (Weight::Note, "on this machine") } else { (Weight::Bad, "who reaches it") };
        let what = format!("whoever is {from} may read documents without a token");
        found.push(Finding::new("anonymous", weight, what, "start it with `--anonymous none`"));
    }
    // As a page of somebody else would, whose name leads to this address.
    if asked.get("/v1/documents?limit=1", &[("host", "doctor.invalid")])?.status == 200 {
        let what = "it answers by a name that is not its own: pages of others can read from it through the browser of whoever looks at them";
        found.push(Finding::new(
            "rebinding",
            Weight::Bad,
            what,
            "start it with `--anonymous none`; in front of it, pass on known hosts only",
        ));
    }
    Ok(())
}

fn readiness(asked: &Asked<'_>, found: &mut Vec<Finding>) -> Result<(), NoAnswer> {
    let ready = asked.with_token("/readyz")?;
    let Ok(told) = serde_json::from_str::<Json>(&ready.text) else {
        let what = format!("`/readyz` answers {}", ready.status);
        found.push(Finding::new("no-readiness", Weight::Risky, what, "put a token that may read into UPHELD_TOKEN"));
        return Ok(());
    };
    let mut bad = |code, what: String, fix: &str| found.push(Finding::new(code, Weight::Bad, what, fix));
    // Whoever may not know more gets one word.
    if matches!(ready.status, 401 | 403) || told.get("store").is_none() {
        let what = "its state is not told to this caller".to_owned();
        found.push(Finding::new("no-readiness", Weight::Risky, what, "put a token that may read into UPHELD_TOKEN"));
        return Ok(());
    }
    let told = |place: &str| told.pointer(place);
    let says = |place: &str, value: bool| told(place) == Some(&Json::Bool(value));
    let error = told("/store/error").and_then(Json::as_str).unwrap_or("no reason is told");
    if says("/store/reachable", false) {
        bad("store-away", format!("it does not reach its store: {error}"), "docs/runbook.md#upheld-store-away");
    } else if says("/store/diverged", true) {
        let what = "its store has another history than the one that it read".to_owned();
        bad("store-diverged", what, "docs/runbook.md#upheld-store-diverged");
    } else if says("/store/writable", false) {
        let fix = "make room, or let it write there; it heals by itself";
        bad("writes-fail", format!("its store keeps no writes: {error}"), fix);
    }
    for problem in told("/diagnostics").and_then(Json::as_array).into_iter().flatten() {
        let text = |place: &str| problem.pointer(place).and_then(Json::as_str);
        let (message, place) = (text("/message").unwrap_or_default(), text("/file").unwrap_or("a watched file"));
        bad("files-broken", format!("{place} is invalid and not in effect: {message}"), "correct the file");
    }
    Ok(())
}

fn numbers(asked: &Asked<'_>, found: &mut Vec<Finding>) -> Result<(), NoAnswer> {
    let metrics = asked.with_token("/metrics")?;
    if metrics.status != 200 {
        let what = "its numbers are not told to this caller, so nobody looked at them";
        found.push(Finding::new("no-numbers", Weight::Note, what, "put a token that may administer into UPHELD_TOKEN"));
        return Ok(());
    }
    let sum = |metric: &str| -> f64 {
        let values = metrics.text.lines().filter(|line| line.starts_with(metric) && !line.starts_with('#'));
        values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    for (metric, weight, what, fix) in [
        (
            "upheld_revision_lag",
            Weight::Risky,
            "revisions of the store are not in its snapshot yet",
            "docs/runbook.md#upheld-behind",
        ),
        (
            "upheld_decision_log_dropped_total",
            Weight::Risky,
            "decisions are missing in the decision log",
            "docs/runbook.md#upheld-decision-log-incomplete",
        ),
        (
            "upheld_decision_log_failures_total",
            Weight::Bad,
            "lines of the decision log could not be written",
            "docs/runbook.md#upheld-decision-log-incomplete",
        ),
        (
            "upheld_decisions_total{surface=\"http\",outcome=\"undecided\"}",
            Weight::Note,
            "decisions were undecided, which is a denial",
            "docs/runbook.md#upheld-undecided",
        ),
    ] {
        let count = sum(metric);
        if count > 0.0 {
            found.push(Finding::new(code_of(metric), weight, format!("{count} {what}"), fix));
        }
    }
    Ok(())
}

/// The code of what a metric tells.
fn code_of(metric: &str) -> &'static str {
    match metric {
        "upheld_revision_lag" => "behind",
        "upheld_decision_log_dropped_total" => "decisions-dropped",
        "upheld_decision_log_failures_total" => "decisions-not-written",
        _ => "undecided",
    }
}
