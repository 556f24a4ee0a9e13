//! `serve`: the engine behind HTTP and gRPC.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};
use upheld_dialects::access::POLICY;
use upheld_engine::Companions;
use upheld_loader::discover;
use upheld_loader::load::Choices;
use upheld_model::{Diagnostic, Fault};
use upheld_server::config::{AccessApi, Anonymous, GivenSecret, Limits, Security, StoreLocation, Trust};
use upheld_server::{Config, Contents, Running, StartError, start, telemetry};
use upheld_store::Retention;

use super::{Session, refuse, say};
use crate::cli::{AnonymousCallers, Kept, MaxStale, Serve};
use crate::exit::Exit;
use crate::load::is_settings;
use crate::render::diagnostics;
use crate::report::counted;

pub(super) fn run(session: &Session<'_>, serve: &Serve) -> Exit {
    let config = match config(session, serve) {
        Ok(config) => config,
        Err(problem) => return refuse(&[problem]),
    };
    let watched = Watched {
        paths: config.watch.clone(),
        chosen: if serve.watch.is_empty() && session.common.files.is_empty() { By::Default } else { By::User },
    };
    served(config, |running| greet(running, &watched), until_stopped)
}

/// Starts a server, says so, and waits for its end.
pub(super) fn served<E: Future<Output = Exit>>(
    config: Config,
    started: impl FnOnce(&Running),
    ended: impl FnOnce(Running) -> E,
) -> Exit {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("cannot start: {error}")),
    };
    runtime.block_on(async {
        // Traces that are not sent yet are sent when this goes, which must be before the runtime does.
        let _telemetry = telemetry::init(&config.operations);
        match start(config).await {
            Ok(running) => {
                started(&running);
                ended(running).await
            }
            Err(StartError::Broken(broken)) => {
                diagnostics::print(&broken.files, broken.diagnostics.as_slice());
                Exit::Failed
            }
            Err(error) => failed(&error.to_string()),
        }
    })
}

fn failed(message: &str) -> Exit {
    refuse(&[Diagnostic::error(Fault::Unreadable, message)])
}

pub(super) fn config(session: &Session<'_>, serve: &Serve) -> Result<Config, Diagnostic> {
    let store = if serve.ephemeral { StoreLocation::Ephemeral } else { store(&serve.kept)? };
    let security = serve.security.as_deref().map(Security::read).transpose();
    let mut security =
        security.map_err(|error| Diagnostic::error(Fault::BadSetting, error.to_string()))?.unwrap_or_default();
    security.anonymous = anonymous(serve.anonymous.unwrap_or(session.settings.anonymous.value)).or(security.anonymous);
    let token = std::env::var("UPHELD_BOOTSTRAP_TOKEN").ok().filter(|token| !token.is_empty()).map(GivenSecret::Text);
    let named = serve.bootstrap_token_file.clone().map(GivenSecret::File);
    security.bootstrap_token = named.or(token).or(security.bootstrap_token);
    security.session_key = serve.session_key_file.clone().map(GivenSecret::File).or(security.session_key);
    security.hosts.extend(serve.host.iter().cloned());
    // Whoever serves files wants to see them change.
    let named = session.common.files.iter().map(PathBuf::from);
    let mut watch: Vec<PathBuf> = serve.watch.iter().cloned().chain(named).collect();
    let settings = systems(session)?;
    if watch.is_empty() && names_no_store(serve) {
        watch = own_files(session, &settings);
    }
    Ok(Config {
        listen: serve.listen,
        health: serve.health,
        store,
        max_stale: match serve.max_stale.unwrap_or(session.settings.max_stale.value) {
            MaxStale::Off => None,
            MaxStale::After(time) => Some(time),
        },
        retention: Retention { keep_revisions: serve.keep_revisions, keep_for: serve.keep_for },
        watch,
        semantics: session.settings.semantics.value.clone(),
        settings,
        access: AccessApi {
            base: serve.access_base.clone(),
            environment: serve.environment.clone(),
            trust: trust(session, serve)?,
            kind: serve.proxies.deciding_kind.clone(),
            fulfilled: serve.proxies.fulfils.iter().map(Into::into).collect(),
        },
        limits: Limits {
            body: serve.max_body,
            batch: serve.max_batch,
            rate: serve.max_rate,
            request_steps: serve.max_request_steps,
            steps: serve.max_steps,
            ..Limits::default()
        },
        security,
        public_url: serve.public_url.clone(),
        operations: serve.operations.config(),
    })
}

