//! A client that sends a bearer token.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::token_file::TokenFile;

/// A client that adds the header `Authorization` to each request.
#[derive(Clone)]
pub(in crate::cluster) struct BearerClient {
    client: Client,
    token: Token,
}

#[derive(Clone)]
enum Token {
    Fixed(HeaderValue),
    File(Arc<TokenFile>),
}

impl BearerClient {
    /// A client that always sends the same token.
    pub(in crate::cluster) fn with_token(client: Client, header: HeaderValue) -> Client {
        Self::wrap(client, Token::Fixed(header))
    }

    /// A client that sends what a token file holds.
    pub(in crate::cluster) fn with_file(client: Client, file: TokenFile) -> Client {
        Self::wrap(client, Token::File(Arc::new(file)))
    }

    fn wrap(client: Client, token: Token) -> Client {
        let namespace = client.default_namespace().to_owned();
        Client::new(Self { client, token }, namespace)
    }
}

impl Service<Request<Body>> for BearerClient {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let header = match &self.token {
            Token::Fixed(header) => header.clone(),
            Token::File(file) => file.header(),
        };
        request.headers_mut().insert(AUTHORIZATION, header);
        let client = self.client.clone();
        Box::pin(async move { client.send(request).await })
    }
}
