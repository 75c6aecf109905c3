//! The lists of a list-watch: repeated until one completes, as streams or in pages.

use tokio::time::sleep;

use super::Reflector;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::watch::delivery_sender::Closed;
use crate::watch::paged_list::{CompleteList, Lister};
use crate::watch::requests::Freshness;
use crate::watch::resume_point::ResumePoint;
use crate::watch::stats::WatchErrorReason;
use crate::watch::streamed_list::Unstreamed;

impl Reflector {
    /// Lists until a list completes that is no older than `known`.
    pub(super) async fn list(
        &mut self,
        known: Option<&ResumePoint>,
    ) -> Result<ResumePoint, Closed> {
        let mut freshness = known.map_or(Freshness::MostRecent, |known| {
            Freshness::NotOlderThan(known.as_str().to_owned())
        });
        loop {
            let began = self.sender.now();
            match self.list_once(&freshness).await {
                Ok(CompleteList { pods, version }) => {
                    self.log.listed(pods.len());
                    let resume_point = ResumePoint::of_list(version);
                    let most_recent = freshness == Freshness::MostRecent;
                    if most_recent && known.is_some_and(|known| resume_point.is_behind(known)) {
                        self.sender.rolled_back().await?;
                    }
                    self.sender
                        .listed(pods, began, resume_point.version())
                        .await?;
                    return Ok(resume_point);
                }
                Err(failure) => {
                    self.count(&failure);
                    let refused = matches!(
                        failure.kind,
                        ApiErrorKind::Rejected | ApiErrorKind::Gone | ApiErrorKind::VersionAhead
                    );
                    if refused && freshness != Freshness::MostRecent {
                        // A quorum read is at least as recent as anything ever seen, unless the
                        // API server was rolled back; then it is the new state.
                        freshness = Freshness::MostRecent;
                        continue;
                    }
                    sleep(self.wait_after(&failure)).await;
                }
            }
        }
    }

    /// Lists once: as a stream if that is configured and offered, else in pages.
    async fn list_once(&mut self, freshness: &Freshness) -> Result<CompleteList, ApiError> {
        if self.streaming.wanted() {
            let (failure, refused) = match self.lister().stream(freshness).await {
                Ok(list) => {
                    self.streaming.completed();
                    return Ok(list);
                }
                Err(Unstreamed::Failed(failure)) => return Err(failure),
                Err(Unstreamed::Cut(failure)) if !self.streaming.was_cut() => return Err(failure),
                Err(Unstreamed::Cut(failure)) => {
                    self.count(&failure);
                    (failure, false)
                }
                Err(Unstreamed::Endless(failure)) => (failure, false),
                Err(Unstreamed::Refused(failure)) => (failure, true),
            };
            let reason = WatchErrorReason::WatchList;
            self.sender.stats().count_errors(reason, 1);
            let for_good = self.streaming.fell_back(refused);
            self.log.unstreamed(&failure, for_good);
        }
        self.lister().list(freshness).await
    }

    /// Whether the API server is behind our resume point, because it was restored from a backup. Such a
    /// server accepts a watch from a future version and stays silent until it reaches that, so a long
    /// silence has to be checked.
    pub(super) async fn is_ahead_of_server(
        &mut self,
        resume_point: &ResumePoint,
    ) -> Result<bool, Closed> {
        match self.lister().current_version().await {
            Ok(version) => {
                let theirs = version.map(ResumePoint::of_list);
                Ok(theirs.is_some_and(|theirs| theirs.is_behind(resume_point)))
            }
            Err(failure) => {
                self.count(&failure);
                self.sender.lose_sync().await?;
                sleep(self.wait_after(&failure)).await;
                Ok(false)
            }
        }
    }

    fn lister(&mut self) -> Lister<'_> {
        Lister {
            client: &self.client,
            requests: &self.requests,
            negotiation: &self.negotiation,
            config: &self.config,
            decoder: &mut self.decoder,
            sender: &mut self.sender,
            server_shards: &mut self.server_shards,
        }
    }
}
