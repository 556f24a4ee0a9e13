//! Policies with target references from the outside, as one program: it links once.

#![cfg(test)]

mod attached;
mod destinations;
mod egress;
mod gateways;
mod incoming;
mod ranked;
mod routes;
mod world;
