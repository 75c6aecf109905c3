//! The HTTP server over a real socket, and who may ask it.

mod access;
mod allowed_hosts;
mod canary;
mod exposition;
mod hostile;
mod http;
mod kubernetes_access;
mod limits;
mod shutdown;
mod tls;
