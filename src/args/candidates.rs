//! The options of the commands that describe the command line: `completions` and `man`. And what the last word of a
//! command line can become, in the form that kubectl expects of a plugin:
//! a candidate a line, with a tab before its description, and a directive in the last line
//! (<https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md>).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use clap::{Arg, Args, ValueEnum, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use super::{command_line, with_command};

/// Stands for all files, which the shell lists itself.
const FILES: &str = "files";

/// The lines that kubectl reads: the candidates for the last of `words`, which follow the name of the program. The
/// last word is empty if nothing of it is typed yet.
///
/// # Errors
/// The completion engine has found no place for the last word.
pub fn kubectl_candidates(words: &[OsString]) -> io::Result<String> {
    let last = words.last().cloned().unwrap_or_default();
    let before = &words[..words.len().saturating_sub(1)];
    let is_flag =
        last.as_encoded_bytes().starts_with(b"-") && before.iter().all(|word| word != "--");
    // Long flags only: a letter says little.
    let last = if last == "-" { "--".into() } else { last };
    let mut words = vec!["podinit".into()];
    words.extend(before.iter().cloned().chain([last]));
    let words = with_command(words);
    let last = words.len() - 1;
    let mut line = command_line().mut_subcommands(|command| command.mut_args(with_files));
    let mut lines = String::new();
    // Cobra's ShellCompDirectiveDefault lets the shell offer files, ShellCompDirectiveNoFileComp does not.
    let mut directive = ":4\n";
    for candidate in complete(&mut line, words, last, None)? {
        let word = candidate.get_value().to_string_lossy();
        if candidate.get_tag().is_some_and(|tag| tag.to_string() == FILES) {
            // In a flag's place, only a value behind `=` can be a file: it has the flag before it.
            if !is_flag || !word.is_empty() {
                directive = ":0\n";
            }
        } else if !candidate.is_hide_set() && (is_flag || !word.starts_with('-')) {
            lines.push_str(&word);
            let about = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            if let Some(about) = about.lines().next() {
                lines.push('\t');
                lines.push_str(about);
            }
            lines.push('\n');
        }
    }
    lines.push_str(directive);
    Ok(lines)
}

fn with_files(argument: Arg) -> Arg {
    let files = |_: &OsStr| vec![CompletionCandidate::new("").tag(Some(FILES.into()))];
    match argument.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
            argument.add(ArgValueCompleter::new(files))
        }
        _ => argument,
    }
}

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
  podinit man --output-dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Directory for the pages, one for each command; made if it is not there
    #[arg(long, value_name = "DIR", required = true)]
    pub output_dir: PathBuf,
}
