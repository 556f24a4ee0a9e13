//! How the policies of a route meet those of the routes that it delegates to.

use upheld_engine::hierarchy::{Inheritance, Prefer, Reach};

/// The annotation on a route that says it.
pub const INHERITANCE: &str = "kgateway.dev/inherited-policy-priority";

/// What the annotation can be.
const VALUES: [(&str, Reach, Prefer); 4] = [
    ("ShallowMergePreferChild", Reach::Shallow, Prefer::Child),
    ("ShallowMergePreferParent", Reach::Shallow, Prefer::Parent),
    ("DeepMergePreferChild", Reach::Deep, Prefer::Child),
    ("DeepMergePreferParent", Reach::Deep, Prefer::Parent),
];

/// What an annotation means, with its name; unknown and missing ones are the default.
pub fn inheritance(annotation: Option<&str>) -> (Inheritance, &'static str) {
    let known = VALUES.iter().find(|(name, ..)| Some(*name) == annotation);
    let (name, reach, prefer) = *known.unwrap_or(&VALUES[0]);
    (Inheritance { reach, prefer }, name)
}

/// Everything that the annotation can be.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    VALUES.iter().map(|(name, ..)| *name)
}

/// Whether the annotation means something.
pub fn is_known(annotation: &str) -> bool {
    VALUES.iter().any(|(name, ..)| *name == annotation)
}
