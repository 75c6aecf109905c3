//! The files of the repository against the program.

mod citations;
mod dashboards;
mod deploy;
mod documents;
mod fault_table;
mod fuzz_seeds;
mod ignored_tests;
mod rules;
mod tables;
mod vulnerabilities;
