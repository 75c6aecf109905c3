//! `podinit demo` as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::PATIENCE;
use super::scrape::Scrape;
use crate::support::process::KilledChild;

/// A running demonstration. Killed if the test fails.
pub struct Demo {
    pub process: KilledChild,
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
        let (lines, printed) = mpsc::channel();
        thread::spawn(move || {
            let mut output = output.lines().map_while(Result::ok);
            output.try_for_each(|line| lines.send(line))
        });
        // It is killed if it does not say where it listens.
        let mut demo = Self { process: KilledChild(process), address: String::new() };
        let mut seen = Vec::new();
        while demo.address.is_empty() {
            let line = printed.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("no address: {error}, after {seen:?}"));
            if let Some((_, rest)) = line.split_once("http://")
                && let Some((address, _)) = rest.split_once('/')
            {
                demo.address = address.to_owned();
            }
            seen.push(line);
        }
        demo
    }

    /// The head and the body of the answer.
    pub fn get(&self, path: &str, accept: &str) -> (String, Vec<u8>) {
        self.get_as(&self.address, path, accept)
    }

    /// The same under this host name.
    pub fn get_as(&self, host: &str, path: &str, accept: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
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
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.success();
            }
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends SIGTERM and waits for the end: whether it was in good order.
    pub fn terminate(self) -> bool {
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.ends_well()
    }
}
