//! `upheld`: which policies apply, which one wins, what is the effective result, and why.
//!
//! ```text
//! arguments, environment, upheld.yaml ──▶ settings      cli, config
//! settings ──▶ files ──▶ snapshot                        load
//! question ──▶ World ──▶ report ──▶ table, JSON, YAML    commands, upheld_answers, render
//!                                └─▶ exit code           exit
//! ```
//!
//! Invariant: renderers see reports only, so every format and every exit code comes from the same ruling.

mod cli;
mod commands;
mod complete;
mod config;
mod cost;
mod demo;
mod exit;
mod load;
mod remote;
mod render;
mod watch;

use std::process::ExitCode;

use upheld_answers::report;

fn main() -> ExitCode {
    clap_complete::env::CompleteEnv::with_factory(cli::command).complete();
    let exit = match cli::parse(std::env::args_os()) {
        Ok(cli) => commands::run(&cli),
        Err(told) => exit::usage(&told),
    };
    cost::keep();
    if render::writing_failed() { exit::Exit::Failed.into() } else { exit.into() }
}
