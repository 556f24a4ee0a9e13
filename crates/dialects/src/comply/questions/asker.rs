//! Who asks over a network: the roles that were proved bind; what somebody only says of themselves does not widen them.

use smol_str::SmolStr;
use upheld_engine::comply::Class;
use upheld_governance::Actor;
use upheld_model::{Diagnostic, Fault};

use super::{Organisation, person};

impl Organisation<'_> {
    /// As whom a question is asked: `wanted` where nothing binds, and for administrators; otherwise the role that was proved.
    pub fn asker(&self, roles: &[SmolStr], wanted: Option<&str>) -> Result<Option<String>, Diagnostic> {
        let own: Vec<&SmolStr> = roles.iter().filter(|role| person(self.comply(), role).is_some()).collect();
        let strongest = own.iter().find(|role| self.is_administrator(role)).or_else(|| own.first());
        match (wanted, strongest) {
            (None, strongest) => Ok(strongest.map(ToString::to_string)),
            (Some(wanted), _) if !self.is_bound(roles) || own.iter().any(|role| *role == wanted) => {
                Ok(Some(wanted.to_owned()))
            }
            (Some(wanted), _) => {
                let names: Vec<&str> = own.iter().map(|role| role.as_str()).collect();
                let message = format!("this caller cannot ask as `{wanted}`");
                Err(Diagnostic::error(Fault::Forbidden, message).help(format!("it asks as {}", names.join(", "))))
            }
        }
    }

    /// Whether somebody has proved a role and can ask as no other: administrators can.
    pub fn is_bound(&self, roles: &[SmolStr]) -> bool {
        let mut own = roles.iter().filter(|role| person(self.comply(), role).is_some()).peekable();
        own.peek().is_some() && !own.any(|role| self.is_administrator(role))
    }

    /// Whether somebody may ask about an object: end-users about what belongs to their scope.
    pub fn may_ask_about(&self, written: &str, asker: Option<&str>) -> Result<(), Diagnostic> {
        let Some(Actor::Person { scope: Some(own), .. }) = asker.and_then(|role| person(self.comply(), role)) else {
            return Ok(());
        };
        let object = self.object(written)?;
        let within = self.comply().scope_of(object).map(|scope| self.comply().reference(scope));
        if within.as_ref() == Some(&own) {
            return Ok(());
        }
        Err(Diagnostic::error(Fault::Forbidden, format!("`{written}` does not belong to `{own}`"))
            .help(format!("this role holds in `{own}` only")))
    }

    fn is_administrator(&self, role: &str) -> bool {
        let Some(Actor::Person { role, .. }) = person(self.comply(), role) else { return false };
        self.comply().profile().role_spec(role).is_some_and(|spec| spec.class == Class::Administrator)
    }
}