/// Whether nobody said where documents are kept, so that those of this folder may be meant.
fn names_no_store(serve: &Serve) -> bool {
    serve.kept.data.is_none() && serve.kept.database.is_none() && std::env::var_os("STATE_DIRECTORY").is_none()
}

/// The files that all other commands read here, if there are policies among them and a server can take them as they are.
fn own_files(session: &Session<'_>, settings: &Companions) -> Vec<PathBuf> {
    let own: Vec<PathBuf> = session.settings.files.value.iter().map(PathBuf::from).collect();
    let (inputs, problems) = discover(&own);
    let choices = Choices { semantics: session.settings.semantics.value.clone(), settings: settings.clone() };
    let read =
        choices.load_for_store(inputs.into_iter().filter(|input| !is_settings(input.name())).collect(), Vec::new());
    match read {
        Ok(loaded) if problems.is_empty() && !loaded.snapshot.policies().is_empty() => own,
        _ => Vec::new(),
    }
}

/// As the server knows it; what nobody said, the file with tokens and rights may say.
fn anonymous(callers: AnonymousCallers) -> Option<Anonymous> {
    match callers {
        AnonymousCallers::Auto => None,
        AnonymousCallers::None => Some(Anonymous::None),
        AnonymousCallers::Decide => Some(Anonymous::Decide),
        AnonymousCallers::Read => Some(Anonymous::Read),
        AnonymousCallers::Rights => Some(Anonymous::Rights),
    }
}

/// Whom to believe: as the settings say, and flags before them.
fn trust(session: &Session<'_>, serve: &Serve) -> Result<Trust, Diagnostic> {
    let flags = serve.proxies.trust();
    let names_peers = flags.iter().any(|setting| setting.starts_with("peer="));
    let set = session.settings.trust.value.iter().filter(|setting| !(names_peers && setting.starts_with("peer=")));
    Trust::read(&set.chain(&flags).cloned().collect::<Vec<_>>())
}

/// What systems were started with.
fn systems(session: &Session<'_>) -> Result<Companions, Diagnostic> {
    session.settings.companions().map_err(|problems| {
        let first = problems.into_iter().next();
        first.unwrap_or_else(|| Diagnostic::error(Fault::BadSetting, "a setting of a system is wrong"))
    })
}

/// The store that the user named, or the one in the data folder.
pub(super) fn store(kept: &Kept) -> Result<StoreLocation, Diagnostic> {
    if let Some(url) = &kept.database {
        return Ok(StoreLocation::Postgres(url.clone()));
    }
    let folder = kept.data.clone().or_else(|| data_folder(|name| std::env::var(name).ok()));
    folder.map(StoreLocation::Folder).ok_or_else(|| {
        Diagnostic::error(Fault::BadSetting, "there is no home folder to keep revisions in")
            .help("name one with `--data DIR`, or let `serve` keep nothing with `--ephemeral`")
    })
}

/// Where the platform wants programs to keep what they must not lose.
fn data_folder(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // systemd names a folder that it made for this service.
    if let Some(folder) = set("STATE_DIRECTORY") {
        return Some(folder);
    }
    if cfg!(windows) {
        return set("LOCALAPPDATA").map(|folder| folder.join("upheld"));
    }
    if cfg!(target_os = "macos") {
        return set("HOME").map(|home| home.join("Library/Application Support/upheld"));
    }
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("upheld"))
}

/// Answers until the process is told to end; reads files again when it is told to.
pub(super) async fn until_stopped(running: Running) -> Exit {
    let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = signals else {
        running.stop().await;
        return failed("this process cannot be told to end");
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            _ = hangup.recv() => running.reload().await,
        }
    }
    say("shutting down: finishing open requests");
    running.stop().await;
    Exit::Yes
}

/// The files that are served beside the store.
struct Watched {
    paths: Vec<PathBuf>,
    chosen: By,
}

/// Who chose them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    User,
    /// Nobody: they lie here.
    Default,
}

