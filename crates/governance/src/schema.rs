//! Which tags objects may carry: definitions, default tags, and who may change what.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::comply::{Class, Comply, Defaults, Keys, NO_VALUES, ObjectId, Profile, Subject, Tags};
use upheld_model::nearest::nearest;
use upheld_model::{Sym, ValuesId};

use crate::definition::{BadDefinition, Definition, Immutable, Mandatory, Restricted, TagType};
use crate::{Actor, Keeping, Organisation, Refusal};

/// Which tags objects may carry, and which they get without asking.
#[derive(Clone, Debug, Default)]
pub struct TagSchema {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) defaults: Tags,
    /// The values of default tags that objects carry in their own right, too, by reference: those stay when the default tags change.
    pub(crate) written: FxHashMap<SmolStr, Tags>,
}

/// Why tags were not taken.
#[derive(Clone, Debug)]
pub(crate) enum Untaken {
    Invalid(Refusal),
    Forbidden(Refusal),
}

impl TagSchema {
    /// The tag definitions in the order in which they came.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// A tag definition.
    pub fn definition(&self, subject: Subject, key: &str) -> Option<&Definition> {
        self.definitions.iter().find(|known| known.subject == subject && known.key == key)
    }

    /// The default tags.
    pub fn defaults(&self) -> &Tags {
        &self.defaults
    }

    /// Adds a tag definition as it is.
    pub fn define(&mut self, definition: Definition) {
        self.definitions.push(definition);
    }

    /// Whether a definition makes sense beside the others.
    pub fn check(&self, definition: &Definition) -> Result<(), BadDefinition> {
        definition.check()?;
        if self.definition(definition.subject, &definition.key).is_some() {
            return Err(BadDefinition::Twice);
        }
        let alike = self
            .definitions
            .iter()
            .find(|known| known.key != definition.key && known.key.to_lowercase() == definition.key.to_lowercase());
        alike.map_or(Ok(()), |known| Err(BadDefinition::Alike(known.key.clone())))
    }

    /// Whether objects of a subject may carry a tag of this key.
    pub fn check_key(&self, profile: &Profile, subject: Subject, key: &str) -> Result<Option<&Definition>, Refusal> {
        if let Some(definition) = self.definition(subject, key) {
            return Ok(Some(definition));
        }
        let keys = profile.subject_spec(subject).map_or(Keys::Defined, |spec| spec.keys);
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
        let subject = SmolStr::new(profile.subject_name(subject));
        Err(Refusal::UnknownTag { subject, key: SmolStr::new(key), nearest })
    }

    /// The text that a value of a tag is kept as.
    pub(crate) fn canonical(&self, subject: Option<Subject>, key: &str, values: &[SmolStr]) -> Vec<SmolStr> {
        match subject.and_then(|subject| self.definition(subject, key)) {
            Some(definition) => values.iter().map(|value| definition.canonical(value)).collect(),
            None => values.to_vec(),
        }
    }

    /// The default tags that an object has not yet, each with all values that it has then; none if its kind gets none.
    pub(crate) fn missing_defaults(&self, comply: &Comply, object: ObjectId) -> Tags {
        let mut added = Tags::new();
        let spec = comply.kind_of(object).and_then(|kind| comply.profile().kind_spec(kind));
        if self.defaults.is_empty() || spec.is_none_or(|spec| spec.defaults == Defaults::None) {
            return added;
        }
        for (key, values) in &self.defaults {
            let values = self.canonical(comply.subject_of(object), key, values);
            let mut all = comply.texts(comply.values_of(object, key));
            let known = all.len();
            let missing: Vec<SmolStr> = values.into_iter().filter(|value| !all.contains(value)).collect();
            all.extend(missing);
            if all.len() > known {
                added.push((key.clone(), all));
            }
        }
        added
    }

    /// The default tags with the values that an object of this kind would get; none if it gets none.
    fn defaults_for(&self, comply: &Comply, object: ObjectId) -> Tags {
        let spec = comply.kind_of(object).and_then(|kind| comply.profile().kind_spec(kind));
        if spec.is_none_or(|spec| spec.defaults == Defaults::None) {
            return Tags::new();
        }
        let canonical = |(key, values): &(SmolStr, Vec<SmolStr>)| {
            (key.clone(), self.canonical(comply.subject_of(object), key, values))
        };
        self.defaults.iter().map(canonical).collect()
    }

    /// Which of the default tags objects carry in their own right, before they get any.
    pub(crate) fn written_defaults(&self, comply: &Comply) -> FxHashMap<SmolStr, Tags> {
        let mut written = FxHashMap::default();
        if self.defaults.is_empty() {
            return written;
        }
        for object in comply.profile().kinds_with_defaults().flat_map(|kind| comply.objects_of(kind)) {
            let mut own = self.defaults_for(comply, object);
            own.retain_mut(|(key, values)| {
                let carried =
                    self.canonical(comply.subject_of(object), key, &comply.texts(comply.values_of(object, key)));
                values.retain(|value| carried.contains(value));
                !values.is_empty()
            });
            if !own.is_empty() {
                written.insert(comply.reference(object), own);
            }
        }
        written
    }

