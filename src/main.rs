//! The `sundown` binary.
fn main() {}
