mod classes;
mod laws;
mod lints;
mod named;
mod world;
