//! The laws of the engine, for this family, over random policies and questions.

mod cells;
mod laws;
mod ranks;
mod unknown;
mod update;
mod world;
