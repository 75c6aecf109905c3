//! The pages of a list, one after the other, for everything that lists in pages: their requests, their
//! deadlines, and the version that a watch can begin at.

use http::Request;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use super::config::ReflectorConfig;
use super::requests::{ListFreshness, PageRequest, RequestBuilder};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::{read_into, send, timed_out};

/// A list ends with an error after so many pages in a row without an object. With limits and filters a page may have none
/// and a further one may follow, but no cluster has five million objects in a row that a filter leaves out.
const MOST_EMPTY_PAGES: u32 = 10_000;

/// What a page says of the next one.
pub struct PageEnd {
    /// Its continue token, or none
    pub next: Option<String>,
    /// How many objects it had
    pub objects: usize,
}

/// How far a list has come. Nothing may be concluded from its pages before there is no further one
/// ([§5.4](crate::specification#s5-4)).
#[derive(Debug)]
pub struct ListPages<'a> {
    requests: &'a RequestBuilder,
    freshness: &'a ListFreshness,
    limit: u32,
    next: NextPage,
    /// The last so many pages had no object
    empty: u32,
}

#[derive(Debug)]
enum NextPage {
    First,
    /// The page of this continue token
    After(String),
    /// There is none
    Nothing,
}

impl<'a> ListPages<'a> {
    /// A list of pages of at most `limit` objects.
    pub fn new(requests: &'a RequestBuilder, freshness: &'a ListFreshness, limit: u32) -> Self {
        Self { requests, freshness, limit: limit.max(1), next: NextPage::First, empty: 0 }
    }

    /// The request of the next page, or of the same one again after it was too long; `None` when the list is
    /// complete.
    pub fn request(&self) -> Result<Option<Request<Body>>, ApiError> {
        let page = match &self.next {
            NextPage::First => PageRequest::First(self.freshness),
            NextPage::After(token) => PageRequest::Next(token),
            NextPage::Nothing => return Ok(None),
        };
        self.requests.list(&page, self.limit).map(Some)
    }

    /// What was fetched; `None` if the page was too long, so that it is requested again with fewer objects.
    pub fn fetched<P>(&mut self, page: Result<P, ApiError>) -> Result<Option<P>, ApiError> {
        match page {
            Err(error) if error.kind == ApiErrorKind::AnswerTooLong && self.limit > 1 => {
                self.limit = (self.limit / 4).max(1);
                Ok(None)
            }
            page => page.map(Some),
        }
    }

    /// The page that was read ends like this.
    ///
    /// # Errors
    /// If the list would never end: the same page follows again, or too many had no object.
    pub fn go_on(&mut self, end: PageEnd) -> Result<(), ApiError> {
        self.empty = match end.objects {
            0 => self.empty + 1,
            _ => 0,
        };
        let token = end.next.filter(|token| !token.is_empty());
        let is_same =
            matches!((&self.next, &token), (NextPage::After(last), Some(next)) if last == next);
        self.next = match token {
            Some(_) if is_same => {
                return Err(ApiError::malformed("the same page is continued again"));
            }
            Some(_) if self.empty >= MOST_EMPTY_PAGES => {
                let detail = format!(
                    "{MOST_EMPTY_PAGES} pages in a row have no object, and the last names a further one"
                );
                return Err(ApiError::malformed(detail));
            }
            Some(token) => NextPage::After(token),
            None => NextPage::Nothing,
        };
        Ok(())
    }
}

/// Requests a list of the most recent state, page by page, and gives each page to `read`, which says how it
/// ends.
///
/// # Errors
/// If a page cannot be had or `read` fails. Nothing may be concluded from the pages before it.
pub async fn fetch_pages(
    client: &Client,
    requests: &RequestBuilder,
    config: &ReflectorConfig,
    mut read: impl FnMut(&[u8]) -> Result<PageEnd, ApiError>,
) -> Result<(), ApiError> {
    let mut body = Vec::new();
    let mut pages = ListPages::new(requests, &ListFreshness::MostRecent, config.page_limit);
    while let Some(request) = pages.request()? {
        let fetched = fetch_page(client, config, request, &mut body).await;
        if pages.fetched(fetched)?.is_some() {
            pages.go_on(read(&body)?)?;
        }
    }
    Ok(())
}

