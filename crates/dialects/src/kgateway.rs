//! Dialect *kgateway*: which policies are attached to gateways, listeners, routes, rules and backends, what they come to, and
//! what their status is.
