//! `podinit report` and `podinit replay`.

mod cold_startups;
mod commands;
mod exporter;
mod gates;
mod probe_advice;
mod waiting_costs;
