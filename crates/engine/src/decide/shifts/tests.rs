mod classes;
mod expressions;
mod laws;
mod lints;
mod named;
mod regions;
mod world;
