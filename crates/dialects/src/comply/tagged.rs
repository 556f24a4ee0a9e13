//! Whether tags are what definitions want.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::comply::{Keys, Profile, Subject};
use upheld_governance::words::bad_value;
use upheld_governance::{BadValue, Definition, TagSchema, TagType};
use upheld_model::Fault;
use upheld_model::tree::Value;

use super::kind::or_nearest;
use super::reader::{Reader, title};

/// The definitions, found by subject and key.
#[derive(Debug, Default)]
pub(super) struct Schema {
    by_subject: FxHashMap<Subject, FxHashMap<SmolStr, Definition>>,
}

impl Schema {
    /// That of an organisation.
    pub(super) fn of(known: &TagSchema) -> Self {
        let mut schema = Self::default();
        for definition in known.definitions() {
            schema.add(definition.clone());
        }
        schema
    }

    pub(super) fn add(&mut self, definition: Definition) {
        self.by_subject.entry(definition.subject).or_default().insert(definition.key.clone(), definition);
    }

    fn get(&self, subject: Subject, key: &str) -> Option<&Definition> {
        self.by_subject.get(&subject)?.get(key)
    }

    fn keys(&self, subject: Subject) -> impl Iterator<Item = &str> {
        self.by_subject.get(&subject).into_iter().flat_map(|keys| keys.keys().map(SmolStr::as_str))
    }

    /// Small folders define no tags: then every key is free, until one is defined.
    pub(super) fn loosened(&self, profile: &Profile) -> Profile {
        let mut profile = profile.clone();
        for (place, subject) in profile.subjects.iter_mut().enumerate() {
            let own = u8::try_from(place).map(Subject).ok();
            let defined = own.is_some_and(|own| self.by_subject.contains_key(&own));
            if subject.keys == Keys::Defined && !defined {
                subject.keys = Keys::AnyUntilDefined;
            }
        }
        profile
    }

    /// Whether objects of a subject may carry a key; says so if not.
    pub(super) fn allows_key(&self, reader: &mut Reader<'_>, subject: Subject, key: &str, at: Value<'_>) -> bool {
        let keys = reader.profile.subject_spec(subject).map_or(Keys::Defined, |spec| spec.keys);
        let free = keys == Keys::Any || !self.by_subject.contains_key(&subject);
        if free || self.get(subject, key).is_some() {
            return true;
        }
        let mut known: Vec<&str> = self.keys(subject).collect();
        known.sort_unstable();
        let message = format!("{} has no tag `{key}`", title(reader.profile, subject));
        reader.wrong(Fault::OutsideSchema, at, message, "no definition", &or_nearest(key, known.into_iter()));
        false
    }

    /// Whether a definition takes these values; says so if not.
    pub(super) fn check(
        &self,
        reader: &mut Reader<'_>,
        subject: Subject,
        (key, value): (Value<'_>, Value<'_>),
        values: &[SmolStr],
    ) {
        if values.is_empty() || !self.allows_key(reader, subject, key.text(), key) {
            return;
        }
        let Some(definition) = self.get(subject, key.text()) else { return };
        let canonical = values.iter().map(|value| definition.canonical(value));
        // Options that were withdrawn stay where they are.
        let kept: Vec<SmolStr> = canonical.filter(|value| !definition.withdrawn.contains(value)).collect();
        let several = values.len() > 1 && definition.tag != TagType::MultiSelect;
        let bad = if several { Some(BadValue::Several) } else { definition.check_values(&kept).err() };
        let Some(bad) = bad else { return };
        let message = format!("the tag `{}` of {} {}", key.text(), title(reader.profile, subject), bad_value(&bad));
        let help = match &bad {
            BadValue::NoOption(value) => or_nearest(value, definition.options.iter().map(SmolStr::as_str)),
            BadValue::Type(_) => format!("it is of the type `{}`", definition.tag.word()),
            BadValue::Several => "for several values define it as `multiSelect`".to_owned(),
            BadValue::Regex(_) | BadValue::TooLong(_) => String::new(),
        };
        let at = match &bad {
            BadValue::NoOption(wrong) | BadValue::Type(wrong) | BadValue::Regex(wrong) | BadValue::TooLong(wrong) => {
                value.items().find(|item| definition.canonical(item.text()) == *wrong).unwrap_or(value)
            }
            BadValue::Several => value,
        };
        reader.wrong(Fault::OutsideSchema, at, message, "outside the tag schema", &help);
    }
}
