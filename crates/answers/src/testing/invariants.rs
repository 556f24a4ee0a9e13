//! What must hold everywhere: for all requests that there could be, for all connections, for every route, proxy or project that was read.
//!
//! ```text
//! never, always permit   requests       every possible request of a region, by the dialect that can tell
//! never, always connect  connections    every pair in its cell, each cell asked once
//! every … holds          connections, places and objects, each with a condition on a field or tag
//! unchanged              requests or connections: what two worlds say of them
//! ```

mod condition;
mod connections;
mod objects;
mod places;
mod shapes;
mod tags;
#[cfg(test)]
mod tests;
mod unchanged;

use serde_json::{Map, Value as Json};
use upheld_dialects::access::invariants;
use upheld_engine::KindId;
use upheld_engine::decide::shifts::Claim;
use upheld_engine::decide::{Decide, Outcome, Rule};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};
use upheld_report::{Proof, Refused};

use self::condition::Condition;
use self::connections::Connect;
pub(super) use self::shapes::Form;
use self::tags::Wanted;
use self::unchanged::Unchanged;
use super::decider;
use crate::world::World;

/// Something that must hold.
#[derive(Clone, Debug)]
pub(super) struct Invariant {
    /// What must hold of what.
    demands: Demands,
    /// The kind of policies, if it names one.
    pub(super) kind: Option<String>,
    /// As it was written.
    pub(super) given: Json,
}

#[derive(Clone, Debug)]
enum Demands {
    /// What requests of a region get.
    Requests { region: Rule, claim: Claim },
    /// Who may call whom.
    Connections { connect: Connect, from: Wanted, to: Wanted },
    /// What everything of a sort has.
    Every { what: String, wanted: Wanted, from: Wanted, to: Wanted, holds: Vec<Condition> },
    /// What stays as it was.
    Unchanged(Unchanged),
}

/// Policies that are asked instead of those of their kind.
pub(super) type Instead<'d> = Option<(KindId, &'d Decide)>;

impl Invariant {
    /// Reads one whose shape is right; nothing if it is wrong.
    pub(super) fn read(source: SourceId, written: Value<'_>, form: Form, found: &mut Diagnostics) -> Option<Self> {
        let before = found.errors();
        let demands = match form {
            Form::Never | Form::Always => claim(source, written, form, found),
            Form::Every => every(source, written, found),
            Form::Unchanged => unchanged(source, written, found),
        };
        let kind = written.get("kind").and_then(Value::as_text).map(str::to_owned);
        let given = Json::Object(given(written));
        (found.errors() == before).then_some(Self { demands: demands?, kind, given })
    }

    /// Whether it asks policies that decide requests.
    pub(super) fn is_about_requests(&self) -> bool {
        matches!(self.demands, Demands::Requests { .. })
    }

    /// Whether it can only be told by what was before.
    pub(super) fn is_about_changes(&self) -> bool {
        matches!(self.demands, Demands::Unchanged(_))
    }

    /// Whether it holds, and what speaks against it.
    pub(super) fn proof(
        &self,
        world: &World<'_>,
        before: Option<&World<'_>>,
        instead: Instead<'_>,
    ) -> Result<Proof, Refused> {
        let kind = self.kind.as_deref();
        match &self.demands {
            Demands::Unchanged(unchanged) => {
                let nothing = || Diagnostic::error(Fault::IncompleteQuestion, super::NOTHING_BEFORE);
                unchanged.proof(before.ok_or_else(nothing)?, world, kind)
            }
            Demands::Requests { region, claim } => {
                let decider = decider(world.snapshot(), world.options(), kind)?;
                let changed = instead.filter(|(changed, _)| *changed == decider.kind);
                let policies = changed.map_or(decider.decide, |(_, instead)| instead);
                Ok(invariants::proof(world.snapshot(), decider.kind, policies, region, *claim))
            }
            Demands::Connections { connect, from, to } => connections::granted(world, *connect, kind, [from, to]),
            Demands::Every { what, wanted, from, to, holds } => match kind {
                Some(kind) if connections::is_meant(what) => {
                    let from = if from.is_empty() { wanted } else { from };
                    connections::every(world, kind, [from, to], holds)
                }
                Some(kind) => places::every(world, kind, what, wanted, holds),
                None => objects::every(world, what, wanted, holds),
            },
        }
    }
}