fn greet(running: &Running, watched: &Watched) {
    let (url, contents) = (running.url(), running.contents());
    say(&format!("upheld {} listens on {url}", env!("CARGO_PKG_VERSION")));
    let documents = counted(contents.documents, "document", "documents");
    say(&format!("  store  {}, revision {}, {documents}", running.store(), running.revision()));
    say(&format!("  files  {}", files(watched, &contents)));
    say(&format!("  serves {}", what_is_served(&contents)));
    for (place, line) in running.trusted().into_iter().enumerate() {
        say(&format!("  {} {line}", if place == 0 { "trusts" } else { "      " }));
    }
    for (place, line) in running.end_users().into_iter().enumerate() {
        say(&format!("  {} {line}", if place == 0 { "users " } else { "      " }));
    }
    say(&format!("  guests {}", guests(running.anonymous())));
    if let Some(token) = running.bootstrap_token() {
        say(&format!("  token  {token}"));
        say("         may do everything, and is shown this once: put it into UPHELD_TOKEN");
    }
    say(&format!("  gRPC   {} (Envoy's external authorization)", running.address()));
    if contents.policies.keys().any(|kind| kind != POLICY) {
        say(&format!("  try    upheld list policies --server {url}"));
    }
    if contents.policies.is_empty() || contents.policies.contains_key(POLICY) {
        say(&format!(
            "  try    curl -s {url}/v1/decide -d '{{\"subject\":{{\"roles\":[\"admin\"]}},\
             \"action\":{{\"method\":\"GET\"}},\"resource\":{{\"path\":\"/api\"}}}}'"
        ));
    }
    if let Some(address) = running.health() {
        say(&format!("  probes http://{address}/healthz"));
    }
    say(&format!("  pages  {url}/"));
    say(&format!("  API    {url}/openapi.json"));
}

/// What those may do who do not say who they are, and how to change it.
fn guests(anonymous: Anonymous) -> &'static str {
    match anonymous {
        Anonymous::None => "callers without a token may ask whether the server lives; `--anonymous` says otherwise",
        Anonymous::Decide => "callers without a token may ask for decisions, as far as rights permit",
        Anonymous::Read => "callers without a token may ask and read, from this machine; `--anonymous none` ends that",
        Anonymous::Rights => "callers without a token may do what the rights say of them",
    }
}

/// Which files are served; whoever starts a server in a folder of policies may expect those.
fn files(watched: &Watched, contents: &Contents) -> String {
    if watched.paths.is_empty() {
        return "none; `--watch DIR` serves the files of a folder, too".to_owned();
    }
    let names: Vec<String> = watched.paths.iter().map(|path| path.display().to_string()).collect();
    let why = match watched.chosen {
        By::User => "",
        By::Default => "; watched because nothing else was named, `--data DIR` serves a store alone",
    };
    format!("{} ({}{why})", names.join(", "), counted(contents.files, "file", "files"))
}

/// How much of what is served.
fn what_is_served(contents: &Contents) -> String {
    let part = |of: &BTreeMap<String, usize>, one: &str, many: &str| {
        let all = counted(of.values().sum(), one, many);
        let each: Vec<String> = of.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        if each.is_empty() { all } else { format!("{all} ({})", each.join(", ")) }
    };
    format!("{}, {}", part(&contents.policies, "policy", "policies"), part(&contents.objects, "object", "objects"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_says_which_files_are_served() {
        let contents = Contents { files: 3, ..Contents::default() };
        let watched = |paths: &[&str], chosen| Watched { paths: paths.iter().map(PathBuf::from).collect(), chosen };
        assert_eq!(files(&watched(&["a", "b/c"], By::User), &contents), "a, b/c (3 files)");
        assert!(files(&watched(&["."], By::Default), &contents).starts_with(". (3 files; watched because"));
        let none = "none; `--watch DIR` serves the files of a folder, too";
        assert_eq!(files(&watched(&[], By::Default), &contents), none);
    }

    #[test]
    fn the_banner_counts_by_type() {
        let types = |all: &[(&str, usize)]| all.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        let policies = types(&[("AccessPolicy", 1), ("MeshTimeout", 2)]);
        let contents = Contents { policies, objects: types(&[("Dataplane", 1)]), ..Contents::default() };
        assert_eq!(what_is_served(&contents), "3 policies (AccessPolicy 1, MeshTimeout 2), 1 object (Dataplane 1)");
        assert_eq!(what_is_served(&Contents::default()), "0 policies, 0 objects");
    }

    fn folder(variables: &[(&str, &str)]) -> Option<String> {
        let found = data_folder(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        found.map(|folder| folder.display().to_string())
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn revisions_are_kept_where_the_platform_wants_them() {
        assert_eq!(folder(&[("HOME", "/home/a")]).as_deref(), Some("/home/a/.local/share/upheld"));
        assert_eq!(folder(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "/d")]).as_deref(), Some("/d/upheld"));
        assert_eq!(
            folder(&[("STATE_DIRECTORY", "/var/lib/upheld"), ("HOME", "/root")]).as_deref(),
            Some("/var/lib/upheld")
        );
        assert_eq!(folder(&[("HOME", "")]), None);
    }
}
