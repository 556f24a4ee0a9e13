//! What others keep beside the indexes of the families.

use std::any::Any;
use std::sync::Arc;

/// Things that are made of all documents together, by a dialect or another room that the engine does not know, and that live as
/// long as the snapshot. Each is found by its type.
#[derive(Clone, Debug, Default)]
pub struct Companions {
    items: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Companions {
    /// With one more; there is one of each type.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, item: Arc<T>) -> Self {
        self.items.retain(|known| !known.is::<T>());
        self.items.push(item);
        self
    }

    /// With all of others, in place of those of the same types.
    #[must_use]
    pub fn with_all(mut self, others: Self) -> Self {
        self.items.retain(|known| !others.items.iter().any(|other| (**other).type_id() == (**known).type_id()));
        self.items.extend(others.items);
        self
    }

    /// The one of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.items.iter().find_map(|item| item.downcast_ref())
    }
}
