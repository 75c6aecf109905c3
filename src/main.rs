//! The `podinit` command.

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use podinit::args::{Command, Program};
use podinit::commands::{kubectl_completion, run, status_of};
use podinit_text::strangers_text::shown;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let ended = match Program::from_words(&words) {
        Program::KubectlCompletion => {
            kubectl_completion(&words[1..], &mut std::io::stdout().lock())
                .map(|()| ExitCode::SUCCESS)
        }
        Program::Podinit | Program::KubectlPlugin => run(Command::from_process()),
    };
    match ended {
        Ok(status) => status,
        Err(error) => {
            // If standard error cannot be written, the exit status still says that the command failed.
            let _ = writeln!(std::io::stderr(), "podinit: {}", shown(&format!("{error:#}")));
            status_of(&error)
        }
    }
}
