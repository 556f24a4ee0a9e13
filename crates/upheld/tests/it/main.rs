//! The program from the outside, as users run it.
#![cfg(test)]

mod access;
mod analysis;
mod architecture;
mod broken;
mod commands;
mod compliance;
mod copied_kinds;
mod deployment;
mod documentation;
mod explanations;
mod interrupted;
mod invariants;
mod library;
mod mutating;
mod one_answer;
mod pages;
mod reach;
mod remote;
mod replay;
mod reports;
mod repository;
mod served;
mod serving;
mod stamps;
mod start;
mod streams;
mod support;
mod surfaces;
mod terminal;
mod testing;
mod testing_related;
mod transcripts;
