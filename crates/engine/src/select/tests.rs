//! Laws and rules of the family, each under its own name.
