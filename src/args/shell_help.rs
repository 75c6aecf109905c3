//! The options of the commands that describe the command line: `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `podinit completions`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit completions bash > /etc/bash_completion.d/podinit
  podinit completions zsh > \"${fpath[1]}/_podinit\"
  podinit completions fish > ~/.config/fish/completions/podinit.fish")]
pub struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// The shells that there are completions for.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

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
