//! The lists of a list-watch: repeated until one completes, in one answer, as streams or in pages.

use tokio::time::Instant;

use super::Reflector;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::watch::config::ListMode;
use crate::watch::delivery_sender::ReceiverGone;
use crate::watch::follow::WatchSink;
use crate::watch::paged_list::{CompleteList, ListRequester};
use crate::watch::requests::ListFreshness;
use crate::watch::resume_point::ResumePoint;
use crate::watch::stats::{RelistReason, WatchErrorReason};
use crate::watch::streamed_list::StreamedListError;
use crate::watch::whole_list::WholeListError;

impl Reflector {
    /// Lists until a list completes that is no older than `known`, where the watch was lost.
    pub(super) async fn list(
        &mut self,
        known: Option<&ResumePoint>,
    ) -> Result<ResumePoint, ReceiverGone> {
        let mut freshness = self.freshness(known);
        let asked = Instant::now();
        loop {
            let began = self.pods.sender.now();
            let listed = self.list_once(&freshness).await;
            match listed.and_then(|list| not_older(list, &freshness)) {
                Ok(CompleteList { pods, version }) => {
                    self.pods.log.listed(pods.len());
                    let resume_point = ResumePoint::of_list(version);
                    let most_recent = freshness == ListFreshness::MostRecent;
                    let older = known.is_some_and(|known| resume_point.is_behind(known));
                    if most_recent && older {
                        self.pods.sender.rolled_back().await?;
                    }
                    self.pods.signs.listed(older);
                    self.listed_in = asked.elapsed();
                    self.pods.sender.listed(pods, began, resume_point.version()).await?;
                    if let Some(reconciliation) = &mut self.pods.reconciliation {
                        reconciliation.listed();
                    }
                    return Ok(resume_point);
                }
                Err(failure) => {
                    self.count(&failure);
                    self.pods.sender.lose_sync().await?;
                    let refused = matches!(
                        failure.kind,
                        ApiErrorKind::Rejected
                            | ApiErrorKind::Gone
                            | ApiErrorKind::VersionAhead
                            | ApiErrorKind::NoVersion
                    );
                    if refused && freshness != ListFreshness::MostRecent {
                        if failure.kind == ApiErrorKind::VersionAhead {
                            // One of several API servers may lag.
                            self.watch.rest(&failure).await;
                        }
                        if failure.kind == ApiErrorKind::NoVersion {
                            let stats = self.pods.sender.stats();
                            stats.count_relist(RelistReason::UnusableVersion);
                        }
                        // A quorum read is at least as recent as anything ever seen, unless the
                        // API server was rolled back; then it is the new state.
                        freshness = ListFreshness::MostRecent;
                        continue;
                    }
                    self.watch.rest(&failure).await;
                }
            }
        }
    }

    /// How recent the first list has to be, or the one after `known`. A version that cannot be used is not sent.
    fn freshness(&self, known: Option<&ResumePoint>) -> ListFreshness {
        match known {
            Some(known) if known.number().is_none() || self.pods.signs.asks_for_most_recent() => {
                ListFreshness::MostRecent
            }
            Some(known) => ListFreshness::NotOlderThan(known.as_str().to_owned()),
            // Pages are never of the cache at version 0: it would ignore their limit.
            None if self.watch.config.lists == ListMode::Whole && !self.most_recent_first => {
                ListFreshness::Any
            }
            None => ListFreshness::MostRecent,
        }
    }

    /// Lists once: as configured while that works, else in pages.
    async fn list_once(&mut self, freshness: &ListFreshness) -> Result<CompleteList, ApiError> {
        match self.watch.config.lists {
            _ if !self.fallback.wanted() => self.lister().list(freshness).await,
            ListMode::Pages => self.lister().list(freshness).await,
            ListMode::Stream => self.list_as_stream(freshness).await,
            // The most recent state may have to be read from etcd, where pages cost less.
            ListMode::Whole if *freshness == ListFreshness::MostRecent => {
                self.lister().list(freshness).await
            }
            ListMode::Whole => self.list_whole(freshness).await,
        }
    }

    /// Lists with one request, or in pages where its answer is too long for anything in between.
    async fn list_whole(&mut self, freshness: &ListFreshness) -> Result<CompleteList, ApiError> {
        let failure = match self.lister().whole(freshness).await {
            Ok(list) => {
                self.fallback.completed();
                return Ok(list);
            }
            Err(WholeListError::Failed(failure)) => return Err(failure),
            Err(WholeListError::Cut(failure)) if !self.fallback.was_cut() => return Err(failure),
            Err(WholeListError::Cut(failure) | WholeListError::Unsuitable(failure)) => failure,
        };
        self.count(&failure);
        let for_good = self.fallback.fell_back(false);
        self.pods.log.in_pages(&failure, for_good);
        self.lister().list(freshness).await
    }

    /// Lists as a stream, or in pages where the API server offers none. A stream that fails is no reason to stay
    /// without a list, whatever the failure is.
    async fn list_as_stream(
        &mut self,
        freshness: &ListFreshness,
    ) -> Result<CompleteList, ApiError> {
        let (failure, refused) = match self.lister().stream(freshness).await {
            Ok(list) => {
                self.fallback.completed();
                return Ok(list);
            }
            Err(StreamedListError::Failed(failure)) if !self.fallback.was_cut() => {
                return Err(failure);
            }
            Err(StreamedListError::Failed(failure)) => {
                self.count(&failure);
                (failure, false)
            }
            Err(StreamedListError::Endless(failure)) => (failure, false),
            // What is refused may also be the version.
            Err(StreamedListError::Refused(failure)) => {
                (failure, !matches!(freshness, ListFreshness::NotOlderThan(_)))
            }
        };
        let listed = self.lister().list(freshness).await;
        // Where pages fail as well, the stream was not the reason.
        if refused || listed.is_ok() {
            let reason = WatchErrorReason::WatchList;
            self.pods.sender.stats().count_errors(reason, 1);
            let for_good = self.fallback.fell_back(refused);
            self.pods.log.unstreamed(&failure, for_good);
        }
        listed
    }

    fn lister(&mut self) -> ListRequester<'_> {
        self.pods.lister(&mut self.watch)
    }

    fn count(&mut self, failure: &ApiError) {
        self.pods.failed(failure, false);
    }
}

/// The list, unless it is older than it was asked to be.
fn not_older(list: CompleteList, freshness: &ListFreshness) -> Result<CompleteList, ApiError> {
    let ListFreshness::NotOlderThan(asked) = freshness else {
        return Ok(list);
    };
    let known = ResumePoint::of_list(asked.clone());
    match ResumePoint::of_list(list.version.clone()).is_behind(&known) {
        true => {
            let detail = format!("a list of version {} after {asked}", list.version);
            Err(ApiError::new(ApiErrorKind::VersionAhead, detail))
        }
        false => Ok(list),
    }
}
