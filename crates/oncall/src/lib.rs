//! What somebody on call reads: what is broken, where and since when, and why one pod is slow.
//!
//! - [`pods`]: the pods of any source: a recording, a cluster or an exporter; all that follow are functions of them.
//! - [`problems`], [`stuck`], [`explain`]: what is broken, which pods are stuck, and what took long in one startup.
//! - [`rollouts`]: which rollouts are in progress, and what holds them.
//! - [`api`], [`page`]: the same of a running exporter, over HTTP; [`live`] gives them to it.
//! - [`records`], [`freshness`]: the records that are kept of startups, and how far an answer can be trusted.
//!
//! It knows the exporter, recordings, and how a client is made. It must not decide what a problem is: that is for
//! `podinit_problems`, whose results this crate words. It must not know flags.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod answer;
pub mod api;
mod autoscaling;
pub mod explain;
pub mod freshness;
pub mod live;
pub mod node_clocks;
pub mod page;
pub mod pods;
pub mod problems;
pub mod records;
pub mod rollouts;
pub mod stuck;
pub mod unmatched_slos;
