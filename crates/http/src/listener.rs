//! The listening socket.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait in the kernel until they are accepted; the kernel may lower this.
const BACKLOG: u32 = 1024;

/// Why an address could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {}; choose another with --listen", reason(.error))]
pub struct BindError {
    /// The address that was requested
    pub address: SocketAddr,
    /// The error of the system
    pub error: io::Error,
}

impl BindError {
    /// The error of the system, in words.
    pub fn reason(&self) -> String {
        reason(&self.error)
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "address already in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "permission denied (ports below 1024 need CAP_NET_BIND_SERVICE)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Binds `address` as [`HttpServer::bind`](super::HttpServer::bind) does, and releases it at once. Returns the address that was
/// bound. Must be called within a tokio runtime.
///
/// # Errors
/// One line that says why the address cannot be bound and what to do.
pub fn try_bind(address: SocketAddr) -> Result<SocketAddr, BindError> {
    bind(address).map(|(_listener, local_addr)| local_addr)
}

/// Binds a listener and returns its address. `[::]` is dual stack.
pub(super) fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BindError> {
    let listener = match listen(address) {
        Ok(listener) => Ok(listener),
        Err(source) => match ipv4_instead(address, &source) {
            Some(fallback) => {
                tracing::info!(%address, %fallback, "no IPv6 on this machine, listening on IPv4");
                listen(fallback)
            }
            None => Err(source),
        },
    };
    listener
        .and_then(|listener| {
            let local = listener.local_addr()?;
            Ok((listener, local))
        })
        .map_err(|error| BindError { address, error })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if address.is_ipv6() && address.ip().is_unspecified() {
        // The default depends on a sysctl (net.ipv6.bindv6only).
        rustix::net::sockopt::set_ipv6_v6only(&socket, false)?;
    }
    // So that a restart need not wait for connections in TIME_WAIT. On Linux two listeners still
    // cannot share a port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    Ok(socket)
}

/// `0.0.0.0` in place of `[::]` where the kernel has no IPv6 at all (the socket cannot be made)
/// or has it disabled (the address does not exist).
fn ipv4_instead(address: SocketAddr, error: &io::Error) -> Option<SocketAddr> {
    let no_ipv6 =
        matches!(Errno::from_io_error(error), Some(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL));
    let any = address.is_ipv6() && address.ip().is_unspecified();
    (no_ipv6 && any).then(|| SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn a_port_in_use_is_reported_in_one_line() {
        let (_listener, taken) = bind(address("127.0.0.1:0")).unwrap();
        assert_eq!(
            bind(taken).unwrap_err().to_string(),
            format!(
                "cannot listen on {taken}: address already in use; choose another with --listen"
            )
        );
    }

    #[tokio::test]
    async fn the_unspecified_ipv6_address_accepts_ipv4_too() {
        // Without IPv6 there is no such socket.
        if let Ok(socket) = socket(address("[::]:0")) {
            assert!(!rustix::net::sockopt::ipv6_v6only(&socket).unwrap());
        }
    }

    #[test]
    fn only_the_unspecified_address_falls_back_and_only_without_ipv6() {
        let missing = io::Error::from(Errno::AFNOSUPPORT);
        let disabled = io::Error::from(Errno::ADDRNOTAVAIL);
        let taken = io::Error::from(Errno::ADDRINUSE);
        let any = address("[::]:8080");
        assert_eq!(ipv4_instead(any, &missing), Some(address("0.0.0.0:8080")));
        assert_eq!(ipv4_instead(any, &disabled), Some(address("0.0.0.0:8080")));
        assert_eq!(ipv4_instead(any, &taken), None);
        assert_eq!(ipv4_instead(address("[::1]:8080"), &missing), None);
    }
}
