//! podinit in front of the simulated cluster, of which the truth is known.

mod gates;
mod kubelets;
mod onset;
mod scene_alerts;
mod scene_problems;
mod scenes;
mod slo_blind;
mod slo_outage;
mod truth;
