//! The `podinit` command.

fn main() {}
