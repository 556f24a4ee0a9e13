//! Measures `upheld`: every figure stands beside that of a rival, taken in the same run.
//!
//! ```text
//! workload   meshes, policies and their documents, the same in every run
//! instructions   of one act, counted by valgrind
//! measure    CPU time, medians of interleaved rounds, peak memory
//! select     the measurements of family select
//! kuma       the measurements of family merge, on policies with target references
//! gateway    the measurements of policies that are attached to gateways and routes
//! access     decisions about requests, against a plain loop and against peers
//! analysis   what changes between two sets of policies, and what is to be said of one, over all requests
//! comply     audits of related objects and decisions about changes, against sets of texts
//! server     decisions over HTTP and gRPC, against a decision in this process and an empty handler
//! report     tables, targets, and which of them were missed
//! ```
//!
//! A missed target is printed and fails nothing, since machines differ. A wrong answer fails the run.

mod access;
mod analysis;
mod comply;
mod gateway;
mod instructions;
mod kuma;
mod measure;
mod report;
mod select;
mod server;
mod workload;

use std::alloc::System;
use std::process::ExitCode;

use mockalloc::Mockalloc;

/// Counts allocations while it is told to; the rest of the time it only asks whether it should.
#[global_allocator]
static ALLOCATOR: Mockalloc<System> = Mockalloc(System);

const HELP: &str = "\
bench NAME [--quick]

  select      all pairs of proxies and services, policies that match nothing, reading, explaining
  kuma        all rules of all proxies, listings of clients, one policy changed, looking up a resource
  gateway     all effective policies and statuses of many routes, crowds on one route, one policy changed, delegation
  access      decisions about requests, against a plain loop, Cedar, CEL, casbin and regorus; adversarial policies
  analysis    what changes between two sets of access policies, and what is to be said of one, over all requests
  comply      audits of related objects, decisions about changes, growth, against sets of texts
  server      decisions over HTTP, in batches and over gRPC, alone and while somebody writes; start and memory
  soak --minutes N
              mixed load on a server; memory, file handles and latency over time

  --attack    server only: decisions of a caller with rights while strangers, and others who may ask, do what they can
  --envoy     server only: what the server works for each request that a real Envoy asks about
  --pages     server only: web pages of 10 000 policies and 100 000 objects, in time and bytes, beside the endpoints
  --quick     a small run of a few seconds, to see that everything works; its figures mean little
  --instructions
              select, kuma, access and comply: instructions of one answer, counted by valgrind
  --reports   comply only: only reports and fixes
  --related   server only: only writes and reads among a million relationships
  --huge      comply only: also the largest organisation, which needs 10 GB of memory

Results go to standard output, progress to standard error. The exit code is 0, also if a target is missed; 1 if an
answer is wrong or a measurement cannot run; 2 for a name that does not exist.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if cfg!(debug_assertions) {
        eprintln!("note: this build is not optimised; `cargo xtask bench` builds the right one");
    }
    let result = match arguments.as_slice() {
        ["select"] => select::run(&select::FULL),
        ["select", "--quick"] => select::run(&select::QUICK),
        ["select", "--instructions"] => select::instructions::run(),
        ["kuma"] => kuma::run(&kuma::FULL),
        ["kuma", "--quick"] => kuma::run(&kuma::QUICK),
        ["kuma", "--instructions"] => kuma::instructions::run(),
        ["gateway"] => gateway::run(&gateway::FULL),
        ["gateway", "--quick"] => gateway::run(&gateway::QUICK),
        ["access"] => access::run(&access::FULL),
        ["access", "--quick"] => access::run(&access::QUICK),
        ["access", "--instructions"] => access::instructions::run(),
        ["analysis"] => analysis::run(&analysis::FULL),
        ["analysis", "--quick"] => analysis::run(&analysis::QUICK),
        ["comply"] => comply::run(&comply::FULL),
        ["comply", "--quick"] => comply::run(&comply::QUICK),
        ["comply", "--reports"] => comply::run_reports(&comply::FULL),
        ["comply", "--reports", "--quick"] => comply::run_reports(&comply::QUICK),
        ["comply", "--instructions"] => comply::instructions::run(),
        ["server"] => server::run(&server::FULL),
        ["server", "--quick"] => server::run(&server::QUICK),
        ["server", "--related"] => server::run_related(&server::FULL),
        ["server", "--related", "--quick"] => server::run_related(&server::QUICK),
        ["server", "--attack"] => server::attack::run(&server::attack::FULL),
        ["server", "--attack", "--quick"] => server::attack::run(&server::attack::QUICK),
        ["server", "--pages"] => server::pages::run(&server::pages::FULL),
        ["server", "--pages", "--quick"] => server::pages::run(&server::pages::QUICK),
        ["server", "--envoy"] => server::behind_envoy::run(&server::behind_envoy::FULL),
        ["server", "--envoy", "--quick"] => server::behind_envoy::run(&server::behind_envoy::QUICK),
        ["soak", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes @ 1..=1440) => server::soak::run(minutes),
            _ => Err(format!("`{minutes}` is not a number of minutes from 1 to 1440")),
        },
        [server::process::CHILD, policies, anonymous] => server::process::serve(policies, anonymous),
        [select::instructions::CHILD, arguments @ ..] => select::instructions::act(arguments),
        [kuma::instructions::CHILD, arguments @ ..] => kuma::instructions::act(arguments),
        [comply::instructions::CHILD, arguments @ ..] => comply::instructions::act(arguments),
        [comply::loading::CHILD, folder] => comply::loading::load_folder(folder),
        [comply::reports::CHILD, format, folder] => comply::reports::write_report(format, folder),
        ["comply", "--huge"] => comply::run(&comply::HUGE),
        [access::instructions::CHILD, arguments @ ..] => access::instructions::decide_requests(arguments),
        [select::reading::CHILD, documents] => select::reading::read_files(documents),
        ["--help" | "-h" | "help"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        [] => {
            eprint!("which measurement?\n\n{HELP}");
            return ExitCode::from(2);
        }
        unknown => {
            eprint!("there is no measurement `{}`\n\n{HELP}", unknown.join(" "));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("failed: {problem}");
            ExitCode::FAILURE
        }
    }
}
