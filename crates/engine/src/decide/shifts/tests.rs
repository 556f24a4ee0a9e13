mod classes;
mod laws;
mod lints;
mod named;
mod regions;
mod world;
