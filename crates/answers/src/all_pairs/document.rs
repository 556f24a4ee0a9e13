//! All pairs as programs get them.

use serde_json::{Value as Json, json};
use upheld_model::Sym;

use super::{AllPairs, Cell, Pairs, Standing};

/// How many cells of a mesh are listed in its document; the rest can be asked for pair by pair.
const MOST_CELLS: usize = 1_000;

impl AllPairs<'_> {
    /// How often each policy counts, for programs.
    pub fn document(&self) -> Json {
        let meshes: Vec<Json> = self.meshes.iter().map(|table| self.summary(table)).collect();
        let semantics = self.edition();
        json!({
            "apiVersion": "upheld/v1", "kind": "AllPairs", "policyKind": self.kind_name(), "semantics": semantics,
            "snapshot": self.snapshot.digest(), "meshes": meshes,
        })
    }

    /// One pair as programs get it.
    pub fn line(&self, table: &Pairs, proxy: Sym, to: &str, standing: &Standing) -> Json {
        let mesh = self.snapshot.text(table.mesh);
        let mut line =
            json!({"mesh": mesh, "from": self.snapshot.text(proxy), "to": to, "policies": self.names(standing)});
        if let (Some(granted), Some(line)) = (standing.granted, line.as_object_mut()) {
            line.insert("granted".to_owned(), json!(granted));
        }
        line
    }

    fn summary(&self, table: &Pairs) -> Json {
        // By name, the default first: which of them came first is nobody's business.
        let mut tallies: Vec<_> = table.tallies().into_iter().collect();
        tallies.sort_by_key(|(policy, _)| policy.map(|policy| self.name(policy)));
        let policies: Vec<Json> = (tallies.iter())
            .map(|(policy, tally)| {
                let name = policy.map_or(self.default_name(), |policy| self.name(policy));
                json!({
                    "policy": name, "pairs": tally.pairs, "proxies": tally.proxies,
                    "destinations": tally.destinations, "at": self.at(*policy),
                })
            })
            .collect();
        let cells = table.cells();
        let listed: Vec<Json> = cells.each().take(MOST_CELLS).map(|cell| self.cell(&cell)).collect();
        let mut summary = json!({
            "mesh": self.snapshot.text(table.mesh), "proxies": table.proxies.len(),
            "destinations": table.destinations.len(), "classes": table.rows.len(), "pairs": table.count(),
            "policies": policies, "cells": listed,
        });
        if let (Some(more @ 1..), Some(summary)) = (cells.count().checked_sub(MOST_CELLS), summary.as_object_mut()) {
            summary.insert("cellsNotListed".to_owned(), json!(more));
        }
        summary
    }

    /// Pairs with one answer, as programs get them.
    fn cell(&self, cell: &Cell<'_>) -> Json {
        let Cell { from, proxies, to, destinations, standing } = cell;
        let mut json = json!({
            "from": self.snapshot.text(*from), "proxies": proxies, "to": to, "destinations": destinations,
            "pairs": proxies * destinations, "policies": self.names(standing),
        });
        if let (Some(granted), Some(json)) = (standing.granted, json.as_object_mut()) {
            json.insert("granted".to_owned(), json!(granted));
        }
        json
    }
}
