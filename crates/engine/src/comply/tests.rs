//! The laws of the engine, for this family, over random organisations and steps; and every rule about values by name.

mod evaluation;
mod laws;
mod scoped;
mod sharing;
mod steps;
mod waivers;
mod world;
