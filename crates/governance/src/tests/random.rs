//! Random organisations with their switches and default tags, and what people do in them.

mod actions;

use std::fmt;

use proptest::prelude::*;
use smol_str::{SmolStr, format_smolstr};
use upheld_engine::comply::Tags;
use upheld_engine::comply::reference::NaiveEdition;
use upheld_engine::comply::reference::random::{KEYS, MANY, SUBJECTS, Start, VALUES, editions, start, tags};

pub(super) use self::actions::{ending, steps};
use super::super::*;
use super::world::{BEGIN, Tested, World};

/// An organisation as it is before anything happens.
#[derive(Clone)]
pub(super) struct Began {
    pub(super) start: Start,
    pub(super) settings: Settings,
    pub(super) defaults: Tags,
}

impl fmt::Debug for Began {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?} defaults {:?}", self.start, self.settings, self.defaults)
    }
}

impl Began {
    /// The organisation, told everything; tags of all kinds but principals are defined.
    pub(super) fn build(&self) -> Tested {
        let mut world = World::new(self.start.edition, self.settings);
        for subject in SUBJECTS.iter().filter(|subject| **subject != "principal") {
            for key in KEYS {
                world = world.define(open(&format!("{subject}.{key}")));
            }
        }
        self.start.tell(&mut world.draft.facts);
        let organisation = world.default_tags(self.defaults.clone()).draft.build();
        Tested::new(organisation, BEGIN)
    }
}

/// A tag that takes any of the values.
pub(super) fn open(tag: &str) -> Definition {
    let many = (0..MANY).map(|number| format_smolstr!("v{number}"));
    let options = VALUES.map(SmolStr::new).into_iter().chain(many).collect();
    Definition { options, ..super::world::definition(tag) }
}

/// An organisation of an edition.
pub(super) fn began(edition: NaiveEdition) -> impl Strategy<Value = Began> {
    let switches = (any::<bool>(), proptest::bool::weighted(0.25));
    let defaults = prop_oneof![3 => Just(Tags::new()), 1 => tags()];
    (start(edition), switches, defaults).prop_map(|(start, (tolerated, required), defaults)| {
        let settings = Settings {
            preexisting: if tolerated { Preexisting::Tolerated } else { Preexisting::Blocks },
            partners: start.partners,
            membership: if required { Membership::Required } else { Membership::Optional },
        };
        Began { start, settings, defaults }
    })
}

/// An organisation of any edition.
pub(super) fn starts() -> impl Strategy<Value = Began> {
    editions().prop_flat_map(began)
}
