//! podinit as a process: options, errors, signals, files, and what it sends.

mod demo;
mod environment;
mod errors;
mod hints;
mod odd_files;
mod panic_line;
mod shell_help;
mod signals;
mod start;
pub mod traces;
