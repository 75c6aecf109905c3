//! Lists and watches the objects of any resource, for a command that waits for what they say. Each is passed on as the
//! JSON that the API server sent.

use std::borrow::Cow;
use std::convert::Infallible;

use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::config::ReflectorConfig;
use super::delivery_sender::ReceiverGone;
use super::evidence::{DecodedLine, EvidenceKind, EvidenceLine, EvidenceSink};
use super::evidence_log::EvidenceLog;
use super::follow::{WatchLoop, WatchSink};
use super::pages::{ListPages, PageEnd, watch_version};
use super::requests::{ListFreshness, RequestBuilder};
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use crate::cluster::api_error::ApiError;
use podinit_decode::{ApiStatus, ObjectEncoding};

/// What a list-watch of objects says.
#[derive(Debug)]
pub enum ObjectNews {
    /// All of them, at the beginning and after a gap
    Listed(Vec<Box<RawValue>>),
    /// One was added or modified
    Applied(Box<RawValue>),
    /// One was deleted: its last state
    Deleted(Box<RawValue>),
    /// They cannot be read now; it is tried again
    Unread(ApiError),
}

/// What is listed and watched.
#[derive(Clone, Debug)]
pub struct ObjectSource {
    /// As sentences call it
    pub what: &'static str,
    /// The resource, as rights name it
    pub resource: &'static str,
    pub requests: RequestBuilder,
}

/// Starts a list-watch of objects as one of `tasks`, which sends what `news` makes of them. It ends when the receiver is
/// gone or the task is aborted, and never otherwise.
pub fn spawn<M: Send + 'static>(
    client: &Client,
    source: ObjectSource,
    config: ReflectorConfig,
    to: mpsc::Sender<M>,
    news: impl Fn(ObjectNews) -> M + Send + Sync + 'static,
    tasks: &mut JoinSet<()>,
) {
    let mut follower = ObjectFollower {
        watch: WatchLoop::new(client.clone(), source.requests, config),
        objects: EvidenceSink {
            evidence: ObjectDestination { to, news },
            log: EvidenceLog::required(source.what, source.resource),
            signs: WatchSigns::default(),
        },
    };
    tasks.spawn(async move {
        // The receiver is gone: so is the command.
        let _ = follower.run().await;
    });
}

struct ObjectFollower<M, F> {
    watch: WatchLoop,
    objects: EvidenceSink<ObjectDestination<M, F>>,
}

impl<M, F: Fn(ObjectNews) -> M> ObjectFollower<M, F> {
    /// Lists and watches until the receiver is gone.
    async fn run(&mut self) -> Result<Infallible, ReceiverGone> {
        loop {
            let mut resume_point = self.list().await?;
            let following = self.watch.follow(&mut self.objects, &mut resume_point, false);
            following.await?;
            sleep(self.watch.backoff.after_interruption()).await;
        }
    }

    /// Lists all of them, however long it takes.
    async fn list(&mut self) -> Result<ResumePoint, ReceiverGone> {
        loop {
            match self.pages().await {
                Ok((objects, version)) => {
                    self.objects.evidence.send(ObjectNews::Listed(objects)).await?;
                    self.objects.signs.listed(false);
                    return Ok(ResumePoint::of_list(version));
                }
                Err(failure) => {
                    self.objects.failed(&failure, false);
                    self.watch.rest(&failure).await;
                }
            }
        }
    }

    /// All of them, and the version from which a watch goes on.
    async fn pages(&mut self) -> Result<(Vec<Box<RawValue>>, String), ApiError> {
        let (freshness, limit) = (ListFreshness::MostRecent, self.watch.config.page_limit);
        let mut pages = ListPages::new(&self.watch.requests, &freshness, limit);
        let (mut objects, mut version) = (Vec::new(), None);
        while let Some(request) = pages.request()? {
            let fetched = self.watch.fetch(request).await;
            let Some((_, body)) = pages.fetched(fetched)? else {
                continue;
            };
            let page: ObjectPage = serde_json::from_slice(&body).map_err(ApiError::malformed)?;
            let items = page.items.unwrap_or_default();
            let next = page.metadata.continue_token;
            pages.go_on(PageEnd { next, objects: items.len() })?;
            objects.extend(items);
            version = page.metadata.resource_version;
        }
        Ok((objects, watch_version(version)?))
    }
}

/// Where the objects go.
struct ObjectDestination<M, F> {
    to: mpsc::Sender<M>,
    news: F,
}

impl<M, F: Fn(ObjectNews) -> M> ObjectDestination<M, F> {
    async fn send(&self, news: ObjectNews) -> Result<(), ReceiverGone> {
        self.to.send((self.news)(news)).await.map_err(|_| ReceiverGone)
    }
}

impl<M, F: Fn(ObjectNews) -> M> EvidenceKind for ObjectDestination<M, F> {
    type Event = ObjectLine;

    fn set_up(&self, _up: bool) {}

    fn decode(
        &mut self,
        _encoding: ObjectEncoding,
        event: &[u8],
    ) -> DecodedLine<EvidenceLine<Self::Event>> {
        let line: ObjectLine = serde_json::from_slice(event)?;
        let head: ObjectHead<'_> = serde_json::from_str(line.object.get())?;
        let version = head.metadata.resource_version.map(Cow::into_owned);
        Ok((version, line))
    }

    fn list_version(
        &mut self,
        _encoding: ObjectEncoding,
        list: &[u8],
    ) -> DecodedLine<Option<String>> {
        Ok(serde_json::from_slice::<ObjectPage>(list)?.metadata.resource_version)
    }

    async fn take(&mut self, line: ObjectLine) -> Result<Option<ApiStatus>, ReceiverGone> {
        match &*line.kind {
            "ADDED" | "MODIFIED" => self.send(ObjectNews::Applied(line.object)).await?,
            "DELETED" => self.send(ObjectNews::Deleted(line.object)).await?,
            "ERROR" => {
                return Ok(Some(serde_json::from_str(line.object.get()).unwrap_or_default()));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Where the queue is full, something can be read.
    fn down(&mut self, failure: &ApiError) {
        let _ = self.to.try_send((self.news)(ObjectNews::Unread(failure.clone())));
    }
}

#[derive(Deserialize)]
struct ObjectPage {
    #[serde(default)]
    metadata: PageMetadata,
    items: Option<Vec<Box<RawValue>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMetadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
}

/// An event of a watch.
#[derive(Deserialize)]
struct ObjectLine {
    #[serde(rename = "type")]
    kind: String,
    object: Box<RawValue>,
}

#[derive(Deserialize)]
struct ObjectHead<'a> {
    #[serde(borrow, default)]
    metadata: ObjectMetadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMetadata<'a> {
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
}
