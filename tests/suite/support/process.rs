//! podinit as a process.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Output, Stdio};

/// podinit with none of the settings of whoever runs the test, and with nothing to read.
pub fn podinit<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podinit"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

/// What a command says that ends by itself.
pub fn run(args: &[&str]) -> Output {
    podinit(args).output().unwrap()
}

/// The same for a command that reads `input`, of which it need not read all.
pub fn run_with(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let pipes = || Stdio::piped();
    let mut command = podinit(args);
    let mut process = command.stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn().unwrap();
    let _ = process.stdin.take().unwrap().write_all(input.as_ref());
    process.wait_with_output().unwrap()
}

/// What a command says while the tasks of the test go on.
pub async fn run_beside(args: &[&str]) -> Output {
    let mut command = podinit(args);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// A process that is killed when it is dropped.
pub struct KilledChild(pub Child);

impl KilledChild {
    /// Sends SIGTERM and waits for the end: whether it was in good order.
    pub fn terminate(&mut self) -> bool {
        let process = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.0.wait().unwrap().success()
    }
}

impl Deref for KilledChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for KilledChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for KilledChild {
    fn drop(&mut self) {
        // It has ended already where the test has succeeded.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
