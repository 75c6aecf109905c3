"""A certificate authority, a server certificate for loopback and a signing key, for one run."""

import datetime
import ipaddress
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _builder(subject, issuer, key):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=2))
    )


def _write(directory, name, data):
    path = os.path.join(directory, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    return path


def _pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def make(directory):
    """Write ca.crt, server.crt, server.key, sa.key and sa.pub into `directory`."""
    os.makedirs(directory, exist_ok=True)
    authority, server, accounts = _key(), _key(), _key()
    ca = (
        _builder("e2e-ca", "e2e-ca", authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(True, False, False, False, False, True, True, False, False), critical=True
        )
        .sign(authority, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName(
        [
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.DNSName("localhost"),
            x509.DNSName("kubernetes.default.svc"),
        ]
    )
    certificate = (
        _builder("kube-apiserver", "e2e-ca", server)
        .add_extension(names, critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(authority, hashes.SHA256())
    )
    public = accounts.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    encoding = serialization.Encoding.PEM
    return {
        "ca": _write(directory, "ca.crt", ca.public_bytes(encoding)),
        "cert": _write(directory, "server.crt", certificate.public_bytes(encoding)),
        "key": _write(directory, "server.key", _pem(server)),
        "sa_key": _write(directory, "sa.key", _pem(accounts)),
        "sa_pub": _write(directory, "sa.pub", public),
    }
