//! Whose pods a checkpoint is about.

use super::ContentError;
use crate::checkpoint::codec::{Decoder, Encoder};

/// The cluster, and which of its pods were watched in which way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// A fingerprint of the API server's URL
    pub server: [u8; 32],
    /// A fingerprint of the certificates that it was trusted by
    pub authority: [u8; 32],
    /// By source
    pub watched: Vec<Watched>,
    /// The keys of the pod labels whose values the pods carry
    pub pod_labels: Vec<String>,
}

/// What one list-watch covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The namespace; `None` for all
    pub namespace: Option<String>,
    /// The label selector
    pub label: Option<String>,
    /// The field selector
    pub field: Option<String>,
}

impl Origin {
    pub(super) fn put(&self, out: &mut Encoder) {
        out.raw(&self.server);
        out.raw(&self.authority);
        out.list(&self.watched, |out, watched| {
            for text in [&watched.namespace, &watched.label, &watched.field] {
                out.option(text.as_deref(), Encoder::text);
            }
        });
        out.list(&self.pod_labels, |out, key| out.text(key));
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Result<Self, ContentError> {
        let text = |from: &mut Decoder<'_>| {
            from.option(|from| Ok::<_, ContentError>(from.text()?.to_owned()))
        };
        Ok(Self {
            server: fingerprint(from)?,
            authority: fingerprint(from)?,
            watched: from.list(|from| {
                Ok::<_, ContentError>(Watched {
                    namespace: text(from)?,
                    label: text(from)?,
                    field: text(from)?,
                })
            })?,
            pod_labels: from.list(|from| Ok::<_, ContentError>(from.text()?.to_owned()))?,
        })
    }
}

fn fingerprint(from: &mut Decoder<'_>) -> Result<[u8; 32], ContentError> {
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(from.raw(32)?);
    Ok(fingerprint)
}
