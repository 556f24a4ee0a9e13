//! What is unsafe or unhealthy about a configuration, each with its fix. Nothing is started, and nothing is changed.

use std::net::IpAddr;
use std::path::Path;

use serde::Serialize;
use upheld_dialects::access::decider::deciders;
use upheld_loader::discover;
use upheld_loader::load::Choices;

use crate::auth;
use crate::config::{Anonymous, Config, DecisionLogTo, StoreLocation};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Somebody may do what they should not, or the server does not do what it should.
    Bad,
    /// It may become so.
    Risky,
    /// Good to know.
    Note,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which sort it is; the same text for the same sort.
    pub code: &'static str,
    /// How bad it is.
    pub weight: Weight,
    /// What it is.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Finding {
    /// One of a sort.
    pub fn new(code: &'static str, weight: Weight, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { code, weight, what: what.into(), fix: fix.into() }
    }
}

/// Looks at a configuration; the worst comes first.
pub fn examine(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    reach(config, &mut found);
    found.extend(auth::examine(config));
    proxies(config, &mut found);
    store(config, &mut found);
    watched(config, &mut found);
    requests(config, &mut found);
    operations(config, &mut found);
    found.sort_by_key(|finding| finding.weight);
    found
}

/// Who can reach it, and what they can do without a token.
fn reach(config: &Config, found: &mut Vec<Finding>) {
    let is_here = config.listen.ip().is_loopback();
    let mut say = |code, weight, what: String, fix: &str| found.push(Finding::new(code, weight, what, fix));
    if !is_here && config.security.tls.is_none() {
        let what =
            format!("it listens on {} without TLS: whoever is on the way reads tokens and decisions", config.listen);
        say(
            "plain-text",
            Weight::Bad,
            what,
            "give `tls` in the file of --security, or listen on 127.0.0.1 behind a proxy that encrypts",
        );
    }
    if !is_here && config.limits.rate.is_none() {
        let what = "other machines reach it, and a client may ask as fast as it can".to_owned();
        say("no-rate", Weight::Risky, what, "`--max-rate COUNT`: the most requests of one client in a second");
    }
    let anonymous = config.anonymous();
    let word = anonymous.word();
    if anonymous != Anonymous::None && config.public_url.is_some() && is_here {
        let what = format!(
            "a public URL and `--anonymous {word}`: a proxy on this machine makes everybody look like this machine, and some say nothing of it"
        );
        say("anonymous-behind-proxy", Weight::Bad, what, "`--anonymous none`, and tokens for those who ask");
    } else if matches!(anonymous, Anonymous::Decide | Anonymous::Read) && !is_here {
        let what = format!(
            "other machines reach it, and `--anonymous {word}` lets callers in who do not say who they are, as far as rights permit"
        );
        say("anonymous", Weight::Risky, what, "`--anonymous none`, and tokens for those who ask");
    } else if anonymous == Anonymous::Read {
        let what = "whoever is on this machine may ask and read without a token".to_owned();
        say("anonymous-here", Weight::Note, what, "`--anonymous none` ends that");
    }
}

/// Whom it believes.
fn proxies(config: &Config, found: &mut Vec<Finding>) {
    for network in config.access.trust.peers.iter().filter(|network| network.prefix_len() == 0) {
        found.push(Finding::new(
            "trusts-everybody",
            Weight::Bad,
            format!("it believes everybody of {network} who they say to be"),
            "`--trusted-peer` with the addresses of your proxies only",
        ));
    }
}

fn store(config: &Config, found: &mut Vec<Finding>) {
    match &config.store {
        StoreLocation::Ephemeral => found.push(Finding::new(
            "ephemeral",
            Weight::Note,
            "nothing that is written outlives the process",
            "leave out `--ephemeral`",
        )),
        StoreLocation::Folder(folder) => {
            for path in [folder.clone(), folder.join(upheld_store::STORE_FILE)] {
                open_to_others(&path, "store-readable", 0o077, "the log of all documents", found);
            }
        }
        StoreLocation::Postgres(url) => {
            let (host, verified) = (host_of(url), url.contains("sslmode=verify-full"));
            if !verified && !host.is_some_and(is_this_machine) {
                found.push(Finding::new(
                    "database-unverified",
                    Weight::Risky,
                    "nobody checks that the database is the one that it should be",
                    "add `?sslmode=verify-full&sslrootcert=FILE` to its URL",
                ));
            }
        }
        StoreLocation::Given(_) => {}
    }
}

