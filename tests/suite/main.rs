//! Every integration test, in one binary, so that the library is linked once and support is compiled once.
//!
//! ```text
//! cargo test --test suite                       # all
//! cargo test --test suite watch_faults::        # the tests of one file
//! ```

// Only the allocator that counts is unsafe.
#![deny(unsafe_code)]
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    // The tests of files that are run in both encodings
    clippy::duplicate_mod
)]

mod access_canary;
mod access_kubernetes;
mod allowed_hosts;
mod api;
mod api_schema;
mod args_env;
mod as_of;
mod bare_pods;
mod capture;
mod capture_faults;
mod capture_figures;
mod causes;
mod checkpoint_before_families;
mod checkpoint_cost;
mod checkpoint_crash;
mod checkpoint_kill;
mod checkpoint_restart;
mod citations;
mod cli_errors;
mod cli_hints;
mod clock_ahead;
mod cluster_gap;
mod cluster_gates;
mod cluster_truth;
mod cold_startups;
mod comparison;
mod concurrent_scrapes;
#[allow(unsafe_code)]
mod counting;
mod crowd_memory;
mod dashboards;
mod demo;
mod deploy;
mod doctor;
mod doctor_process;
mod documents;
mod event_burst;
mod event_messages;
mod events_turned_on;
mod explain;
mod explain_cluster;
mod explain_ended;
mod explain_exporter;
mod explain_gates;
mod exporter_credentials;
mod exposition;
mod fault_table;
mod first_list_memory;
mod fuzz_seeds;
mod gate_places;
mod hostile_labels;
mod ignored_tests;
mod kube_events;
mod label_places;
mod large_cluster;
mod lone_lists;
mod max_pods;
mod memory;
mod no_recording;
mod node_clocks;
mod node_evidence;
mod node_object;
mod odd_files;
mod odd_lives;
mod one_list;
mod oracle;
mod packed_pods;
mod page;
mod panic_line;
mod probe_advice;
mod problems_ended;
mod problems_old;
mod proof;
mod protobuf;
mod readme;
mod recordings;
mod records;
mod replay_oracle;
mod report;
mod report_exporter;
mod report_gates;
mod report_memory;
mod report_moments;
mod restart;
mod rules;
mod scene_alerts;
mod scene_problems;
mod server_access;
mod server_exposition;
mod server_hostile;
mod server_http;
mod server_limits;
mod server_shutdown;
mod server_tls;
mod shards;
mod shards_watch;
mod shell_help;
mod signals;
mod sim_cluster;
mod sim_events;
mod sim_faults;
mod sim_gates;
mod sim_kubelets;
mod sim_lives;
mod sim_protocol;
mod sim_scenes;
mod slo_blind;
mod slo_outage;
mod soak;
mod start;
mod strangers_text;
mod stuck;
mod support;
mod traces;
mod tracker;
mod vulnerabilities;
mod waiting_costs;
mod watch_client;
mod watch_converges;
#[path = "watch_converges.rs"]
mod watch_converges_protobuf;
mod watch_credentials;
mod watch_embedded;
#[path = "watch_embedded.rs"]
mod watch_embedded_protobuf;
mod watch_embedded_stream;
#[path = "watch_embedded_stream.rs"]
mod watch_embedded_stream_protobuf;
mod watch_events;
mod watch_faults;
mod watch_line_memory;
mod watch_list;
mod watch_nodes;
mod watch_reconciliation;
mod watch_rollback;
mod watch_signs;
mod watch_stream;
mod watch_streamed_list;
#[path = "watch_streamed_list.rs"]
mod watch_streamed_list_protobuf;
mod watch_versions;
mod watch_whole_list;
#[path = "watch_whole_list.rs"]
mod watch_whole_list_protobuf;

/// Counts per thread what is allocated, for the tests that limit memory.
#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
