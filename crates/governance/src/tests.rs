//! The laws of governance, over random organisations and actions; and every rule of it by name.

mod corners;
mod definitions;
mod digests;
mod effects;
mod fixes;
mod laws;
mod numbers;
mod points;
mod principals;
mod random;
mod refusals;
mod scoped;
mod world;
