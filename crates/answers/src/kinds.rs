//! The kinds of policies: how each matches, ranks and resolves.

use serde_json::{Value as Json, json};
use upheld_engine::comply::Strategy;
use upheld_engine::words::{layer_rung_name, place_rung_name, rung_name};
use upheld_engine::{Choices, PolicyKind, Resolve, Snapshot};
use upheld_model::{Diagnostic, Fault};

use crate::report::At;
use upheld_dialects::question::find_kind;

/// A kind of policy, in words.
#[derive(Clone, Debug)]
pub struct KindLine {
    /// Its name.
    pub name: String,
    /// The edition of the rules that it belongs to.
    pub semantics: Option<String>,
    /// What policies of the kind look at.
    pub matches: String,
    /// What orders them.
    pub rank: String,
    /// What becomes of those that match.
    pub resolve: &'static str,
    /// What they decide.
    pub about: String,
    /// Where the kind was written.
    pub at: Option<At>,
}

/// All kinds, in words.
pub(crate) fn lines(snapshot: &Snapshot) -> Vec<KindLine> {
    let line = |kind: &PolicyKind| {
        let (matches, rank, resolve) = choices(snapshot, kind);
        let about = snapshot.files().value(kind.at).and_then(|value| value.get("about"));
        KindLine {
            name: snapshot.text(kind.name).to_owned(),
            semantics: kind.semantics.map(|semantics| snapshot.text(semantics).to_owned()),
            matches,
            rank,
            resolve,
            about: about.map_or("", |about| about.text()).to_owned(),
            at: At::of(snapshot.files(), kind.at),
        }
    };
    snapshot.kinds().iter().map(|(_, kind)| line(kind)).collect()
}

/// The documents of all kinds.
pub(crate) fn documents(snapshot: &Snapshot) -> Vec<Json> {
    snapshot.kinds().iter().map(|(_, kind)| json!(snapshot.files().value(kind.at))).collect()
}

/// One kind, by its name.
pub(crate) fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s PolicyKind, Diagnostic> {
    let kind = snapshot.kind(find_kind(snapshot, name)?);
    kind.ok_or_else(|| Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}`")))
}

/// How a kind matches, ranks and resolves.
fn choices(snapshot: &Snapshot, kind: &PolicyKind) -> (String, String, &'static str) {
    let lookup = snapshot.lookup();
    match &kind.choices {
        Choices::Select(select) => {
            let matches: Vec<String> = (select.matches.iter())
                .map(|item| format!("{} ({})", snapshot.text(item.field), item.side.word()))
                .collect();
            let rank: Vec<String> = select.rank.rungs().iter().map(|rung| rung_name(*rung, &lookup)).collect();
            let resolve = if select.resolve == Resolve::All { "all" } else { "first" };
            (matches.join(" and "), rank.join(", "), resolve)
        }
        Choices::Hierarchy(hierarchy) => {
            let rank = match hierarchy.profile {
                Some(profile) => format!("profile {}", snapshot.text(profile)),
                None => {
                    let rungs = hierarchy.rank.rungs().iter();
                    rungs.map(|rung| place_rung_name(*rung, &lookup)).collect::<Vec<_>>().join(", ")
                }
            };
            ("targetRefs (gateways and routes)".to_owned(), rank, "merge")
        }
        Choices::Decide(decide) => {
            let fields: Vec<&str> = decide.fields.clauses.iter().map(|(_, field)| snapshot.text(*field)).collect();
            let rank = format!("{}, position", snapshot.text(decide.fields.priority));
            (fields.join(", "), rank, decide.algorithm.word())
        }
        Choices::Comply(comply) => {
            let profile = &comply.profile;
            let pairs = profile.pairs.iter();
            let pairs: Vec<String> =
                pairs.map(|(a, b)| pair(profile.subject_name(*a), profile.subject_name(*b))).collect();
            let between = profile.strategies.iter().filter(|_| profile.has_two_objects());
            let alone = Strategy::ALONE.iter().filter(|_| profile.has_single_objects());
            let strategies: Vec<&str> = between.chain(alone).map(|strategy| strategy.word()).collect();
            (pairs.join(", "), strategies.join(", "), "all")
        }
        Choices::Merge(merge) => {
            let matches: Vec<String> = (merge.facets.iter())
                .map(|choice| format!("{} ({})", snapshot.text(choice.field), choice.facet.word()))
                .collect();
            let rank: Vec<String> = merge.rank.rungs().iter().map(|rung| layer_rung_name(*rung, &lookup)).collect();
            (matches.join(" and "), rank.join(", "), "merge")
        }
    }
}

/// Two subjects, or the one whose own tags policies may be about.
fn pair(a: &str, b: &str) -> String {
    if a == b { a.to_owned() } else { format!("{a} ~ {b}") }
}
