//! Objects and their own tags: every project has a cost centre.

use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{At, Holding, Proof, Refused, quoted};

use super::condition::Condition;
use super::places::{Breaches, of_object};
use super::tags::{Tagged, Tags, Wanted};
use crate::world::World;

/// Whether tags of all objects of a type are as they must be.
pub(super) fn every(world: &World<'_>, what: &str, wanted: &Wanted, holds: &[Condition]) -> Result<Proof, Refused> {
    let snapshot = world.snapshot();
    let tagged = Tagged::all(snapshot);
    let is_one = |one: &&Tagged| one.kind.eq_ignore_ascii_case(what);
    if !tagged.iter().any(|one| is_one(&one)) {
        return Err(unknown(what, &tagged).into());
    }
    wanted.check(tagged.iter().filter(is_one).flat_map(|one| &one.parts))?;
    let (mut breaches, mut count) = (Breaches::default(), 0);
    for one in tagged.iter().filter(is_one).filter(|one| wanted.fits(&one.parts)) {
        count += 1;
        let said = one.parts.iter().find_map(|part| said(part, holds));
        if let Some(says) = said {
            let (name, at) = (format!("{}/{}", one.kind, one.name), one.at.and_then(|at| At::of(snapshot.files(), at)));
            breaches.push(of_object(format!("upheld show {}", quoted(&name)), name, says, at));
        }
    }
    let holds = match count {
        0 => Holding::Nothing { many: format!("objects of the type {what}") },
        count => Holding::EverythingRead { count, one: what.to_owned(), many: format!("objects of the type {what}") },
    };
    Ok(Proof::of(breaches.all(), holds))
}

/// What a part has that it must not; nothing if all is as it must be.
fn said(part: &Tags, holds: &[Condition]) -> Option<String> {
    holds.iter().find_map(|condition| {
        let name = &condition.field;
        condition.objection_of(&part.values(name)).map(|objection| match objection.value {
            Some(value) => format!("{name} is {value} for"),
            None => format!("{name} is not set for"),
        })
    })
}

fn unknown(what: &str, tagged: &[Tagged]) -> Diagnostic {
    let mut kinds: Vec<&str> = tagged.iter().map(|one| one.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let problem = Diagnostic::error(Fault::NotFound, format!("there are no objects of the type `{what}`"));
    problem.suggest_or(nearest(what, kinds.iter().copied()).map(|near| format!("every: {near}")), || {
        format!("there are: {}", kinds.join(", "))
    })
}
