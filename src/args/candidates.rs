//! The options of the commands that describe the command line: `completions` and `man`. And what the last word of a
//! command line can become, in the form that kubectl expects of a plugin:
//! a candidate a line, with a tab before its description, and a directive in the last line
//! (<https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md>).

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Args, Command, ValueEnum, ValueHint};

use super::{DEFAULT_COMMAND, command_line};

/// Candidates, and whether files are candidates too.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    words: Vec<(String, String)>,
    files: bool,
}

impl Candidates {
    /// The candidates for the last of `words`, which follow the name of the program. The last word is
    /// empty if nothing of it is typed yet.
    pub fn of(words: &[OsString]) -> Self {
        let words: Vec<String> =
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (last, before) = words
            .split_last()
            .map_or(("", [].as_slice()), |(last, before)| (last.as_str(), before));
        let mut root = command_line();
        root.build();
        let place = Place::after(before, &root);
        let mut candidates = place.candidates(last);
        candidates.words.retain(|(word, _)| word.starts_with(last));
        candidates
    }

    /// The lines that kubectl reads.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for (word, about) in &self.words {
            lines.push_str(word);
            if !about.is_empty() {
                lines.push('\t');
                lines.push_str(about);
            }
            lines.push('\n');
        }
        // Cobra's ShellCompDirectiveDefault lets the shell offer files, ShellCompDirectiveNoFileComp does not.
        lines.push_str(if self.files { ":0\n" } else { ":4\n" });
        lines
    }

    fn value(argument: &Arg, prefix: &str) -> Self {
        let values = argument.get_possible_values();
        let files = matches!(
            argument.get_value_hint(),
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
        );
        let words = values.iter().filter(|value| !value.is_hide_set());
        let words = words.map(|value| {
            let about = value.get_help().map(ToString::to_string);
            (format!("{prefix}{}", value.get_name()), about.unwrap_or_default())
        });
        Self { words: words.collect(), files }
    }
}

/// Where in a command line the next word stands.
struct Place<'a> {
    root: &'a Command,
    /// The innermost command that is named; the root if there is none.
    command: &'a Command,
    /// The flag whose value is next.
    flag: Option<&'a Arg>,
    /// How many positional arguments there were.
    positionals: usize,
    /// Whether `--` has ended the flags.
    no_flags: bool,
}

impl<'a> Place<'a> {
    fn after(words: &[String], root: &'a Command) -> Self {
        let mut place = Self { root, command: root, flag: None, positionals: 0, no_flags: false };
        for word in words {
            place.step(word);
        }
        place
    }

    fn step(&mut self, word: &str) {
        if self.flag.take().is_some() {
            return;
        }
        if word == "--" && !self.no_flags {
            self.no_flags = true;
        } else if word.len() > 1 && word.starts_with('-') && !self.no_flags {
            self.flag = self.flag_awaiting_value(word);
            // A flag in the place of the command is a flag of the default command.
            if let Some(default) = self.root.find_subcommand(DEFAULT_COMMAND)
                && std::ptr::eq(self.command, self.root)
            {
                self.command = default;
            }
        } else if let Some(command) = self.command.find_subcommand(word) {
            self.command = command;
        } else {
            self.positionals += 1;
        }
    }

    /// The commands whose flags may stand here: without a command, also those of the default one.
    fn commands(&self) -> impl Iterator<Item = &'a Command> + use<'a> {
        let root = self.root;
        let at_root = std::ptr::eq(self.command, root);
        let default = at_root.then(|| root.find_subcommand(DEFAULT_COMMAND));
        std::iter::once(self.command).chain(default.flatten())
    }

    fn flags(&self) -> impl Iterator<Item = &'a Arg> + use<'a> {
        let arguments = self.commands().flat_map(Command::get_arguments);
        arguments.filter(|argument| !argument.is_positional())
    }

    /// The flag that `word` is, if its value is the next word.
    fn flag_awaiting_value(&self, word: &str) -> Option<&'a Arg> {
        let flag = match word.strip_prefix("--") {
            Some(long) => self.flags().find(|flag| flag.get_long() == Some(long)),
            None => {
                let mut letters = word.chars().skip(1);
                let (short, more) = (letters.next(), letters.next());
                self.flags().find(|flag| more.is_none() && flag.get_short() == short)
            }
        };
        flag.filter(|flag| takes_next_word(flag))
    }

    fn candidates(&self, last: &str) -> Candidates {
        if let Some(flag) = self.flag {
            return Candidates::value(flag, "");
        }
        if last.starts_with('-') && !self.no_flags {
            return self.flag_candidates(last);
        }
        let commands = self.command.get_subcommands();
        let commands = commands.filter(|command| !command.is_hide_set());
        let words: Vec<_> = commands
            .map(|command| (command.get_name().to_owned(), first_line(command.get_about())))
            .collect();
        if !words.is_empty() {
            return Candidates { words, files: false };
        }
        let positionals: Vec<_> = self.command.get_positionals().collect();
        let next = positionals.get(self.positionals).or(positionals.last());
        next.map_or_else(Candidates::default, |argument| Candidates::value(argument, ""))
    }

    fn flag_candidates(&self, last: &str) -> Candidates {
        if let Some((name, _)) = last.split_once('=') {
            let long = name.strip_prefix("--");
            let flag = self.flags().find(|flag| flag.get_long() == long);
            return flag
                .filter(|flag| flag.get_action().takes_values())
                .map_or_else(Candidates::default, |flag| {
                    Candidates::value(flag, &format!("{name}="))
                });
        }
        let flags = self.flags().filter(|flag| !flag.is_hide_set());
        let mut words: Vec<(String, String)> = flags
            .filter_map(|flag| {
                Some((format!("--{}", flag.get_long()?), first_line(flag.get_help())))
            })
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        words.retain(|(word, _)| seen.insert(word.clone()));
        Candidates { words, files: false }
    }
}

/// Whether the word behind the flag is its value.
fn takes_next_word(flag: &Arg) -> bool {
    let fewest = flag.get_num_args().map_or(1, |count| count.min_values());
    flag.get_action().takes_values() && !flag.is_require_equals_set() && fewest > 0
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
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
  podinit man --output ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Directory for the pages, one for each command; made if it is not there
    #[arg(long, short, value_name = "DIR", required = true)]
    pub output: PathBuf,
}
