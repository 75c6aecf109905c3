//! Lists, page by page.

use std::collections::HashMap;

use bytes::Bytes;
use futures::stream;
use http::Response;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use crate::proof::history::Place;
use crate::proof::server::{BoxError, Reply, Server, State, status};
use crate::proof::server_faults::PageFault;
use crate::proof::shard::HashRange;

/// A list of which some pages are still to be asked for.
#[derive(Clone, Debug)]
pub struct Open {
    number: u64,
    places: Vec<Place>,
    from: usize,
}

pub fn answer(server: &Server, source: usize, query: &HashMap<&str, &str>) -> Reply {
    let mut state = server.lock();
    let state = &mut *state;
    let limit: usize = query.get("limit").and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    let token = query.get("continue");
    let fault = state.faults.page_fault(token.is_none(), &mut state.rng);
    let shard = state.sharding.answers(query, &mut state.rng);
    let open = match token {
        Some(token) => match state.lists.remove(*token) {
            Some(open)
                if open.number >= state.history.horizon && fault != Some(PageFault::Expired) =>
            {
                open
            }
            _ => return status(410, "The provided continue parameter is too old"),
        },
        None => match begin(state, source, query) {
            Ok(open) => open,
            Err(refusal) => return *refusal,
        },
    };
    if fault == Some(PageFault::Refused) {
        return status(500, "etcdserver: request timed out");
    }
    let until = open.from.saturating_add(limit).min(open.places.len());
    let rest = (until < open.places.len()).then(|| Open { from: until, ..open.clone() });
    let token = rest.map(|rest| {
        let token = format!("{}-{}-{until}", state.rng.next_u64(), open.number);
        state.lists.insert(token.clone(), rest);
        token
    });
    let body = page(state, &open, until, token.as_deref(), shard);
    // Whoever asks for one pod asks for the server's version.
    let last = token.is_none() && limit > 1;
    let server = server.clone();
    let frames = stream::unfold(0, move |sent| {
        let (server, body, open) = (server.clone(), body.clone(), open.clone());
        async move {
            match (fault, sent) {
                (Some(PageFault::Torn | PageFault::Hangs), 0) => {
                    Some((Ok(Frame::data(body.slice(..body.len() / 2))), 1))
                }
                (Some(PageFault::Torn), 1) => Some((Err(BoxError::from("connection reset")), 2)),
                (Some(PageFault::Hangs), 1) => std::future::pending().await,
                (_, 0) => {
                    if last {
                        let state = &mut *server.lock();
                        let mut places = open.places;
                        places.retain(|place| {
                            state.logs[source].covers(state.history.nature(*place))
                        });
                        state.logs[source].list(places, open.number);
                    }
                    Some((Ok(Frame::data(body)), 1))
                }
                _ => None,
            }
        }
    });
    Ok(Response::new(StreamBody::new(frames).boxed_unsync()))
}

/// The first page of a list decides its version.
fn begin(
    state: &mut State,
    source: usize,
    query: &HashMap<&str, &str>,
) -> Result<Open, Box<Reply>> {
    let newest = state.history.number();
    let asked: Option<u64> = query.get("resourceVersion").and_then(|text| text.parse().ok());
    let number = match asked {
        Some(asked) if asked > newest => {
            return Err(Box::new(status(504, "Too large resource version: ahead of the server")));
        }
        Some(asked) if state.faults.lagging => asked.max(newest - (newest - asked) / 2),
        _ => newest,
    };
    let mut places = state.history.standing(number);
    places.retain(|place| state.answers(source, None, *place));
    Ok(Open { number, places, from: 0 })
}

/// One page, without the pods of other shards if the API server shards, which it then says.
fn page(
    state: &State,
    open: &Open,
    until: usize,
    token: Option<&str>,
    shard: Option<HashRange>,
) -> Bytes {
    let mut body = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{}""#,
        open.number
    )
    .into_bytes();
    if let Some(token) = token {
        body.extend_from_slice(format!(r#","continue":"{token}""#).as_bytes());
    }
    if shard.is_some() {
        body.extend_from_slice(br#","shardInfo":{"selector":"as asked"}"#);
    }
    body.extend_from_slice(br#"},"items":["#);
    let places = open.places[open.from..until].iter();
    let places = places
        .filter(|place| shard.is_none_or(|range| range.holds(state.history.nature(**place).hash)));
    for (index, place) in places.enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(&state.history.version(*place).json);
    }
    body.extend_from_slice(b"]}");
    body.into()
}
