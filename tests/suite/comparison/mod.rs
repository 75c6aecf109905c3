//! The figures of a comparison (section 15 of the specification), against SciPy, against a reading of the section
//! that shares no code with podinit, and against simulated pairs of which the truth is known.

pub mod command;
mod figures;
mod pipeline;
mod place;
mod pools;
mod reference;
mod scipy;
mod sides;
mod simulation;
mod stage_reference;
mod start_places;
mod start_places_reference;
mod starts_reference;
mod tails;
mod whose;
mod workload_changes;
