//! One change of a request.

use smol_str::SmolStr;

use crate::decide::cells::{Field, Given};
use crate::decide::request::{Names, Request};

/// One change of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// One more role or group.
    Add(Field, SmolStr),
    /// Without a role or group.
    Remove(Field, SmolStr),
    /// Another value of any part.
    Set(Field, Given),
}

impl Edit {
    /// The part that it changes.
    pub fn field(&self) -> &Field {
        match self {
            Self::Add(field, _) | Self::Remove(field, _) | Self::Set(field, _) => field,
        }
    }

    /// Makes the change.
    pub fn apply(&self, request: &mut Request) {
        let mut names = |field: &Field, change: &dyn Fn(&[SmolStr]) -> Vec<SmolStr>| {
            let names = match field {
                Field::Roles => &mut request.subject.roles,
                Field::Groups => &mut request.subject.groups,
                _ => return,
            };
            *names = Names::Known(change(names.known()));
        };
        match self {
            Self::Add(field, name) => names(field, &|known| [known, std::slice::from_ref(name)].concat()),
            Self::Remove(field, name) => {
                names(field, &|known| known.iter().filter(|known| *known != name).cloned().collect());
            }
            Self::Set(field, given) => field.put(given, request),
        }
    }

    /// Whether both can be made: a part gets one value, a name comes or goes once.
    pub(in crate::decide) fn goes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(own, _), other) | (other, Self::Set(own, _)) => own != other.field(),
            (Self::Add(own, name) | Self::Remove(own, name), Self::Add(field, other) | Self::Remove(field, other)) => {
                own != field || name != other
            }
        }
    }

    /// Whether both give another value to the same part, or are the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(own, _), Self::Set(other, _)) => own == other,
            _ => self == other,
        }
    }

    /// What people change more easily comes first: what is known of a subject and of circumstances, then what is done, then
    /// with what, then who asks.
    pub(super) fn effort(&self) -> u32 {
        match self.field() {
            Field::Roles | Field::Groups | Field::Fact(..) | Field::Time | Field::Address => 0,
            Field::Method | Field::Operation => 1,
            Field::App | Field::Type | Field::ResourceId | Field::Path => 2,
            Field::SubjectId | Field::SubjectType => 3,
        }
    }
}
