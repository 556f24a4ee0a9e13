mod combining;
mod found;
mod laws;
mod random;
mod safety;
mod unknown;
mod world;
