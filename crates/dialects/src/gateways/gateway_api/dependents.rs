//! Which routes depend on what.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_model::TextShards;

/// Something that a walk looked for, whether it was there or not: when it comes, goes or changes, the walk is made again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sought {
    /// An object by type, namespace and name.
    Object([SmolStr; 3]),
    /// A policy by type, namespace and name.
    Policy([SmolStr; 3]),
    /// All routes for HTTP in a namespace.
    RoutesIn(SmolStr),
    /// All routes for HTTP with a label by which they are delegated to.
    RoutesLabelled(SmolStr),
}

impl Sought {
    pub(super) fn object(kind: &str, namespace: &str, name: &str) -> Self {
        Self::Object([kind, namespace, name].map(SmolStr::new))
    }

    pub(super) fn policy(kind: &str, namespace: &str, name: &str) -> Self {
        Self::Policy([kind, namespace, name].map(SmolStr::new))
    }
}

/// Routes by something that they have to do with. A clone shares nearly everything; a change copies a shard and a list of ids.
#[derive(Clone, Debug)]
pub(super) struct RouteIndex<K>(TextShards<K, Arc<Vec<ObjectId>>>);

impl<K> Default for RouteIndex<K> {
    fn default() -> Self {
        Self(TextShards::default())
    }
}

impl<K: Clone + Eq + Hash> RouteIndex<K> {
    /// The routes of a key, by id.
    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> &[ObjectId]
    where
        K: Borrow<Q>,
    {
        self.0.get(key).map_or(&[], |routes| routes.as_slice())
    }

    pub(super) fn add(&mut self, key: &K, route: ObjectId) {
        match self.0.get_mut(key) {
            Some(routes) => {
                let routes = Arc::make_mut(routes);
                if let Err(place) = routes.binary_search(&route) {
                    routes.insert(place, route);
                }
            }
            None => drop(self.0.insert(key.clone(), Arc::new(vec![route]))),
        }
    }

    pub(super) fn remove(&mut self, key: &K, route: ObjectId) {
        match self.get(key) {
            [only] if *only == route => drop(self.0.remove(key)),
            _ => {
                let place = self.get(key).binary_search(&route).ok();
                if let Some((place, routes)) = place.and_then(|place| Some((place, self.0.get_mut(key)?))) {
                    Arc::make_mut(routes).remove(place);
                }
            }
        }
    }

    /// How many shards two indexes do not share: what a change has copied.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.0.unshared(&other.0)
    }
}
