//! What the tests of several files need.

use std::io::{Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

pub mod access;
pub mod checkpoint;
pub mod cluster;
pub mod demo;
pub mod descriptors;
pub mod doctor;
pub mod embedded;
pub mod files;
pub mod freshness;
pub mod hostile;
pub mod json_schema;
#[cfg(target_os = "linux")]
pub mod large_cluster;
#[cfg(target_os = "linux")]
pub mod memory;
pub mod output;
pub mod page;
pub mod parsed_exposition;
pub mod process;
pub mod restart;
pub mod samples;
pub mod scene;
pub mod scrape;
pub mod server;
pub mod sinks;
pub mod slo;
pub mod watch;

/// For a test that hangs: no machine is so slow that a test that passes meets it.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The answer for a path of who listens at `address`, with its head.
///
/// # Errors
/// If nobody does, or does no longer.
pub fn get(address: impl ToSocketAddrs, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
