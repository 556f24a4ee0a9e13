//! Who asks over a network: the roles that were proved bind; what somebody only says of themselves does not widen them. All roles count, for
//! questions as for writes, in whatever order they were proved.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Comply, ObjectId, Profile};
use upheld_governance::Actor;
use upheld_model::{Diagnostic, Fault};

use super::{Organisation, class_of_role, person};

/// The roles of an organisation among all that were proved, the strongest first.
pub(in crate::comply) fn proved(comply: &Comply, roles: &[SmolStr]) -> Vec<Actor> {
    let own = counting(comply.profile(), roles).into_iter();
    let mut own: Vec<Actor> = own.filter_map(|role| person(comply, role)).collect();
    let weakness = |actor: &Actor| match actor {
        Actor::Person { role, scope, .. } => {
            (class(comply, actor) == Some(Class::EndUser), scope.is_some(), role.0, scope.clone())
        }
        Actor::System | Actor::Several(_) => (false, false, 0, None),
    };
    own.sort_by_cached_key(weakness);
    own.dedup();
    own
}

/// The roles that count among all that were proved. A word for end-users as such, which other systems have for everybody, counts where there is
/// no other.
pub(in crate::comply) fn counting<'r>(profile: &Profile, roles: &'r [SmolStr]) -> Vec<&'r SmolStr> {
    let word = |role: &&SmolStr| role.split_once('@').map_or(role.as_str(), |(word, _)| word).to_owned();
    let is_role = |role: &&SmolStr| class_of_role(profile, &word(role)).is_some();
    let is_named = |role: &&SmolStr| {
        is_role(role)
            && (profile.role(&word(role)).is_some()
                || class_of_role(profile, &word(role)) == Some(Class::Administrator))
    };
    let named: Vec<&SmolStr> = roles.iter().filter(is_named).collect();
    if named.is_empty() { roles.iter().filter(is_role).collect() } else { named }
}

fn class(comply: &Comply, actor: &Actor) -> Option<Class> {
    let Actor::Person { role, .. } = actor else { return None };
    comply.profile().role_spec(*role).map(|spec| spec.class)
}

/// The scopes in which somebody has a role, if no role of theirs holds everywhere; nothing if they have no role at all. A scope that is
/// not there is none.
pub(in crate::comply) fn own_scopes(comply: &Comply, roles: &[SmolStr]) -> Option<Vec<ObjectId>> {
    let own = proved(comply, roles);
    let scope = |actor: &Actor| match actor {
        Actor::Person { scope: Some(scope), .. } if class(comply, actor) == Some(Class::EndUser) => Some(scope.clone()),
        _ => None,
    };
    let scopes: Option<Vec<SmolStr>> = own.iter().map(scope).collect();
    let scopes = scopes.filter(|scopes| !scopes.is_empty())?;
    Some(scopes.iter().filter_map(|scope| comply.lookup(scope).ok()).collect())
}

impl Organisation<'_> {
    /// The same, asked by somebody with these roles: as `wanted` where nothing binds, and for administrators; otherwise as what they
    /// proved.
    pub fn asked_by(self, roles: &[SmolStr], wanted: Option<&str>) -> Result<Self, Diagnostic> {
        let asked_by = match self.roles_for(roles, wanted)? {
            Some(wanted) => Some(self.asker(Some(wanted), None)?),
            None => Actor::of(proved(self.comply(), roles)),
        };
        Ok(Self { asked_by, ..self })
    }

    /// The role that somebody wants to ask as, if it is theirs to choose; nothing if they name none.
    pub fn roles_for<'w>(&self, roles: &[SmolStr], wanted: Option<&'w str>) -> Result<Option<&'w str>, Diagnostic> {
        let Some(wanted) = wanted else { return Ok(None) };
        let own: Vec<&str> =
            roles.iter().filter(|role| person(self.comply(), role).is_some()).map(SmolStr::as_str).collect();
        if !self.is_bound(roles) || own.contains(&wanted) {
            return Ok(Some(wanted));
        }
        let message = format!("this caller cannot ask as `{wanted}`");
        Err(Diagnostic::error(Fault::Forbidden, message).help(format!("it asks as {}", own.join(", "))))
    }

    /// Whether somebody has proved a role and can ask as no other: administrators can.
    pub fn is_bound(&self, roles: &[SmolStr]) -> bool {
        let own = proved(self.comply(), roles);
        !own.is_empty() && !own.iter().any(|role| class(self.comply(), role) == Some(Class::Administrator))
    }

    /// Whether it is known who asks.
    pub(super) fn is_asked_by_somebody(&self) -> bool {
        self.asked_by.is_some()
    }

    /// Whether whoever asks may ask about an object: end-users about what belongs to one of their scopes.
    pub fn may_ask_about(&self, written: &str) -> Result<(), Diagnostic> {
        let roles = self.asked_by.as_ref().map(Actor::roles).unwrap_or_default();
        let scope = |actor: &Actor| match actor {
            Actor::Person { scope, .. } => scope.clone(),
            Actor::System | Actor::Several(_) => None,
        };
        // A role that holds everywhere is enough.
        let Some(own) = roles.iter().map(scope).collect::<Option<Vec<SmolStr>>>().filter(|own| !own.is_empty()) else {
            return Ok(());
        };
        let object = self.object(written)?;
        let within = self.comply().scope_of(object).map(|scope| self.comply().reference(scope));
        if within.is_some_and(|within| own.contains(&within)) {
            return Ok(());
        }
        let own = own.join("`, `");
        Err(Diagnostic::error(Fault::Forbidden, format!("`{written}` does not belong to `{own}`"))
            .help(format!("this role holds in `{own}` only")))
    }
}
