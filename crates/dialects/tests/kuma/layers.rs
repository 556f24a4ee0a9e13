//! Policies with target references.

mod attached;
mod destinations;
mod egress;
mod gateways;
mod incoming;
mod ranked;
mod routes;
mod world;
