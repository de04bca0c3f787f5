//! Laws of all methods.
