//! The processes that are measured: each reads one watch of the API server.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::{env, fs, thread};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::api_server::ApiServer;

/// A process, which is killed at the end.
pub(crate) struct Reader {
    child: Child,
    /// The address on which it serves
    pub(crate) address: String,
    _files: Option<tempfile::TempDir>,
}

impl Reader {
    /// `podinit serve`, which waits for the API server at `address`.
    pub(crate) fn podinit(
        (server, address): &(Arc<ApiServer>, SocketAddr),
        encoding: &str,
        state: bool,
    ) -> Self {
        let files = tempfile::tempdir().unwrap();
        let kubeconfig = files.path().join("kubeconfig");
        let authority = BASE64_STANDARD.encode(&server.certificate);
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, \
             cluster: {{server: \"https://{address}\", certificate-authority-data: {authority}}}}}]\n\
             users: [{{name: u, user: {{}}}}]\n"
        );
        fs::write(&kubeconfig, text).unwrap();
        let program = env::var("PODINIT_BIN");
        let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_podinit").to_owned());
        let mut command = Command::new(program);
        if state {
            command.env("PODINIT_STATE_DIR", files.path().join("state"));
        }
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--label-cap", "100000"])
            .args(["--api-encoding", encoding, "--kubeconfig"])
            .arg(kubeconfig)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut lines = log.lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            let address = line.split("address=").nth(1)?;
            Some(address.split(' ').next()?.to_owned())
        });
        // What else it logs is read, so that it never waits.
        thread::spawn(move || lines.for_each(|line| eprintln!("{line}")));
        Self {
            child,
            address: address.expect("podinit says where it listens"),
            _files: Some(files),
        }
    }

    /// This program, which [drains](super::floor) the watch.
    pub(crate) fn floor((server, address): &(Arc<ApiServer>, SocketAddr), encoding: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        let certificate = files.path().join("certificate");
        fs::write(&certificate, &server.certificate).unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .args(["--drain", &address.to_string(), "--encodings", encoding, "--certificate"])
            .arg(certificate)
            .spawn()
            .unwrap();
        Self { child, address: String::new(), _files: Some(files) }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
