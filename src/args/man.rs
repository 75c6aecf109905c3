//! The options of `man`.

use std::path::PathBuf;

use clap::Args;

/// `podinit man`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Example:
  podinit man --output ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Directory for the pages, one for each command; made if it is not there
    #[arg(long, short, value_name = "DIR", required = true)]
    pub output: PathBuf,
}
