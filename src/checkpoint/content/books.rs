//! What the tracker knows besides its pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ContentError;
use super::counts::position;
use super::ids::{put_source_id, put_uid, take_source_id, take_uid};
use super::texts::{put_time, take_instant, take_second, take_time};
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::saved::{SavedDeleted, SavedTracker};
use crate::lifecycle::slo::{Namespaces, SloRule};
use crate::lifecycle::sources::{FirstList, Progress, SavedSource};
use crate::lifecycle::stage::Interval;
use crate::lifecycle::version::Version;

pub(super) fn put(out: &mut Encoder, saved: &SavedTracker) {
    put_time(out, saved.now);
    put_time(out, saved.resumed);
    out.list(&saved.sources, |out, (source, saved)| {
        put_source_id(out, *source);
        put_source(out, saved);
    });
    out.list(saved.rules.iter(), put_rule);
    out.option(saved.watermark, |out, second| out.number(second.into()));
    out.list(&saved.deleted, |out, deleted| {
        put_uid(out, deleted.uid);
        put_time(out, Some(deleted.at));
        out.number(deleted.created.into());
    });
}

pub(super) fn take(from: &mut Decoder<'_>) -> Result<SavedTracker, ContentError> {
    Ok(SavedTracker {
        now: take_time(from)?,
        resumed: take_time(from)?,
        sources: take_sources(from)?,
        rules: from.list(take_rule)?.into(),
        watermark: from.option(take_second)?,
        deleted: from.list(|from| {
            Ok::<_, ContentError>(SavedDeleted {
                uid: take_uid(from)?,
                at: take_instant(from)?,
                created: take_second(from)?,
            })
        })?,
    })
}

fn put_source(out: &mut Encoder, saved: &SavedSource) {
    match saved.first_list {
        None => out.byte(0),
        Some(FirstList::NeverHad) => out.byte(1),
        Some(FirstList::BeganAt(at)) => {
            out.byte(2);
            put_time(out, Some(at));
        }
    }
    let Progress {
        version,
        complete_at,
    } = &saved.progress;
    out.option(version.as_ref(), |out, version| {
        out.text(&version.to_string())
    });
    put_time(out, *complete_at);
}

fn take_sources(from: &mut Decoder<'_>) -> Result<BTreeMap<SourceId, SavedSource>, ContentError> {
    let sources =
        from.list(|from| Ok::<_, ContentError>((take_source_id(from)?, take_source(from)?)));
    Ok(sources?.into_iter().collect())
}

fn take_source(from: &mut Decoder<'_>) -> Result<SavedSource, ContentError> {
    let first_list = match from.byte()? {
        0 => None,
        1 => Some(FirstList::NeverHad),
        2 => Some(FirstList::BeganAt(take_instant(from)?)),
        _ => return Err(from.fail("no such kind of first list").into()),
    };
    let version = from.option(|from| Ok::<_, ContentError>(Version::from_text(from.text()?)))?;
    Ok(SavedSource {
        first_list,
        progress: Progress {
            version,
            complete_at: take_time(from)?,
        },
    })
}

fn put_rule(out: &mut Encoder, rule: &SloRule) {
    out.text(&rule.name);
    out.text(rule.interval.as_str());
    out.signed(rule.threshold_nanos);
    out.signed(rule.grace_nanos);
    let (kind, names): (u8, &[Box<str>]) = match &rule.namespaces {
        Namespaces::All => (0, &[]),
        Namespaces::Include(names) => (1, names),
        Namespaces::Exclude(names) => (2, names),
    };
    out.byte(kind);
    out.list(names, |out, name| out.text(name));
    out.list(&rule.owner_kinds, |out, kind| out.text(kind));
}

fn take_rule(from: &mut Decoder<'_>) -> Result<SloRule, ContentError> {
    let name = Arc::from(from.text()?);
    let intervals = Interval::ALL.map(Interval::as_str);
    let interval = Interval::ALL[position(from, "an SLO on", &intervals)?];
    let (threshold_nanos, grace_nanos) = (from.signed()?, from.signed()?);
    let kind = from.byte()?;
    let names = |from: &mut Decoder<'_>| {
        from.list(|from| Ok::<Box<str>, ContentError>(from.text()?.into()))
    };
    let listed = names(from)?;
    let namespaces = match kind {
        0 if listed.is_empty() => Namespaces::All,
        1 => Namespaces::Include(listed),
        2 => Namespaces::Exclude(listed),
        _ => return Err(from.fail("no such choice of namespaces").into()),
    };
    Ok(SloRule {
        name,
        interval,
        threshold_nanos,
        grace_nanos,
        namespaces,
        owner_kinds: names(from)?,
    })
}
