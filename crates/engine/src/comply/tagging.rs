//! Whether an object takes tags: definitions, and who may change what.

use smol_str::SmolStr;
use upheld_model::nearest::nearest;
use upheld_model::{Sym, ValuesId};

use super::facts::ObjectId;
use super::lists::NO_VALUES;
use super::profile::{Class, Keys, Subject};
use super::refusal::Refusal;
use super::schema::{Definition, Immutable, Mandatory, Restricted};
use super::{Actor, Comply, Tags};

/// Why tags were not taken.
#[derive(Clone, Debug)]
pub(super) enum Untaken {
    Invalid(Refusal),
    Forbidden(Refusal),
}

impl Comply {
    /// Whether objects of a subject may carry a tag of this key.
    pub(super) fn check_key(&self, subject: Subject, key: &str) -> Result<Option<&Definition>, Refusal> {
        if let Some(definition) = self.definition(subject, key) {
            return Ok(Some(definition));
        }
        let keys = self.profile.subject_spec(subject).map_or(Keys::Defined, |spec| spec.keys);
        let defined = || self.definitions.iter().filter(|definition| definition.subject == subject);
        let free = match keys {
            Keys::Any => true,
            Keys::AnyUntilDefined => defined().next().is_none(),
            Keys::Defined => false,
        };
        if free {
            return Ok(None);
        }
        let nearest = nearest(key, defined().map(|definition| definition.key.as_str())).map(SmolStr::new);
        let subject = SmolStr::new(self.profile.subject_name(subject));
        Err(Refusal::UnknownTag { subject, key: SmolStr::new(key), nearest })
    }

    /// The changes that tags make to an object, checked against definitions; what stays the same is no change.
    pub(super) fn check_tags(
        &mut self,
        actor: &Actor,
        object: ObjectId,
        tags: &Tags,
    ) -> Result<Vec<(Sym, ValuesId)>, Untaken> {
        let Some(subject) = self.subject_of(object) else { return Ok(Vec::new()) };
        let class = self.class(actor);
        let mut changes = Vec::new();
        for (key, values) in tags {
            let definition = self.check_key(subject, key).map_err(Untaken::Invalid)?;
            let canonical: Vec<SmolStr> = match definition {
                Some(definition) => values.iter().map(|value| definition.canonical(value)).collect(),
                None => values.clone(),
            };
            let (symbol, list) = (self.key(key), self.values(&canonical));
            let before = self.get(object).map_or(NO_VALUES, |object| object.values(symbol));
            if before == list {
                continue;
            }
            if let Some(definition) = self.definition(subject, key) {
                check_change(definition, class, &self.texts(before), &self.texts(list))?;
            }
            changes.push((symbol, list));
        }
        Ok(changes)
    }

    /// The first tag that an object must have and has not. What end-users cannot set is not asked of them.
    pub(super) fn check_mandatory(&self, actor: &Actor, object: ObjectId) -> Result<(), Refusal> {
        let subject = self.subject_of(object);
        let end_user = self.class(actor) == Some(Class::EndUser);
        let missing = self.definitions.iter().find(|definition| {
            Some(definition.subject) == subject
                && definition.mandatory == Mandatory::Yes
                && !(end_user && definition.restricted == Restricted::Yes)
                && self.values_of(object, &definition.key) == NO_VALUES
        });
        missing.map_or(Ok(()), |definition| Err(Refusal::Mandatory { key: definition.key.clone() }))
    }
}

fn check_change(
    definition: &Definition,
    class: Option<Class>,
    before: &[SmolStr],
    after: &[SmolStr],
) -> Result<(), Untaken> {
    let key = || definition.key.clone();
    // An option that was withdrawn stays where it is.
    let new: Vec<SmolStr> = after.iter().filter(|value| !before.contains(value)).cloned().collect();
    if let Err(bad) = definition.check_count(after).and_then(|()| definition.check_values(&new)) {
        let options = definition.options.clone();
        return Err(Untaken::Invalid(Refusal::Value { key: key(), bad, options }));
    }
    if after.is_empty() && definition.mandatory == Mandatory::Yes {
        return Err(Untaken::Invalid(Refusal::Mandatory { key: key() }));
    }
    if definition.restricted == Restricted::Yes && class == Some(Class::EndUser) {
        return Err(Untaken::Forbidden(Refusal::Restricted { key: key() }));
    }
    if definition.immutable == Immutable::Yes && !before.is_empty() {
        return Err(Untaken::Forbidden(Refusal::Immutable { key: key() }));
    }
    Ok(())
}
