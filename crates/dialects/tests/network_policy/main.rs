//! Network policies of Kubernetes, from documents to who may reach whom.
#![cfg(test)]

mod changes;
mod documents;
mod ends;
mod naive;
mod random;
mod rules;
mod world;
