//! A disk that loses what was not synced, and what has to hold of a checkpoint on it.

pub mod careless;
pub mod disk;
pub mod loss;
pub mod promise;
pub mod tape;
