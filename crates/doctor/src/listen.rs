//! Whether the address to listen on is free.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::report::{Check, Finding};
use podinit_http::try_bind;

/// The deadline for finding out who uses the address.
const PAGE_DEADLINE: Duration = Duration::from_secs(1);
/// How much is read of its answer, in bytes.
const PAGE_LIMIT: u64 = 64 * 1024;

/// Binds `address` and releases it at once. Also returns whether another podinit has it.
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
        let found = format!("{address} is in use by a podinit that already runs here");
        let finding = Finding::note(CHECK, found)
            .fix("nothing, if that is the one you mean; otherwise choose another with --listen");
        return (finding, true);
    }
    let found = format!("cannot listen on {address}: {}", error.reason());
    let finding = Finding::error(CHECK, found).fix(match in_use {
        true => "stop the process that uses it, or choose another with --listen",
        false => "choose another with --listen",
    });
    (finding, false)
}

/// Whether podinit's page is served there.
async fn is_podinit(address: SocketAddr) -> bool {
    let page = timeout(PAGE_DEADLINE, page(address)).await;
    page.is_ok_and(|page| page.is_ok_and(|page| page.contains("<title>podinit")))
}

async fn page(address: SocketAddr) -> io::Result<String> {
    let mut connection =
        TcpStream::connect(SocketAddr::new(reachable(address.ip()), address.port())).await?;
    connection
        .write_all(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
        )
        .await?;
    let mut answer = Vec::new();
    connection.take(PAGE_LIMIT).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Where to reach a server that listens on `ip`: on loopback if it listens on every address.
pub(super) fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}
