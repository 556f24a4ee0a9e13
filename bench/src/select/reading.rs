//! Reading: what the tree and the model add to the bare parser, and how much faster JSON Lines is than YAML.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use granit_parser::{Event, Parser, Span, SpannedEventReceiver};
use upheld_loader::{Format, Input};
use upheld_model::SourceId;

use super::{Plan, model};
use crate::measure::{interleaved, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};
use crate::workload::{Mesh, Size, documents};

/// The name under which this program starts itself to read files with a number of threads.
pub(crate) const CHILD: &str = "read-files";

/// How many files are read in parallel.
const FILES: usize = 200;

/// Measures and prints.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<(), String> {
    let count = plan.documents;
    report::progress(&format!("reading {} documents", grouped(count)));
    let policies = policies(count);
    let yaml = documents::yaml(&policies);
    let json = documents::json_lines(&policies);

    let [events, yaml_tree, yaml_model, json_tree, json_model] = interleaved(
        plan.rounds,
        [
            &mut || read_events(&yaml),
            &mut || read_tree(Format::Yaml, &yaml),
            &mut || read_model(Format::Yaml, &yaml),
            &mut || read_tree(Format::JsonLines, &json),
            &mut || read_model(Format::JsonLines, &json),
        ],
    )?;

    let name = "reading: YAML into the model / bare events of the parser";
    targets.at_most(name, ratio(yaml_model, events), 1.5);
    targets.at_least("reading: YAML into the model / JSON Lines into the model", ratio(yaml_model, json_model), 5.0);

    report::heading(&format!("Reading {} policies", grouped(count)));
    row("", ["time", "MB/s", "/ bare events"]);
    let line = |name: &str, text: &str, spent: Duration| {
        let rate = number(text.len()) / spent.as_secs_f64() / 1e6;
        row(name, [time(spent), figure(rate), figure(ratio(spent, events))]);
    };
    line("YAML, bare events of the parser", &yaml, events);
    line("YAML into the tree", &yaml, yaml_tree);
    line("YAML into the model", &yaml, yaml_model);
    line("JSON Lines into the tree", &json, json_tree);
    line("JSON Lines into the model", &json, json_model);
    row("YAML / JSON Lines, tree", [figure(ratio(yaml_tree, json_tree))]);
    row("YAML / JSON Lines, model", [figure(ratio(yaml_model, json_model))]);
    row("bytes of YAML, of JSON Lines", [grouped(yaml.len()), grouped(json.len())]);
    print_parallel(count)
}

/// Counts the events of a text, the least that any reader has to do.
#[derive(Debug)]
struct Count(usize);

impl<'t> SpannedEventReceiver<'t> for Count {
    fn on_event(&mut self, event: Event<'t>, span: Span) {
        black_box((event, span));
        self.0 += 1;
    }
}

fn read_events(text: &str) -> Result<Duration, String> {
    let mut count = Count(0);
    let (result, spent) = timed(|| Parser::new_from_str(text).load(&mut count, true));
    match result {
        Ok(()) if count.0 > 0 => Ok(spent),
        Ok(()) => Err("the parser gave no events".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn read_tree(format: Format, text: &str) -> Result<Duration, String> {
    let text = text.to_owned();
    let (tree, spent) = timed(|| model::tree(format, text, SourceId::new(0)));
    tree.map(|_| spent)
}

fn read_model(format: Format, text: &str) -> Result<Duration, String> {
    let texts = vec![(format, text.to_owned())];
    let (model, spent) = timed(|| model::read(texts));
    model.map(|_| spent)
}

/// Reads the same documents in many files, with one thread and with all: two processes, since a pool of threads is made
/// once.
fn print_parallel(count: usize) -> Result<(), String> {
    report::progress(&format!("reading {FILES} files with one thread and with all"));
    let one = child(count, Some("1"))?;
    let all = child(count, None)?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    report::heading(&format!("Reading {FILES} files with one thread and with {threads}, best time on the wall"));
    row("one thread", [time(one)]);
    row("all threads", [time(all), format!("x {}", figure(ratio(one, all)))]);
    Ok(())
}

fn child(count: usize, threads: Option<&str>) -> Result<Duration, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args([CHILD, &count.to_string()]).env_remove("RAYON_NUM_THREADS");
    command.envs(threads.map(|threads| ("RAYON_NUM_THREADS", threads)));
    let output = command.output().map_err(|error| error.to_string())?;
    let nanoseconds = String::from_utf8_lossy(&output.stdout).trim().parse();
    nanoseconds.map(Duration::from_nanos).map_err(|_| "the process that reads files gave no time".to_owned())
}

/// What the child does: reads so many documents in files and prints the nanoseconds of the fastest time.
pub(crate) fn read_files(count: &str) -> Result<(), String> {
    let count: usize = count.parse().map_err(|_| format!("`{count}` is no number"))?;
    let policies = policies(count);
    let texts: Vec<String> = policies.chunks(count.div_ceil(FILES).max(1)).map(documents::yaml).collect();
    let mut best = Duration::MAX;
    for _ in 0..7 {
        let name = |number: usize| format!("{number}.yaml");
        let texts = texts.clone().into_iter().enumerate();
        let inputs = texts.map(|(number, text)| Input::text(name(number), Format::Yaml, text)).collect();
        let started = Instant::now();
        let (files, problems) = upheld_loader::read(inputs);
        best = best.min(started.elapsed());
        if problems.errors() > 0 || files.iter().next().is_none() {
            return Err("the workload cannot be read".to_owned());
        }
    }
    println!("{}", best.as_nanos());
    Ok(())
}

fn policies(count: usize) -> Vec<upheld_engine::select::reference::NaivePolicy> {
    Mesh::new(Size { proxies: 0, services: count.div_ceil(5), policies: count }).policies
}
