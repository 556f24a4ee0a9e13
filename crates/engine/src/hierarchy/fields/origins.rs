//! Whose words the fields of a result are made of, and what that says about one policy.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::hierarchy::answer::Contributors;

/// Fields with the policies that they come from, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    fields: BTreeMap<SmolStr, Contributors>,
}

/// How much of a result one policy has a part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing: others override it.
    Nowhere,
    /// Some fields.
    Partly,
    /// Every field.
    Everywhere,
}

impl Origins {
    /// The fields with their policies, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &[usize])> {
        self.fields.iter().map(|(name, origins)| (name, origins.as_slice()))
    }

    /// Whom a field comes from.
    pub fn of(&self, field: &str) -> &[usize] {
        self.fields.get(field).map_or(&[], |origins| origins)
    }

    /// A field now comes from `others` alone.
    pub fn replace(&mut self, field: &str, others: &[usize]) {
        self.fields.insert(field.into(), united(&[], others));
    }

    /// A field now comes from `others`, too.
    pub fn add(&mut self, field: &str, others: &[usize]) {
        let united = united(self.of(field), others);
        self.fields.insert(field.into(), united);
    }

    /// How much a policy has a part in.
    pub fn standing(&self, by: usize) -> Share {
        let parts = self.fields.values().filter(|origins| origins.binary_search(&by).is_ok()).count();
        match parts {
            0 => Share::Nowhere,
            _ if parts == self.fields.len() => Share::Everywhere,
            _ => Share::Partly,
        }
    }
}

impl FromIterator<(SmolStr, Contributors)> for Origins {
    fn from_iter<I: IntoIterator<Item = (SmolStr, Contributors)>>(fields: I) -> Self {
        let sorted = |(name, origins): (SmolStr, Contributors)| (name, united(&[], &origins));
        Self { fields: fields.into_iter().map(sorted).collect() }
    }
}

/// Both, in ascending order, each once.
pub(super) fn united(some: &[usize], others: &[usize]) -> Contributors {
    let mut all: Contributors = some.iter().chain(others).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
