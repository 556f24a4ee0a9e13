//! What stays as it was: the same questions, asked of two worlds.

use std::collections::BTreeMap;

use upheld_dialects::access::invariants::{Policies, kept};
use upheld_engine::decide::Rule;
use upheld_model::Side;
use upheld_report::{Breach, Holding, Proof, Refused, Shift, Shifts, Standing};

use super::connections::{TagsOfEnds, about_connections};
use super::tags::{Tagged, Wanted};
use crate::shifts::{Among, scopes, shifts_among};
use crate::testing::decider;
use crate::world::World;

/// What stays.
#[derive(Clone, Debug)]
pub(super) enum Unchanged {
    /// What requests of a region get.
    Requests(Rule),
    /// What holds for connections.
    Connections { from: Wanted, to: Wanted },
}

impl Unchanged {
    pub(super) fn proof(&self, before: &World<'_>, after: &World<'_>, kind: Option<&str>) -> Result<Proof, Refused> {
        match self {
            Self::Requests(region) => requests(before, after, kind, region),
            Self::Connections { from, to } => connections(before, after, kind, from, to),
        }
    }
}

fn requests(before: &World<'_>, after: &World<'_>, kind: Option<&str>, region: &Rule) -> Result<Proof, Refused> {
    Ok(kept(policies(before, kind)?, policies(after, kind)?, region))
}

fn policies<'s>(world: &World<'s>, kind: Option<&str>) -> Result<Policies<'s>, Refused> {
    let decider = decider(world.snapshot(), world.options(), kind)?;
    Ok(Policies { snapshot: world.snapshot(), kind: decider.kind, decide: decider.decide })
}

fn connections(
    before: &World<'_>,
    after: &World<'_>,
    kind: Option<&str>,
    from: &Wanted,
    to: &Wanted,
) -> Result<Proof, Refused> {
    let tagged: Vec<Tagged> = [before, after].into_iter().flat_map(|world| Tagged::all(world.snapshot())).collect();
    for wanted in [from, to] {
        wanted.check(tagged.iter().flat_map(|one| &one.parts))?;
    }
    let kind = kind.map(|kind| about_connections(after.snapshot(), kind)).transpose()?;
    // Whoever has the tags before or after is looked at.
    let mut ends: BTreeMap<&str, Vec<TagsOfEnds>> = BTreeMap::new();
    for world in [before, after] {
        for (mesh, scope) in scopes(world.snapshot()) {
            ends.entry(mesh).or_default().push(TagsOfEnds::of(world.snapshot(), scope));
        }
    }
    let fits = |mesh: &str, side: Side, name: &str| {
        ends.get(mesh).into_iter().flatten().any(|tags| match side {
            Side::Source => from.fits(tags.of_caller(name)),
            Side::Destination => to.fits(tags.of_called(name)),
        })
    };
    Ok(proof(shifts_among(before, after, &Among { kind, fits: &fits })))
}

fn proof(found: Shifts) -> Proof {
    // All that is noted here is what could not be compared.
    let notes: Vec<&str> = found.notes.iter().map(|note| note.text.trim_end_matches('.')).collect();
    let bound = (!notes.is_empty()).then(|| notes.join("; "));
    let holds = match found.counts.compared {
        0 => Holding::Nothing { many: "connections".to_owned() },
        count => Holding::EverythingRead { count, one: "connection".to_owned(), many: "connections".to_owned() },
    };
    Proof::bounded(found.shifts.into_iter().map(breach).collect(), bound, holds)
}

/// A result that is another one.
fn breach(shift: Shift) -> Breach {
    let Shift { causes, before, after, fields, size, example, certainty, .. } = shift;
    let unset = || "not set".to_owned();
    let says = match fields.into_iter().next() {
        Some(field) => {
            let (was, is) = (field.before.unwrap_or_else(unset), field.after.unwrap_or_else(unset));
            format!("changes {} from {was} to {is} for", field.field)
        }
        None => format!("decides what {} decided before:", names(&before)),
    };
    let at = causes.into_iter().find_map(|cause| cause.at);
    Breach { policies: after.policies, at, says, size, example, certainty }
}

fn names(standing: &Standing) -> String {
    standing.policies.join(", ")
}
