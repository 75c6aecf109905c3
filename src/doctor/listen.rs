//! Whether the address to listen on can be had.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::report::{Check, Finding};
use crate::server::try_bind;

/// For a look at who has the address already.
const LOOK: Duration = Duration::from_secs(1);
/// The most that is read of its answer.
const ANSWER: u64 = 64 * 1024;

/// Binds `address` and lets go of it at once; also whether a podinit has it already.
pub(super) async fn check(address: SocketAddr) -> (Finding, bool) {
    const CHECK: Check = Check::Listen;
    let error = match try_bind(address) {
        Ok(_) if address.port() == 0 => {
            let found = format!("{address}: the system will choose a free port");
            return (Finding::ok(CHECK, found), false);
        }
        Ok(_) => return (Finding::ok(CHECK, format!("{address} is free")), false),
        Err(error) => error,
    };
    let in_use = error.error.kind() == io::ErrorKind::AddrInUse;
    if in_use && is_podinit(address).await {
        let found = format!("{address} is in use by a podinit that runs here already");
        let finding = Finding::note(CHECK, found).mend(
            "nothing, if that is the one that is looked after; else choose another with --listen",
        );
        return (finding, true);
    }
    let found = format!("cannot listen on {address}: {}", error.reason());
    let finding = Finding::error(CHECK, found).mend(match in_use {
        true => "end what has it, or choose another with --listen",
        false => "choose another with --listen",
    });
    (finding, false)
}

/// Whether the landing page of podinit is there.
async fn is_podinit(address: SocketAddr) -> bool {
    let page = timeout(LOOK, page(address)).await;
    page.is_ok_and(|page| page.is_ok_and(|page| page.contains("<title>podinit</title>")))
}

async fn page(address: SocketAddr) -> io::Result<String> {
    let mut connection =
        TcpStream::connect(SocketAddr::new(near(address.ip()), address.port())).await?;
    connection
        .write_all(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
        )
        .await?;
    let mut answer = Vec::new();
    connection.take(ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// What listens on every address listens on loopback too.
fn near(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}
