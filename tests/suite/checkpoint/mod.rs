//! The checkpoint: its content, its cost, and restarts from it.

mod before_families;
mod content;
mod cost;
mod crash;
mod kill;
mod restart;
