//! The `podinit` command.

use std::process::ExitCode;

use podinit::args::Command;

fn main() -> ExitCode {
    match podinit::run::run(Command::from_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("podinit: {error:#}");
            ExitCode::FAILURE
        }
    }
}
