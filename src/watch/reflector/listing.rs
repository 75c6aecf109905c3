//! The lists of a list-watch: repeated until one completes, as streams or in pages.

use tokio::time::sleep;

use super::Reflector;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::watch::list::{CompleteList, Lister};
use crate::watch::outlet::Closed;
use crate::watch::requests::Freshness;
use crate::watch::stats::WatchErrorReason;
use crate::watch::streamed_list::Unstreamed;
use crate::watch::version::Position;

impl Reflector {
    /// Lists until a list completes that is no older than `known`.
    pub(super) async fn list(&mut self, known: Option<&Position>) -> Result<Position, Closed> {
        let mut freshness = known.map_or(Freshness::MostRecent, |known| {
            Freshness::NotOlderThan(known.as_str().to_owned())
        });
        loop {
            let began = self.outlet.now();
            match self.list_once(&freshness).await {
                Ok(CompleteList { pods, version }) => {
                    self.health.listed(pods.len());
                    let position = Position::of_list(version);
                    let most_recent = freshness == Freshness::MostRecent;
                    if most_recent && known.is_some_and(|known| position.is_behind(known)) {
                        self.outlet.rolled_back().await?;
                    }
                    self.outlet.listed(pods, began, position.version()).await?;
                    return Ok(position);
                }
                Err(failure) => {
                    self.count(&failure);
                    let refused = matches!(
                        failure.kind,
                        ApiErrorKind::Rejected | ApiErrorKind::Gone | ApiErrorKind::VersionAhead
                    );
                    if refused && freshness != Freshness::MostRecent {
                        // A quorum read is at least as recent as anything ever seen, unless the
                        // API server was rolled back, and then it is the truth.
                        freshness = Freshness::MostRecent;
                        continue;
                    }
                    sleep(self.wait_after(&failure)).await;
                }
            }
        }
    }

    /// Lists once: as a stream where that is wanted and offered, else in pages.
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
            self.outlet.stats().count_errors(reason, 1);
            let for_good = self.streaming.fell_back(refused);
            self.health.unstreamed(&failure, for_good);
        }
        self.lister().list(freshness).await
    }

    /// Whether the API server is behind our position: it was restored from a backup. Such a server
    /// accepts a watch from the future and stays silent until it gets there, so a silence that
    /// lasts has to be looked into.
    pub(super) async fn is_ahead_of_server(&mut self, position: &Position) -> Result<bool, Closed> {
        match self.lister().current_version().await {
            Ok(version) => {
                let theirs = version.map(Position::of_list);
                Ok(theirs.is_some_and(|theirs| theirs.is_behind(position)))
            }
            Err(failure) => {
                self.count(&failure);
                self.outlet.lose_sync().await?;
                sleep(self.wait_after(&failure)).await;
                Ok(false)
            }
        }
    }

    fn lister(&mut self) -> Lister<'_> {
        Lister {
            client: &self.client,
            requests: &self.requests,
            config: &self.config,
            decoder: &mut self.decoder,
            outlet: &mut self.outlet,
        }
    }
}
