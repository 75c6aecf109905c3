//! What is counted, under which labels, and how it is exposed.

mod causes;
mod concurrent_scrapes;
mod events_turned_on;
mod exposition;
mod gate_places;
mod hostile_labels;
mod label_places;