/// The host in a URL, which may have a password before it.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1.split(['/', '?']).next()?;
    let host = rest.rsplit('@').next()?;
    Some(host.rsplit_once(':').map_or(host, |(host, _)| host))
}

fn is_this_machine(host: &str) -> bool {
    host.is_empty()
        || host == "localhost"
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Files that decide must not be everybody's to change.
fn watched(config: &Config, found: &mut Vec<Finding>) {
    for path in &config.watch {
        if path.exists() {
            open_to_others(path, "policies-writable", 0o022, "what decides", found);
        } else {
            let what = format!("{} is watched, and not there", path.display());
            found.push(Finding::new("nothing-to-watch", Weight::Bad, what, "correct the path of --watch, or make it"));
        }
    }
}

/// Steps of one request that need a look: about ten milliseconds.
const MANY_STEPS: usize = 1 << 22;

/// What the worst request costs under the policies that are watched. Invalid policies are the business of `serve`.
fn requests(config: &Config, found: &mut Vec<Finding>) {
    let (inputs, _) = discover(&config.watch);
    let choices = Choices { semantics: config.semantics.clone(), settings: config.settings.clone() };
    let Ok(loaded) = choices.load(inputs) else { return };
    let limit = config.limits.request_steps.unwrap_or(MANY_STEPS);
    for (kind, decide) in deciders(&loaded.snapshot).filter(|(_, decide)| !decide.rules().is_empty()) {
        let load = decide.load();
        let kind = loaded.snapshot.kind(kind).map_or("", |kind| loaded.snapshot.text(kind.name));
        let what = format!(
            "one request takes at most {} steps under policies of kind {kind}: {} states of patterns, {} nodes of expressions",
            load.worst(),
            load.patterns,
            load.expressions
        );
        let weight = if load.worst() > limit { Weight::Risky } else { Weight::Note };
        let fix =
            "write texts instead of patterns where you know them; `--max-request-steps COUNT` refuses writes beyond it";
        found.push(Finding::new("request-steps", weight, what, fix));
    }
}

fn operations(config: &Config, found: &mut Vec<Finding>) {
    match &config.operations.decision_log {
        None => found.push(Finding::new(
            "no-decision-log",
            Weight::Note,
            "nobody writes down what is decided",
            "`--decision-log PATH`",
        )),
        Some(log) => {
            if let DecisionLogTo::File(path) = &log.to {
                open_to_others(path, "decisions-readable", 0o077, "who asked for what", found);
            }
        }
    }
    if let Some(url) = &config.operations.otlp
        && url.starts_with("http:")
        && !host_of(url).is_some_and(is_this_machine)
    {
        found.push(Finding::new(
            "traces-in-plain-text",
            Weight::Risky,
            "traces, with names of callers, go to another machine without TLS",
            "`--otlp https://…`, and `--otlp-authority FILE` if its certificate is one of your own",
        ));
    }
}

/// Whether others of this machine may read or write a file that is there.
#[cfg(unix)]
pub(crate) fn open_to_others(path: &Path, code: &'static str, mask: u32, has: &str, found: &mut Vec<Finding>) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(about) = std::fs::metadata(path) else { return };
    let mode = about.permissions().mode() & 0o777;
    if mode & mask == 0 {
        return;
    }
    let may = if mode & mask & 0o022 == 0 { "read" } else { "change" };
    let path = path.display();
    let what = format!("{path} has {has}, and others on this machine may {may} it (mode {mode:03o})");
    found.push(Finding::new(code, Weight::Bad, what, format!("chmod {:03o} {path}", mode & !mask)));
}

#[cfg(not(unix))]
pub(crate) fn open_to_others(_: &Path, _: &'static str, _: u32, _: &str, _: &mut Vec<Finding>) {}

#[cfg(test)]
mod tests;
