//! Laws of the family over random policies, places and kinds, against the naive twin.

mod changes;
mod laws;
mod reasons;
mod rules;
mod world;
