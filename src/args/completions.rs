//! The options of `completions`.

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
    #[arg(value_name = "SHELL", value_enum)]
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
