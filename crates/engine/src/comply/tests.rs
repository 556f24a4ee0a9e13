//! The laws of the engine, for this family, over random organisations and actions; and every rule of it by name.

mod editions;
mod laws;
mod random;
mod world;
