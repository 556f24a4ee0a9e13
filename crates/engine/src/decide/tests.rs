mod combining;
mod found;
mod laws;
mod order;
mod random;
mod safety;
mod unknown;
mod world;
