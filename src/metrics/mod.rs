//! What podinit counts, and how it is scraped (§7).
//!
//! ```text
//! Observation → Recorder → Store ← FamilySource ← Exposition → Encoder → bytes
//!               (one task)  (atomics)              (any thread)
//! ```
//!
//! The recorder belongs to the task that ingests pods and writes atomics only. A scrape reads them
//! from any thread and never makes the recorder wait. What has to add up is read in one piece: each
//! histogram by itself, and the books of pods ([`Epoch`](self) explains how). To add families,
//! implement [`FamilySource`] and hand it to the [`Builder`].

mod access;
mod books;
mod builder;
mod cells;
mod checkpoint;
mod clock;
mod epoch;
pub mod exemplar;
pub mod exposition;
pub mod families;
pub mod histogram;
mod label_census;
mod label_sets;
pub mod labels;
pub mod layout;
#[cfg(all(test, podinit_loom))]
mod model;
mod recorder;
pub mod saved;
mod slo;
mod source;
mod stability;
mod store;
mod sync;

pub use builder::Builder;
pub use checkpoint::{CheckpointGauges, CheckpointLoad, SavedCheckpoint};
pub use clock::ClockFamilies;
pub use exposition::{EncodeError, Exposition, Format};
pub use families::{FamilyDoc, Kind, families};
pub use label_census::{LabelCensus, LabelUse, MOST_VALUES, SERIES_OF_A_SET};
pub use label_sets::{SavedLabel, SavedLabels};
pub use labels::{LabelConfig, LabelError};
pub use recorder::Recorder;
pub use slo::{ConfigGauges, SloDoc};
pub use source::{FamilySource, WatchSource};
pub use stability::Stability;
