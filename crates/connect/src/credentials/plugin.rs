//! Runs a credential plugin, within a deadline.

use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use kube::config::{ExecConfig, ExecInteractiveMode};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use super::CredentialError;
use super::plugin_output::{PluginCredential, parse};
use podinit_text::error_text::one_line;

/// How long a plugin may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// How long it may take where it can ask somebody, who may have to log in with a browser.
const INTERACTIVE_DEADLINE: Duration = Duration::from_secs(300);

/// The longest output that is read, in bytes.
const OUTPUT_LIMIT: usize = 1 << 20;

/// How often a plugin that has closed its output is asked whether it has ended.
const END_POLL: Duration = Duration::from_millis(10);

/// Why a plugin cannot be started. What the kubeconfig says of it is shown on one line, without anything that acts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginNotStarted {
    /// The kubeconfig does not name it
    #[error("the kubeconfig does not name the credential plugin; set users[].user.exec.command")]
    Unnamed,
    /// There is no such program, or it may not be run
    #[error(
        "the credential plugin {program} cannot be started: {why}; install it, or correct \
         users[].user.exec.command{hint}"
    )]
    Program {
        /// `command` in the kubeconfig
        program: String,
        /// What the system says
        why: String,
        /// `installHint` in the kubeconfig, as the end of the sentence; empty without one
        hint: String,
    },
}

/// Runs a plugin as client-go does, and reads the credential that it prints. Its standard error is
/// passed on only where somebody at a terminal may have to answer it. When the deadline passes, or the
/// returned future is dropped, it is killed with all its children.
///
/// # Errors
/// Where it gives no credential.
pub(crate) async fn run(exec: &ExecConfig) -> Result<PluginCredential, CredentialError> {
    let is_interactive =
        exec.interactive_mode != Some(ExecInteractiveMode::Never) && io::stdin().is_terminal();
    let deadline = if is_interactive { INTERACTIVE_DEADLINE } else { DEADLINE };
    let started = RunningPlugin::start(command(exec, is_interactive)?, !is_interactive);
    let mut running = started.map_err(|error| not_started(exec, &error))?;
    let ended = timeout(deadline, async {
        let output = running.output().await?;
        Ok((output, running.end().await?))
    });
    match ended.await {
        Ok(Ok((_, status))) if !status.success() => {
            Err(CredentialError::PluginFailed(status.to_string()))
        }
        Ok(Ok((output, _))) => parse(&output),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(CredentialError::PluginHung(deadline)),
    }
}

/// Checks that there is a program to run, without running it.
///
/// # Errors
/// [`CredentialError::PluginNotStarted`].
pub(crate) fn check_installed(exec: &ExecConfig) -> Result<(), CredentialError> {
    let program = program(exec)?;
    let is_there = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    };
    if is_there {
        return Ok(());
    }
    Err(not_started(exec, &io::ErrorKind::NotFound.into()).into())
}

fn program(exec: &ExecConfig) -> Result<&str, PluginNotStarted> {
    let program = exec.command.as_deref().filter(|program| !program.is_empty());
    program.ok_or(PluginNotStarted::Unnamed)
}

fn command(exec: &ExecConfig, is_interactive: bool) -> Result<Command, CredentialError> {
    let mut spec = json!({ "interactive": is_interactive });
    if let (true, Some(cluster)) = (exec.provide_cluster_info, &exec.cluster) {
        spec["cluster"] = json!(cluster);
    }
    let info = json!({ "kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec });
    let mut command = Command::new(program(exec)?);
    command
        .args(exec.args.iter().flatten())
        .env("KUBERNETES_EXEC_INFO", info.to_string())
        .stdout(Stdio::piped());
    for variable in exec.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    if is_interactive {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        // A group of its own, so that its children can be killed with it.
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.process_group(0);
    }
    Ok(command)
}

fn not_started(exec: &ExecConfig, error: &io::Error) -> PluginNotStarted {
    PluginNotStarted::Program {
        program: one_line(exec.command.as_deref().unwrap_or_default()),
        why: match error.kind() {
            io::ErrorKind::NotFound => "there is no such program".to_owned(),
            kind => kind.to_string(),
        },
        hint: match exec.install_hint.as_deref().map(str::trim) {
            Some(hint) if !hint.is_empty() => format!("; the kubeconfig says: {}", one_line(hint)),
            _ => String::new(),
        },
    }
}

/// A plugin that runs. Killed when it is dropped.
struct RunningPlugin {
    child: Child,
    output: pipe::Receiver,
    has_group: bool,
    has_ended: bool,
}

impl RunningPlugin {
    fn start(mut command: Command, has_group: bool) -> io::Result<Self> {
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output));
        match output {
            Ok(output) => Ok(Self { child, output, has_group, has_ended: false }),
            Err(error) => {
                let _ = child.kill();
                Err(error)
            }
        }
    }

    /// All that it prints.
    async fn output(&mut self) -> Result<Vec<u8>, CredentialError> {
        let mut output = Vec::new();
        let limit = OUTPUT_LIMIT as u64 + 1;
        let read = (&mut self.output).take(limit).read_to_end(&mut output).await;
        match read {
            Ok(length) if length > OUTPUT_LIMIT => {
                Err(CredentialError::PluginOutputTooLong(OUTPUT_LIMIT))
            }
            Ok(_) => Ok(output),
            Err(error) => Err(CredentialError::PluginFailed(error.kind().to_string())),
        }
    }

    /// Waits until it has ended.
    async fn end(&mut self) -> Result<ExitStatus, CredentialError> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.has_ended = true;
                    return Ok(status);
                }
                Ok(None) => sleep(END_POLL).await,
                Err(error) => return Err(CredentialError::PluginFailed(error.kind().to_string())),
            }
        }
    }
}

