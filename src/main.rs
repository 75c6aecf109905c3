//! The `podinit` command.

use std::io::Write;
use std::process::ExitCode;

use podinit::args::Command;

fn main() -> ExitCode {
    match podinit::run::run(Command::from_process()) {
        Ok(status) => status,
        Err(error) => {
            // If standard error cannot be written, the exit status still says that the command failed.
            let _ = writeln!(std::io::stderr(), "podinit: {error:#}");
            ExitCode::FAILURE
        }
    }
}
