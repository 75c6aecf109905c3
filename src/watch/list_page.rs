//! The pages of a list: the requests, their deadlines, and the version that a watch can begin at.

use kube::Client;
use tokio::time::timeout;

use super::config::ReflectorConfig;
use super::requests::{Freshness, Page, Requests};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::{read_into, send, timed_out};

/// Requests a page of at most `limit` objects in JSON and reads it whole into `buffer`, within the deadlines
/// and the size of `config`.
pub(crate) async fn fetch_page(
    client: &Client,
    requests: &Requests,
    config: &ReflectorConfig,
    page: &Page<'_>,
    limit: u32,
    buffer: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let request = requests.list(page, limit)?;
    let whole = async {
        let response = send(client, request, config.header_timeout).await?;
        let body = response.into_body();
        read_into(buffer, body, config.chunk_timeout, config.max_page_bytes).await
    };
    timeout(config.page_timeout, whole)
        .await
        .map_err(|_| no_complete_page(config))?
}

/// The error of a page that takes too long.
pub(super) fn no_complete_page(config: &ReflectorConfig) -> ApiError {
    timed_out("no complete list page", config.page_timeout)
}

/// Requests a list of the most recent state, page by page, and gives each page to `read`, which returns
/// its continue token. A page that is too long is requested again, with fewer objects.
///
/// # Errors
/// If a page cannot be had or `read` fails. Nothing may be concluded from the pages before it.
pub(crate) async fn fetch_pages(
    client: &Client,
    requests: &Requests,
    config: &ReflectorConfig,
    mut read: impl FnMut(&[u8]) -> Result<Option<String>, ApiError>,
) -> Result<(), ApiError> {
    let mut body = Vec::new();
    let mut limit = config.page_limit.max(1);
    let mut token: Option<String> = None;
    loop {
        let first = Page::First(&Freshness::MostRecent);
        let page = token.as_deref().map_or(first, Page::Next);
        match fetch_page(client, requests, config, &page, limit, &mut body).await {
            Err(error) if error.kind == ApiErrorKind::AnswerTooLong && limit > 1 => {
                limit = (limit / 4).max(1);
                continue;
            }
            fetched => fetched?,
        }
        token = read(&body)?.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(());
        }
    }
}

/// The version of a complete list, to watch from.
///
/// # Errors
/// If it has none that a watch can begin at.
pub(crate) fn watch_version(version: Option<String>) -> Result<String, ApiError> {
    version
        .filter(|version| usable(version))
        .ok_or_else(|| ApiError::malformed("the list has no resourceVersion to watch from"))
}

/// Version "0" means "any": a watch from there would deliver a list of unknown age as events.
pub(super) fn usable(version: &str) -> bool {
    !version.is_empty() && version != "0"
}
