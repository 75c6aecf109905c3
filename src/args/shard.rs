//! Which of the pods a process accounts for.

use clap::Args;

use podinit_core::shard::Shard;

/// The shard of this process.
#[derive(Args, Clone, Copy, Debug)]
pub struct ShardArgs {
    /// Account only for shard I of N, counted from 0, such as 0/4: the pods whose UIDs hash to it. N
    /// processes, one for each shard, account for all pods [default: all pods]
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub shard: Option<Shard>,
}
