//! `podinit capture` and `podinit doctor`.

mod capture;
mod capture_faults;
mod capture_figures;
mod doctor;
mod doctor_process;