    /// What becomes of the values of a tag where its definition says that they are numbers.
    pub(crate) fn as_numbers(definition: &Definition, comply: &Comply) -> Vec<(ObjectId, Vec<SmolStr>)> {
        let numeric = matches!(definition.tag, TagType::Number | TagType::Integer);
        let kinds = comply.profile().kinds_of_subject(definition.subject).filter(|_| numeric);
        let objects = kinds.flat_map(|kind| comply.objects_of(kind));
        let tagged = objects.map(|object| (object, comply.values_of(object, &definition.key)));
        let tagged = tagged.filter(|(_, values)| *values != NO_VALUES);
        tagged
            .map(|(object, values)| {
                (object, comply.texts(values).iter().map(|value| definition.canonical(value)).collect())
            })
            .collect()
    }
}

impl Organisation {
    /// The changes that tags make to an object, checked against definitions; what stays the same is not a change.
    pub(crate) fn check_tags(
        &mut self,
        actor: &Actor,
        object: ObjectId,
        tags: &Tags,
    ) -> Result<Vec<(Sym, ValuesId)>, Untaken> {
        let Some(subject) = self.comply.subject_of(object) else { return Ok(Vec::new()) };
        let class = self.class(actor);
        let mut changes = Vec::new();
        for (key, values) in tags {
            self.schema.check_key(self.comply.profile(), subject, key).map_err(Untaken::Invalid)?;
            let canonical = self.schema.canonical(Some(subject), key, values);
            let steps = self.steps();
            let (symbol, list) = (steps.key(key), steps.values(&canonical));
            let before = steps.values_of(object, key);
            if before == list {
                continue;
            }
            if let Some(definition) = self.schema.definition(subject, key) {
                check_change(definition, class, &self.comply.texts(before), &self.comply.texts(list))?;
            }
            changes.push((symbol, list));
        }
        Ok(changes)
    }

    /// The first tag that an object must have and has not. What end-users cannot set is not asked of them.
    pub(crate) fn check_mandatory(&self, actor: &Actor, object: ObjectId) -> Result<(), Refusal> {
        let subject = self.comply.subject_of(object);
        let end_user = self.class(actor) == Some(Class::EndUser);
        let missing = self.schema.definitions.iter().find(|definition| {
            Some(definition.subject) == subject
                && definition.mandatory == Mandatory::Yes
                && !(end_user && definition.restricted == Restricted::Yes)
                && self.comply.values_of(object, &definition.key) == NO_VALUES
        });
        missing.map_or(Ok(()), |definition| Err(Refusal::Mandatory { key: definition.key.clone() }))
    }

    /// Gives an object the default tags, if its kind gets them.
    pub(crate) fn add_defaults(&mut self, object: ObjectId) {
        let added = self.schema.missing_defaults(&self.comply, object);
        self.set_texts(object, &added);
    }

    /// Somebody gave an object these tags: what of them is a default tag it carries in its own right from now on.
    pub(crate) fn write_defaults(&mut self, object: ObjectId, tags: &Tags) {
        let defaults = self.schema.defaults_for(&self.comply, object);
        if defaults.is_empty() {
            return;
        }
        let reference = self.comply.reference(object);
        let mut own = self.schema.written.get(&reference).cloned().unwrap_or_default();
        for (key, values) in tags {
            let canonical = self.schema.canonical(self.comply.subject_of(object), key, values);
            own.retain(|(known, _)| known != key);
            let given = defaults.iter().filter(|(known, _)| known == key).flat_map(|(_, values)| values);
            let both: Vec<SmolStr> = given.filter(|value| canonical.contains(value)).cloned().collect();
            if !both.is_empty() {
                own.push((key.clone(), both));
            }
        }
        self.keep_written(reference, own);
    }

    fn keep_written(&mut self, reference: SmolStr, own: Tags) {
        if self.schema.written.get(&reference).map_or(own.is_empty(), |known| *known == own) {
            return;
        }
        let written = &mut Arc::make_mut(&mut self.schema).written;
        if own.is_empty() {
            written.remove(&reference);
        } else {
            written.insert(reference, own);
        }
    }

    /// Other default tags for an object. Where it has them only as long as they are, those before go that it does not carry in its own right.
    pub(crate) fn change_defaults(&mut self, object: ObjectId, before: &TagSchema) {
        let former = before.defaults_for(&self.comply, object);
        let reference = self.comply.reference(object);
        let own = before.written.get(&reference);
        if self.keeping == Keeping::Documents {
            let mut left = Tags::new();
            for (key, given) in former {
                let kept = own.into_iter().flatten().filter(|(known, _)| *known == key).flat_map(|(_, values)| values);
                let kept: Vec<&SmolStr> = kept.collect();
                let mut values = self.comply.texts(self.comply.values_of(object, &key));
                values.retain(|value| !given.contains(value) || kept.contains(&value));
                left.push((key, values));
            }
            self.set_texts(object, &left);
        }
        let tags = self.comply.tags_of(object);
        self.keep_written(reference, Tags::new());
        self.write_defaults(object, &tags);
        self.add_defaults(object);
    }

    /// Gives an object tags as they are.
    pub(crate) fn set_texts(&mut self, object: ObjectId, tags: &Tags) {
        if tags.is_empty() {
            return;
        }
        let steps = self.steps();
        let tags: Vec<(Sym, ValuesId)> =
            tags.iter().map(|(key, values)| (steps.key(key), steps.values(values))).collect();
        steps.retag(object, &tags);
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
