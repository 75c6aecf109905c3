//! Records as an exporter is given them.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::client::RecordsClient;
use super::queries::{self, RecordQueries};
use super::store::RecordStore;
use podinit_core::lifecycle::{EndedRollout, EndedStartup, RecordAmendment, Tracker};
use podinit_core::pod::PodUid;
use podinit_exporter::records::{CheckpointRecords, RecordKeeper};

/// What keeps the records of an exporter, and who asks for them.
pub fn keeper() -> (RecordsClient, Box<dyn RecordKeeper>) {
    let (client, queries) = queries::channel();
    (client, Box::new(KeptRecordStore { store: RecordStore::default(), queries }))
}

/// The records, and the questions about them.
struct KeptRecordStore {
    store: RecordStore,
    queries: RecordQueries,
}

impl RecordKeeper for KeptRecordStore {
    fn add(&mut self, startup: Arc<EndedStartup>) {
        self.store.add(startup);
    }

    fn amend(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        self.store.amend(uid, amendment);
    }

    fn add_rollout(&mut self, rollout: EndedRollout) {
        self.store.add_rollout(rollout);
    }

    fn kept(&self) -> CheckpointRecords {
        self.store.kept()
    }

    fn restore(&mut self, kept: CheckpointRecords) {
        self.store = RecordStore::restored(kept);
    }

    fn begin(&mut self) {
        self.queries.begin();
    }

    fn poll_asked(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.queries.poll_waiting(context)
    }

    fn step(&mut self, tracker: &Tracker) {
        self.queries.step(tracker, &self.store);
    }
}
