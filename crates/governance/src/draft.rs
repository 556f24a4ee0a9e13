//! An organisation as it is read: what is said of it is taken as it is, and nothing is judged yet.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{self, Comply, Mentions, Profile, Tags};

use crate::records::Records;
use crate::schema::TagSchema;
use crate::{Definition, Keeping, Organisation, Settings};

/// What is being read.
#[derive(Debug)]
pub struct Draft {
    /// Objects, relationships, policies and waivers.
    pub facts: comply::Draft,
    schema: TagSchema,
    settings: Settings,
}

impl Draft {
    /// An empty one.
    pub fn new(profile: Arc<Profile>, settings: Settings) -> Self {
        Self { facts: comply::Draft::new(profile, settings.partners), schema: TagSchema::default(), settings }
    }

    /// What was read so far.
    pub fn so_far(&self) -> &Comply {
        self.facts.so_far()
    }

    /// Adds a tag definition as it is.
    pub fn define(&mut self, definition: Definition) {
        self.schema.define(definition);
    }

    /// Sets the default tags.
    pub fn defaults(&mut self, tags: Tags) {
        self.schema.defaults = tags;
    }

    /// Judges everything: numbers get their shortest form where definitions say that they are numbers, and everybody gets the
    /// default tags.
    pub fn build(self) -> Organisation {
        self.build_with_mentions().0
    }

    /// As [`Self::build`], with how often everything was said: see [`Organisation::revised`].
    pub fn build_with_mentions(self) -> (Organisation, Mentions) {
        let Self { facts, schema, settings } = self.completed();
        let (comply, mentions) = facts.build_with_mentions();
        let (comply, schema) = (Arc::new(comply), Arc::new(schema));
        let (records, keeping) = (Records::default(), Keeping::default());
        (Organisation { comply, schema, settings, records, keeping, version: 0 }, mentions)
    }

    /// With what definitions and default tags make of the tags that were written.
    fn completed(self) -> Self {
        let Self { mut facts, mut schema, settings } = self;
        let written = schema.written_defaults(facts.so_far());
        schema.written.extend(written);
        for definition in &schema.definitions {
            for (object, values) in TagSchema::as_numbers(definition, facts.so_far()) {
                facts.tag(object, &definition.key, values.iter().map(SmolStr::as_str));
            }
        }
        let takers: Vec<_> = facts.profile().kinds_with_defaults().collect();
        let takers: Vec<_> = takers.into_iter().flat_map(|kind| facts.so_far().objects_of(kind)).collect();
        for object in takers {
            for (key, values) in schema.missing_defaults(facts.so_far(), object) {
                facts.tag(object, &key, values.iter().map(SmolStr::as_str));
            }
        }
        Self { facts, schema, settings }
    }
}

impl Organisation {
    /// An empty draft with the definitions, default tags and switches of this one.
    pub fn draft(&self) -> Draft {
        let facts = comply::Draft::new(Arc::clone(self.comply.profile()), self.settings.partners);
        Draft { facts, schema: TagSchema::clone(&self.schema), settings: self.settings }
    }

    /// What this becomes if what `gone` says is said no more, and what `came` says is. Nothing if something is wrong then, or
    /// if it takes a look at everything that was said; nothing either if anything happened since it was built.
    pub fn revised(&self, mentions: &Mentions, gone: &Draft, came: Draft) -> Option<(Self, Mentions)> {
        if self.version > 0 {
            return None;
        }
        let mut schema = Arc::clone(&self.schema);
        let (forgotten, written) = (schema.written_defaults(gone.so_far()), schema.written_defaults(came.so_far()));
        if !forgotten.is_empty() || !written.is_empty() {
            let own = &mut Arc::make_mut(&mut schema).written;
            own.retain(|object, _| !forgotten.contains_key(object));
            own.extend(written);
        }
        let (comply, mentions) = self.comply.revised(mentions, &gone.facts, &came.completed().facts)?;
        Some((Self { comply: Arc::new(comply), schema, ..self.clone() }, mentions))
    }
}
