//! The laws of the engine, for this family, over random worlds and questions.

mod cells;
mod fold;
mod laws;
mod listing;
mod random;
mod table;
mod unknown;
mod update;
mod world;
