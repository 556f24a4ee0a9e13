//! The laws of the engine, for this family, over random policies and questions.

mod cells;
mod chances;
mod laws;
mod ranks;
mod unknown;
mod update;
mod world;
