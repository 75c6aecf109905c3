//! `podinit demo` as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::scrape::Scrape;

/// A running demonstration. Killed if the test fails.
pub struct Demo {
    pub process: Child,
    pub address: String,
}

impl Demo {
    /// Starts it, and reads from its output where it listens.
    pub fn start(args: &[&str]) -> Self {
        Self::start_with(args, &[])
    }

    /// The same, with environment variables.
    pub fn start_with(args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["demo", "--listen", "127.0.0.1:0", "--log-level", "off"])
            .args(args)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let address = (output.lines().map_while(Result::ok))
            .find_map(|line| {
                let (_, rest) = line.split_once("http://")?;
                Some(rest.split_once("/metrics")?.0.to_owned())
            })
            .expect("it says where the metrics are");
        Self { process, address }
    }

    /// The head and the body of the answer.
    pub fn get(&self, path: &str, accept: &str) -> (String, Vec<u8>) {
        self.get_as(&self.address, path, accept)
    }

    /// The same under this host name.
    pub fn get_as(&self, host: &str, path: &str, accept: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let body = answer.split_off(end.expect("a whole head") + 4);
        (String::from_utf8(answer).unwrap(), body)
    }

    pub fn is_ready(&self) -> bool {
        let (head, _) = self.get("/readyz", "*/*");
        head.starts_with("HTTP/1.1 200 ")
    }

    /// The metrics in this format.
    pub fn metrics(&self, accept: &str) -> String {
        let (head, body) = self.get("/metrics", accept);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        String::from_utf8(body).unwrap()
    }

    pub fn scrape(&self) -> Scrape {
        Scrape::parse(&self.metrics("text/plain;version=0.0.4"))
    }

    /// Waits for the end: whether it was in good order.
    pub fn ends_well(mut self) -> bool {
        self.process.wait().unwrap().success()
    }

    /// Sends SIGTERM and waits for the end: whether it was in good order.
    pub fn terminate(self) -> bool {
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.ends_well()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has ended already where the test has succeeded.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
