mod combining;
mod laws;
mod safety;
mod unknown;
mod world;