/// What was written, without what any case may have.
fn given(written: Value<'_>) -> Map<String, Json> {
    let own = |name: &str| !["name", "tags", "skip"].contains(&name);
    let entries = written.entries().filter(|(key, _)| own(key.text()));
    entries.map(|(key, value)| (key.text().to_owned(), serde_json::to_value(value).unwrap_or_default())).collect()
}

fn claim(source: SourceId, written: Value<'_>, form: Form, found: &mut Diagnostics) -> Option<Demands> {
    let word = written.get(form.word())?;
    let out_of_place = |names: &[&str], help: &str, found: &mut Diagnostics| {
        for (key, _) in written.entries().filter(|(key, _)| names.contains(&key.text())) {
            let message = format!("`{}: {}` has no `{}`", form.word(), word.text(), key.text());
            let problem = Diagnostic::error(Fault::UnknownField, message).at_value(source, key, "not looked at");
            found.push(problem.help(help));
        }
    };
    if word.text() == "connect" {
        out_of_place(&["where"], "name the ends by their tags: `from:` and `to:`", found);
        let connect = if form == Form::Never { Connect::Never } else { Connect::Always };
        let [from, to] = ["from", "to"].map(|end| Wanted::read(written.get(end)));
        return Some(Demands::Connections { connect, from, to });
    }
    out_of_place(&["from", "to"], "requests are described by `where:`, written as policies are", found);
    let outcome = match word.text() {
        "permit" => Outcome::Permit,
        "deny" => Outcome::Deny,
        _ => Outcome::Undecided,
    };
    let claim = if form == Form::Never { Claim::Never(outcome) } else { Claim::Always(outcome) };
    // Without a region it is about every request.
    let region = written.get("where").filter(|region| region.kind() != Kind::Null).unwrap_or(written);
    let region = invariants::read(source, region, found)?;
    Some(Demands::Requests { region, claim })
}

fn unchanged(source: SourceId, written: Value<'_>, found: &mut Diagnostics) -> Option<Demands> {
    let region = written.get(Form::Unchanged.word())?;
    let is_end = |key: &str| ["from", "to"].contains(&key);
    let of_ends = region.entries().any(|(key, _)| is_end(key.text()));
    if !of_ends {
        return Some(Demands::Unchanged(Unchanged::Requests(invariants::read(source, region, found)?)));
    }
    for (key, _) in region.entries().filter(|(key, _)| !is_end(key.text())) {
        let message = format!("connections have no `{}`", key.text());
        let problem = Diagnostic::error(Fault::UnknownField, message).at_value(source, key, "not looked at");
        found.push(
            problem.help("`from` and `to` are about connections, the others about requests: write two invariants"),
        );
    }
    let [from, to] = ["from", "to"].map(|end| Wanted::read(region.get(end)));
    Some(Demands::Unchanged(Unchanged::Connections { from, to }))
}

fn every(source: SourceId, written: Value<'_>, found: &mut Diagnostics) -> Option<Demands> {
    let what = written.get("every")?.text().to_owned();
    let [wanted, from, to] = ["where", "from", "to"].map(|name| Wanted::read(written.get(name)));
    let is_pair = connections::is_meant(&what);
    for (key, _) in written.entries().filter(|(key, _)| ["from", "to"].contains(&key.text()) && !is_pair) {
        let message = format!("`every: {what}` has no `{}`", key.text());
        let problem = Diagnostic::error(Fault::UnknownField, message).at_value(source, key, "not looked at");
        found.push(problem.help("choose by tags with `where:`"));
    }
    if is_pair && written.get("kind").is_none() {
        let message = format!("`every: {what}` does not say under which kind of policy");
        let problem = Diagnostic::error(Fault::IncompleteQuestion, message).at_value(source, written, "no kind");
        found.push(problem.help("add `kind:`, for example `kind: Timeout`"));
    }
    let holds = written.get("holds")?;
    let texts: Vec<Value<'_>> = if holds.kind() == Kind::List { holds.items().collect() } else { vec![holds] };
    let conditions: Vec<Condition> =
        texts.into_iter().filter_map(|text| Condition::read(source, text, found)).collect();
    if conditions.is_empty() && found.errors() == 0 {
        let problem = Diagnostic::error(Fault::MissingField, "`holds` states nothing, so nothing could fail");
        found.push(problem.at_value(source, holds, "empty"));
    }
    Some(Demands::Every { what, wanted, from, to, holds: conditions })
}
