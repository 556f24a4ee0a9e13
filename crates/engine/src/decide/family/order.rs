//! Who is evaluated when. Policies keep their slots while others come and go; their places in the order of evaluation move.

use crate::order::number;

/// Slots in the order of evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The slot at each place.
    slots: Vec<u32>,
    /// The place of each slot; [`NOWHERE`] of one that is free.
    places: Vec<u32>,
    /// Slots of policies that are gone.
    free: Vec<u32>,
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// What becomes of the order at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edit {
    /// A policy is put before the one that is there.
    Insert,
    /// The policy that is there goes.
    Remove,
}

impl Order {
    /// So many policies in the order of their slots.
    pub(super) fn of(policies: usize) -> Self {
        let slots: Vec<u32> = (0..number(policies)).collect();
        Self { places: slots.clone(), slots, free: Vec::new() }
    }

    /// How many policies there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slots in order.
    pub(super) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The slot at a place.
    #[inline]
    pub(super) fn slot(&self, place: usize) -> Option<u32> {
        self.slots.get(place).copied()
    }

    /// The place of a slot.
    #[inline]
    pub(super) fn place(&self, slot: u32) -> u32 {
        self.places.get(slot as usize).copied().unwrap_or(NOWHERE)
    }

    /// After edits at places of this order, which come in the order of their places, with the slots of those that were put.
    /// However many policies there are, it takes flat copies and a flat pass for each stretch that moves.
    pub(super) fn with(&self, edits: &[(usize, Edit)]) -> (Self, Vec<u32>) {
        let slots = Vec::with_capacity(self.slots.len() + edits.len());
        let mut changed = Self { slots, places: self.places.clone(), free: self.free.clone() };
        for (place, _) in edits.iter().filter(|(_, edit)| *edit == Edit::Remove) {
            changed.free.extend(self.slot(*place));
            changed.set_place(self.slot(*place), NOWHERE);
        }
        let (mut inserted, mut from) = (Vec::new(), 0);
        for (place, edit) in edits {
            changed.append(self, from, *place);
            from = *place + usize::from(*edit == Edit::Remove);
            if *edit == Edit::Insert {
                inserted.push(changed.push());
            }
        }
        changed.append(self, from, self.len());
        (changed, inserted)
    }

    /// Adds what stood between two places of another order.
    fn append(&mut self, other: &Self, from: usize, to: usize) {
        let moved = number(self.len()).wrapping_sub(number(from));
        self.slots.extend_from_slice(other.slots.get(from..to).unwrap_or_default());
        if moved == 0 || from == to {
            return;
        }
        let stretch = number(from)..number(to);
        for (own, known) in self.places.iter_mut().zip(&other.places) {
            if stretch.contains(known) {
                *own = known.wrapping_add(moved);
            }
        }
    }

    /// Adds a policy that is new; its slot.
    fn push(&mut self) -> u32 {
        let place = number(self.len());
        let slot = self.free.pop().unwrap_or_else(|| {
            self.places.push(NOWHERE);
            number(self.places.len() - 1)
        });
        self.slots.push(slot);
        self.set_place(Some(slot), place);
        slot
    }

    fn set_place(&mut self, slot: Option<u32>, place: u32) {
        if let Some(known) = slot.and_then(|slot| self.places.get_mut(slot as usize)) {
            *known = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A list of slots that is edited in the plainest way, and places that are looked for.
        #[test]
        fn an_order_that_was_edited_is_a_list_that_was_edited(
            policies in 0..8_usize,
            all in prop::collection::vec(prop::collection::btree_set((0..12_usize, prop::bool::ANY), 0..6), 0..8),
        ) {
            let (mut order, mut list) = (Order::of(policies), (0..number(policies)).collect::<Vec<u32>>());
            for edits in all {
                let edit = |removes: bool| if removes { Edit::Remove } else { Edit::Insert };
                let last = list.len();
                let edits: Vec<(usize, Edit)> = edits.into_iter().map(|(place, removes)| (place, edit(removes)))
                    .filter(|(place, edit)| *place < last + usize::from(*edit == Edit::Insert)).collect();
                let (changed, slots) = order.with(&edits);
                let mut slots = slots.into_iter().rev();
                for (place, edit) in edits.iter().rev() {
                    match edit {
                        Edit::Insert => list.insert(*place, slots.next().unwrap()),
                        Edit::Remove => drop(list.remove(*place)),
                    }
                }
                prop_assert_eq!(slots.next(), None);
                prop_assert_eq!(changed.slots(), list.as_slice());
                for (place, slot) in list.iter().enumerate() {
                    prop_assert_eq!(changed.place(*slot) as usize, place);
                    prop_assert_eq!(changed.slot(place), Some(*slot));
                }
                prop_assert!(changed.places.len() <= list.len() + changed.free.len());
                order = changed;
            }
        }
    }
}
