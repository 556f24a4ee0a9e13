mod combining;
mod found;
mod laws;
mod safety;
mod unknown;
mod world;