impl Drop for RunningPlugin {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // An error means that it has just ended.
        if self.has_group {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        } else {
            let _ = self.child.kill();
        }
        // A killed process ends at once, unless the kernel itself hangs.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shell(script: &str) -> ExecConfig {
        ExecConfig {
            command: Some("/bin/sh".to_owned()),
            args: Some(vec!["-c".to_owned(), script.to_owned()]),
            interactive_mode: Some(ExecInteractiveMode::Never),
            api_version: Some("client.authentication.k8s.io/v1".to_owned()),
            ..ExecConfig::default()
        }
    }

    #[test]
    fn a_plugin_that_is_missing_is_named_with_what_the_kubeconfig_says_of_it() {
        let mut exec = ExecConfig {
            command: Some("no-such-plugin-\u{1b}[31m".to_owned()),
            ..ExecConfig::default()
        };
        let error = check_installed(&exec).unwrap_err().to_string();
        let named = "the credential plugin no-such-plugin-\u{fffd}[31m cannot be started: there is no such program";
        assert!(error.starts_with(named), "{error}");
        assert!(error.ends_with("correct users[].user.exec.command"), "{error}");
        exec.install_hint = Some("\nInstall it with:\n  brew install plugin\n".to_owned());
        let error = check_installed(&exec).unwrap_err().to_string();
        assert!(
            error.ends_with("the kubeconfig says: Install it with:   brew install plugin"),
            "{error}"
        );
        exec.command = None;
        let error = check_installed(&exec).unwrap_err().to_string();
        assert!(error.contains("does not name"), "{error}");
    }

    #[tokio::test]
    async fn a_plugin_is_told_who_asks_and_its_answer_is_read() {
        let script = r#"case "$KUBERNETES_EXEC_INFO" in
            *'"apiVersion":"client.authentication.k8s.io/v1"'*'"interactive":false'*)
            echo '{"status":{"token":"'"$SECRET"'"}}';; esac"#;
        let mut exec = shell(script);
        let variable =
            [("name", "SECRET"), ("value", "t")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        exec.env = Some(vec![variable.into_iter().collect()]);
        assert_eq!(run(&exec).await.unwrap().token.unwrap(), "Bearer t");
    }

    #[tokio::test]
    async fn a_plugin_that_fails_is_reported_without_what_it_said() {
        let failed = run(&shell("echo c4n4ry; echo c4n4ry >&2; exit 3")).await.unwrap_err();
        assert_eq!(failed, CredentialError::PluginFailed("exit status: 3".to_owned()));
        let mut missing = shell("c4n4ry");
        missing.command = Some("/nowhere/plugin".to_owned());
        let failed = run(&missing).await.unwrap_err();
        assert_eq!(Err(failed.clone()), check_installed(&missing));
        assert!(!failed.to_string().contains("c4n4ry"), "{failed}");
        assert_eq!(check_installed(&shell("")), Ok(()));
        let failed = run(&shell("yes c4n4ry")).await.unwrap_err();
        assert_eq!(failed, CredentialError::PluginOutputTooLong(OUTPUT_LIMIT));
    }

    /// Whether a process runs (a zombie does not).
    fn runs(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or_default();
        !state.is_empty() && !state.starts_with('Z')
    }

    #[tokio::test(start_paused = true)]
    async fn a_plugin_that_hangs_is_killed_with_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let script =
            format!("sleep 1000 & echo $$ $! > {0}.new; mv {0}.new {0}; wait", pids.display());
        let exec = shell(&script);
        let plugin = tokio::spawn(async move { run(&exec).await });
        // Real time for the script; virtual time stands still meanwhile.
        let text = loop {
            if let Ok(text) = std::fs::read_to_string(&pids) {
                break text;
            }
            tokio::task::yield_now().await;
        };
        assert!(text.split_whitespace().all(runs), "{text}");
        tokio::time::advance(DEADLINE).await;
        assert_eq!(plugin.await.unwrap(), Err(CredentialError::PluginHung(DEADLINE)));
        while text.split_whitespace().any(runs) {
            std::thread::yield_now();
        }
    }
}
