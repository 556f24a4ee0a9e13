//! What two states do not share: what a change has copied.

use std::sync::Arc;

use super::Comply;
use super::pairs::PairTable;

impl Comply {
    /// How many pages and tables of this state are not those of another one. A clone has none; a change copies those that it
    /// changes, however many there are.
    pub fn unshared(&self, other: &Self) -> usize {
        let Self {
            profile,
            partners: _,
            symbols,
            lists,
            objects,
            near,
            names,
            by_kind,
            links,
            tables,
            violating,
            policies,
            waivers,
            // What is kept for taking steps back is as long as the steps.
            journal: _,
            touched: _,
            freed: _,
            free_links,
            freed_links: _,
            retired: _,
        } = self;
        let apart = [
            !Arc::ptr_eq(profile, &other.profile),
            !Arc::ptr_eq(symbols, &other.symbols),
            !Arc::ptr_eq(lists, &other.lists),
            !Arc::ptr_eq(names, &other.names),
            !Arc::ptr_eq(policies, &other.policies),
            !Arc::ptr_eq(waivers, &other.waivers),
        ];
        let by_kind: usize = by_kind.iter().zip(&other.by_kind).map(|(own, other)| own.unshared(other)).sum();
        let tables: usize = tables.iter().zip(&other.tables).map(|(own, other)| PairTable::unshared(own, other)).sum();
        apart.into_iter().filter(|apart| *apart).count()
            + objects.unshared(&other.objects)
            + near.unshared(&other.near)
            + by_kind
            + links.unshared(&other.links)
            + tables
            + violating.unshared(&other.violating)
            + free_links.unshared(&other.free_links)
    }
}
