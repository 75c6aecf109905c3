//! Which encoding the API server is asked for, and which it answers in, compressed or not. All requests of a list-watch go
//! through here, and nothing else knows of media types.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Request;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue};
use kube::Client;
use kube::client::Body;

use crate::cluster::answer_body::AnswerBody;
use crate::cluster::api_error::{ApiError, ApiErrorKind, encoding_of, is_gzip};
use crate::cluster::transport::{copy_of_get, send};
use podinit_decode::ObjectEncoding;

const GZIP: HeaderValue = HeaderValue::from_static("gzip");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROTOBUF: HeaderValue =
    HeaderValue::from_static("application/vnd.kubernetes.protobuf, application/json");
const PROTOBUF_WATCH: HeaderValue =
    HeaderValue::from_static("application/vnd.kubernetes.protobuf;stream=watch, application/json");

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestPurpose {
    /// A list, or a page of one, which may be compressed
    List,
    /// A list as the beginning of a watch, which may be compressed as well
    StreamedList,
    /// A watch, which is not compressed: its events are short, and each would have to be flushed
    Watch,
}

/// The encoding that one list-watch asks for.
#[derive(Debug)]
pub(crate) struct EncodingNegotiation {
    /// Asks for protobuf, which no answer has refused
    protobuf: AtomicBool,
}

/// The beginning of a successful answer.
#[derive(Debug)]
pub struct AnswerHead {
    pub(crate) encoding: ObjectEncoding,
    /// Whether the body is compressed, as only that of a list is
    pub(crate) is_gzip: bool,
    pub body: Body,
}

impl AnswerHead {
    /// The encoding, and the body to be decompressed while it is read.
    pub(crate) fn unpacked(self) -> (ObjectEncoding, AnswerBody) {
        (self.encoding, AnswerBody::new(self.body, self.is_gzip))
    }
}

impl EncodingNegotiation {
    /// Asks for `encoding`.
    pub(crate) const fn new(encoding: ObjectEncoding) -> Self {
        Self { protobuf: AtomicBool::new(matches!(encoding, ObjectEncoding::Protobuf)) }
    }

    /// Sends a request and waits for the answer to begin, until `deadline` has passed. Where JSON is also
    /// taken and the answer is still 406, which only what stands before an API server gives, JSON is asked
    /// for from then on.
    pub(crate) async fn send(
        &self,
        client: &Client,
        mut request: Request<Body>,
        purpose: RequestPurpose,
        deadline: Duration,
    ) -> Result<AnswerHead, ApiError> {
        if purpose != RequestPurpose::Watch {
            request.headers_mut().insert(ACCEPT_ENCODING, GZIP);
        }
        if !self.protobuf.load(Ordering::Relaxed) {
            return once(client, request, JSON, deadline).await;
        }
        let again = copy_of_get(&request);
        let accept = match purpose {
            RequestPurpose::List => PROTOBUF,
            RequestPurpose::StreamedList | RequestPurpose::Watch => PROTOBUF_WATCH,
        };
        match once(client, request, accept, deadline).await {
            Err(failure) if failure.kind == ApiErrorKind::NotAcceptable => {
                let answer = once(client, again, JSON, deadline).await?;
                self.protobuf.store(false, Ordering::Relaxed);
                Ok(answer)
            }
            answer => answer,
        }
    }
}

async fn once(
    client: &Client,
    mut request: Request<Body>,
    accept: HeaderValue,
    deadline: Duration,
) -> Result<AnswerHead, ApiError> {
    request.headers_mut().insert(ACCEPT, accept);
    let response = send(client, request, deadline).await?;
    let encoding = encoding_of(response.headers());
    let is_gzip = is_gzip(response.headers());
    Ok(AnswerHead { encoding, is_gzip, body: response.into_body() })
}
