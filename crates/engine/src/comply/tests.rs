//! The laws of the engine, for this family, over random organisations and actions; and every rule of it by name.

mod corners;
mod definitions;
mod editions;
mod effects;
mod evaluation;
mod laws;
mod points;
mod principals;
mod random;
mod refusals;
mod world;
