//! A disk that loses what was not synced, and what has to hold of a checkpoint on it.

pub mod choices;
pub mod disk;
pub mod faulty_disk;
pub mod loss;
pub mod promise;