/// Requests a page in JSON and reads it whole into `buffer`, within the deadlines and the size of `config`.
async fn fetch_page(
    client: &Client,
    config: &ReflectorConfig,
    request: Request<Body>,
    buffer: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let whole = async {
        let response = send(client, request, config.header_timeout).await?;
        let body = response.into_body();
        read_into(buffer, body, config.chunk_timeout, config.max_page_bytes).await
    };
    timeout(config.page_timeout, whole).await.map_err(|_| no_complete_page(config))?
}

/// The error of a page that takes too long.
pub(super) fn no_complete_page(config: &ReflectorConfig) -> ApiError {
    timed_out("no complete list page", config.page_timeout)
}

/// The version of a complete list, to watch from.
///
/// # Errors
/// If it has none that a watch can begin at.
pub fn watch_version(version: Option<String>) -> Result<String, ApiError> {
    version.filter(|version| usable(version)).ok_or_else(no_version)
}

/// The error of a list that has none.
pub(super) fn no_version() -> ApiError {
    let detail = "the list has no resourceVersion to watch from";
    ApiError::new(ApiErrorKind::NoVersion, detail)
}

/// Version "0" means "any": a watch from there would deliver a list of unknown age as events.
pub(super) fn usable(version: &str) -> bool {
    !version.is_empty() && version != "0"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::watch::requests::{PodScope, PodSelectors};

    fn asked(pages: &ListPages<'_>) -> Option<String> {
        let request = pages.request().unwrap()?;
        Some(request.uri().to_string())
    }

    #[test]
    fn pages_follow_each_other_and_shrink_where_they_are_too_long() {
        let requests = RequestBuilder::new(&PodScope::Cluster, &PodSelectors::default());
        let mut pages = ListPages::new(&requests, &ListFreshness::MostRecent, 10);
        let too_long = || ApiError::new(ApiErrorKind::AnswerTooLong, "too long");
        assert_eq!(asked(&pages).unwrap(), "/api/v1/pods?&limit=10");
        assert_eq!(pages.fetched(Ok(7)), Ok(Some(7)));
        let end = |token: &str| PageEnd { next: Some(token.to_owned()), objects: 7 };
        pages.go_on(end("a")).unwrap();
        for limit in [10, 2] {
            let page = format!("/api/v1/pods?&limit={limit}&continue=a");
            assert_eq!(asked(&pages).unwrap(), page);
            assert_eq!(pages.fetched::<()>(Err(too_long())), Ok(None));
        }
        // One object that is too long is a failure, as any other is.
        assert_eq!(asked(&pages).unwrap(), "/api/v1/pods?&limit=1&continue=a");
        assert_eq!(pages.fetched::<()>(Err(too_long())), Err(too_long()));
        pages.go_on(end("")).unwrap();
        assert_eq!(asked(&pages), None);
    }

    #[test]
    fn pages_that_would_never_end_are_an_error() {
        let requests = RequestBuilder::new(&PodScope::Cluster, &PodSelectors::default());
        let mut pages = ListPages::new(&requests, &ListFreshness::MostRecent, 10);
        let mut number = 0;
        let mut end = |objects| {
            number += 1;
            let next = Some(number.to_string());
            pages.go_on(PageEnd { next, objects }).map_err(|error| error.detail)
        };
        for _ in 1..MOST_EMPTY_PAGES {
            end(0).unwrap();
        }
        end(1).unwrap();
        for _ in 1..MOST_EMPTY_PAGES {
            end(0).unwrap();
        }
        let why = end(0).unwrap_err();
        assert_eq!(why, "10000 pages in a row have no object, and the last names a further one");

        let mut pages = ListPages::new(&requests, &ListFreshness::MostRecent, 10);
        let mut same = || pages.go_on(PageEnd { next: Some("a".to_owned()), objects: 1 });
        same().unwrap();
        assert_eq!(same().unwrap_err().detail, "the same page is continued again");
    }
}
