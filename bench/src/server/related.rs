//! A million relationships on a server: what it takes to write one more, and to read a few, where violations are on record.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use upheld_loader::Format;
use upheld_server::{Config, Running, start};

use super::client::Client;
use crate::comply::documents::SEMANTICS;
use crate::comply::loading::Folder;
use crate::comply::organisation::{M, Of, Organisation, Size, XL};
use crate::comply::reports::POLICIES;
use crate::comply::{PLANTED, SEED};
use crate::measure::Spread;
use crate::report::{Targets, grouped, heading, memory, progress, row, time};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    size: Size,
    /// Relationships that are written before anything is measured: what they violate is on record then, write by write.
    recorded: usize,
    rounds: usize,
}

/// What the targets are about.
pub(super) const FULL: Plan = Plan { size: XL, recorded: 2_000, rounds: 60 };

/// Enough to see that everything works.
pub(super) const QUICK: Plan = Plan { size: M, recorded: 20, rounds: 5 };

/// Measures, prints, and adds what must hold.
pub(super) fn run(plan: Plan, runtime: &Runtime, targets: &mut Targets) -> Result<(), String> {
    let organisation = Organisation::new(plan.size.with_rules(POLICIES), PLANTED, SEED);
    let folder = Folder::new(&organisation, Format::JsonLines)?;
    progress("starting a server with all relationships");
    let mut server = Server::watching(runtime, &folder)?;
    progress(&format!("writing {} relationships", grouped(plan.recorded)));
    let begun = Instant::now();
    for number in 0..plan.recorded {
        server.link(&organisation, number)?;
    }
    let recording = begun.elapsed();
    let (objects, relations) = organisation.counts();
    heading(&format!(
        "A server with {} relationships of {} objects, {POLICIES} policies; on the wall",
        grouped(relations),
        grouped(objects)
    ));
    row("", ["p50", "p99"]);
    let mut measure = |name: &str, most: f64, ask: &mut dyn FnMut(&mut Server, usize) -> Result<String, String>| {
        progress(name);
        let mut took = Vec::with_capacity(plan.rounds);
        for round in 0..plan.rounds {
            let begun = Instant::now();
            ask(&mut server, round)?;
            took.push(begun.elapsed());
        }
        let spread = Spread::of(took);
        row(name, [spread.middle, spread.slow].map(time));
        targets.at_most(&format!("{name}, p50, ms"), spread.middle.as_secs_f64() * 1e3, most);
        Ok::<(), String>(())
    };
    let place = |round: usize| plan.recorded + round;
    measure("one relationship written", 10.0, &mut |server, round| server.link(&organisation, place(round)))?;
    measure("one relationship ended", 10.0, &mut |server, round| server.unlink(&organisation, place(round)))?;
    measure("one relationship tried (dryRun)", 10.0, &mut |server, round| server.check(&organisation, place(round)))?;
    measure("one pair explained", 5.0, &mut |server, round| {
        let (a, b) = ends(&organisation, round);
        server.ask("/v1/explain", &format!(r#"{{"what": "{a}~{b}"}}"#))
    })?;
    measure("one workspace audited", 5.0, &mut |server, round| {
        let workspace = organisation.named(Of::Workspace, 500 + round);
        server.ask("/v1/audit", &format!(r#"{{"workspace": "{workspace}", "noFixes": true}}"#))
    })?;
    measure("one workspace audited, with fixes", 5.0, &mut |server, round| {
        let workspace = organisation.named(Of::Workspace, 500 + round);
        server.ask("/v1/audit", &format!(r#"{{"workspace": "{workspace}"}}"#))
    })?;
    measure("metrics", 5.0, &mut |server, _| server.get("/metrics"))?;
    row(&format!("{} relationships written one by one", grouped(plan.recorded)), [time(recording)]);
    row("memory of this process", [memory(crate::measure::memory())]);
    runtime.block_on(server.running.stop());
    Ok(())
}

/// Who could be related, by number.
fn ends(organisation: &Organisation, number: usize) -> (String, String) {
    (organisation.named(Of::Project, number * 7), organisation.named(Of::User, number * 13))
}

/// A server whose objects stand in files, and what is written in its store.
struct Server {
    running: Running,
    client: Client,
}

impl Server {
    fn watching(runtime: &Runtime, folder: &Folder) -> Result<Self, String> {
        let mut config = Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            watch: vec![folder.path.clone()],
            semantics: vec![SEMANTICS.to_owned()],
            ..Config::default()
        };
        config.limits.time = Duration::from_mins(2);
        let running = runtime.block_on(start(config)).map_err(|error| error.to_string())?;
        let client = Client::connect(running.address())?;
        Ok(Self { running, client })
    }

    fn link(&mut self, organisation: &Organisation, number: usize) -> Result<String, String> {
        let (a, b) = ends(organisation, number);
        self.ask("/v1/revisions", &format!(r#"{{"put": [{{"a": "{a}", "b": "{b}"}}]}}"#))
    }

    fn unlink(&mut self, organisation: &Organisation, number: usize) -> Result<String, String> {
        let (a, b) = ends(organisation, number);
        self.ask("/v1/revisions", &format!(r#"{{"delete": ["Link/compliance/{a}~{b}"]}}"#))
    }

    fn check(&mut self, organisation: &Organisation, number: usize) -> Result<String, String> {
        let (a, b) = ends(organisation, number);
        self.ask("/v1/check", &format!(r#"{{"put": [{{"a": "{a}", "b": "{b}"}}]}}"#))
    }

    fn ask(&mut self, path: &str, body: &str) -> Result<String, String> {
        self.client.ask_as(self.running.bootstrap_token().unwrap_or_default(), path, body)
    }

    fn get(&mut self, path: &str) -> Result<String, String> {
        self.client.get_as(self.running.bootstrap_token().unwrap_or_default(), path)
    }
}
