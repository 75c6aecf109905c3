//! The `podinit` command.

use std::process::ExitCode;

use podinit::args::Command;

fn main() -> ExitCode {
    match podinit::run::run(Command::from_process()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("podinit: {error:#}");
            ExitCode::FAILURE
        }
    }
}
