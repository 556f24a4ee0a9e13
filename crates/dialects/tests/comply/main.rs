//! Related objects that must agree in their tags, from documents to what holds.

#![cfg(test)]

mod documents;
mod imports;
mod kinds;
mod scoped;
mod seed_meshpolicies;
