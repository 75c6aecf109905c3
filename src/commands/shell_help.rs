//! The commands `completions` and `man`, and what completes the command line of the kubectl plugin:
//! made from the definition of the command line, without a cluster.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap_complete::shells;
use clap_mangen::Man;

use super::output::print;
use crate::args::{CompletionsArgs, ManArgs, Shell, command_line, kubectl_candidates};

const NAME: &str = "podinit";

/// Prints the script that completes podinit's command line in a shell.
pub(super) fn completions(args: &CompletionsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let (mut command, mut script) = (command_line(), Vec::new());
    match args.shell {
        Shell::Bash => clap_complete::generate(shells::Bash, &mut command, NAME, &mut script),
        Shell::Zsh => clap_complete::generate(shells::Zsh, &mut command, NAME, &mut script),
        Shell::Fish => clap_complete::generate(shells::Fish, &mut command, NAME, &mut script),
    }
    print(&script, out)
}

/// Prints what the last of `words` can become; kubectl reads it.
///
/// # Errors
/// There is no word to complete, or standard output cannot be written.
pub fn kubectl_completion(words: &[OsString], out: &mut impl Write) -> anyhow::Result<()> {
    print(kubectl_candidates(words)?.as_bytes(), out)
}

/// Writes a manual page for podinit and one for each of its commands.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let directory = &args.output_dir;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    let mut root = command_line().disable_help_subcommand(true);
    root.build();
    write_page(&root, directory)?;
    root.get_subcommands().try_for_each(|command| write_page(command, directory))
}

fn write_page(command: &clap::Command, directory: &Path) -> anyhow::Result<()> {
    let page = Man::new(command.clone())
        .source(concat!("podinit ", env!("CARGO_PKG_VERSION")))
        .manual("podinit");
    let path = directory.join(page.get_filename());
    let written = page.generate_to(directory);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
