//! `podinit capture`, the action for pipelines, and `podinit doctor`.

mod action;
mod capture;
mod capture_faults;
mod capture_figures;
mod doctor;
mod doctor_process;
