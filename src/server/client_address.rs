//! Which client a connection is from.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// What stands for a client where clients get equal shares: its IP address; of IPv6 the first 64 bits,
/// since whoever has one address has all of its network.
pub(super) fn client_of(peer: SocketAddr) -> IpAddr {
    match peer.ip().to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let network = address.to_bits() >> 64 << 64;
            Ipv6Addr::from_bits(network).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_client_is_an_address_or_a_network() {
        for (peer, client) in [
            ("10.0.0.1:5", "10.0.0.1"),
            ("[::ffff:10.0.0.1]:5", "10.0.0.1"),
            ("[fd00:1:2:3:4:5:6:7]:5", "fd00:1:2:3::"),
            ("[::1]:5", "::1"),
        ] {
            let client: IpAddr = client.parse().unwrap();
            assert_eq!(client_of(peer.parse().unwrap()), client, "{peer}");
        }
    }
}
