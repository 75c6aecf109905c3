//! Label and field selectors, as far as pods and Events need them.
//! And `shardSelector` (KEP-5866): which part of the objects a LIST or watch is about, by the hash of their UIDs.

use std::ops::Range;

use serde_json::Value;

use super::object::{ObjectKey, SelectableFields, ServedKind};

#[derive(Clone, Debug, PartialEq, Eq)]
enum SelectorRule {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SelectorRequirement {
    name: String,
    rule: SelectorRule,
}

impl SelectorRequirement {
    fn accepts(&self, value: Option<&str>) -> bool {
        let is_one_of =
            |values: &[String]| value.is_some_and(|value| values.iter().any(|one| one == value));
        match &self.rule {
            SelectorRule::In(values) => is_one_of(values),
            SelectorRule::NotIn(values) => !is_one_of(values),
            SelectorRule::Exists => value.is_some(),
            SelectorRule::Absent => value.is_none(),
        }
    }
}

/// A conjunction of requirements; the empty one accepts everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Selector {
    labels: Vec<SelectorRequirement>,
    fields: Vec<SelectorRequirement>,
}

impl Selector {
    /// Parses `labelSelector` and `fieldSelector`; the error is the message of the API's answer.
    pub(crate) fn parse(
        resource: ServedKind,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> Result<Self, String> {
        let labels = split_terms(labels.unwrap_or_default()).map(label_requirement);
        let fields = split_terms(fields.unwrap_or_default());
        Ok(Self {
            labels: labels.collect::<Result<_, _>>()?,
            fields: (fields.map(|term| field_requirement(resource, term)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether it accepts everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether it accepts the object at `key`.
    pub(crate) fn matches(&self, key: &ObjectKey, object: &SelectableFields) -> bool {
        let label = |wanted: &str| {
            let mut labels = object.labels.iter();
            labels.find_map(|(name, value)| (name == wanted).then_some(value.as_str()))
        };
        let field = |wanted: &str| match wanted {
            "metadata.name" => &*key.name,
            "metadata.namespace" => &*key.namespace,
            _ => (object.fields.iter())
                .find_map(|(name, value)| (*name == wanted).then_some(value.as_str()))
                .unwrap_or_default(),
        };
        self.labels.iter().all(|one| one.accepts(label(&one.name)))
            && (self.fields.iter()).all(|one| one.accepts(Some(field(&one.name))))
    }
}

/// Splits at commas that are not within parentheses.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|term| !term.is_empty())
}

fn label_requirement(term: &str) -> Result<SelectorRequirement, String> {
    if let Some((name, values)) = term.split_once(" notin ") {
        return Ok(requirement(name, SelectorRule::NotIn(set(values)?)));
    }
    if let Some((name, values)) = term.split_once(" in ") {
        return Ok(requirement(name, SelectorRule::In(set(values)?)));
    }
    if let Some(equality) = equality(term) {
        return Ok(equality);
    }
    let (name, rule) = match term.strip_prefix('!') {
        Some(name) => (name.trim(), SelectorRule::Absent),
        None => (term, SelectorRule::Exists),
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("unable to parse requirement: found '{term}'"));
    }
    Ok(requirement(name, rule))
}

fn field_requirement(resource: ServedKind, term: &str) -> Result<SelectorRequirement, String> {
    let equality = equality(term)
        .ok_or_else(|| format!("invalid selector: '{term}'; can't understand '{term}'"))?;
    let name = equality.name.as_str();
    let known = ["metadata.name", "metadata.namespace"].contains(&name);
    match known || resource.fields().contains(&name) {
        true => Ok(equality),
        false => Err(format!("field label not supported: {name}")),
    }
}

fn requirement(name: &str, rule: SelectorRule) -> SelectorRequirement {
    SelectorRequirement { name: name.trim().to_owned(), rule }
}

/// `name=value`, `name==value` or `name!=value`
fn equality(term: &str) -> Option<SelectorRequirement> {
    let owned = |value: &str| vec![value.trim().to_owned()];
    if let Some((name, value)) = term.split_once("!=") {
        return Some(requirement(name, SelectorRule::NotIn(owned(value))));
    }
    let (name, value) = term.split_once("==").or_else(|| term.split_once('='))?;
    Some(requirement(name, SelectorRule::In(owned(value))))
}

/// `(a, b)`
fn set(text: &str) -> Result<Vec<String>, String> {
    let values = text.trim().strip_prefix('(').and_then(|set| set.strip_suffix(')'));
    let values = values
        .ok_or_else(|| format!("unable to parse requirement: found '{text}', expected: '('"))?;
    Ok(values.split(',').map(|value| value.trim().to_owned()).collect())
}

/// `shardRange(object.metadata.uid,'0x…','0x…')`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShardSelector {
    text: String,
    hashes: Range<u128>,
}

impl ShardSelector {
    /// Parses a selector; the error is the message of the API's answer.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("unable to parse shardSelector {text:?}");
        let arguments = text
            .strip_prefix("shardRange(object.metadata.uid,")
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(wrong)?;
        let (start, end) = arguments.split_once(',').ok_or_else(wrong)?;
        let hashes = bound(start).zip(bound(end)).ok_or_else(wrong)?;
        Ok(Self { text: text.to_owned(), hashes: hashes.0..hashes.1 })
    }

    /// As the answer repeats it.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the object with this JSON is selected. One without a UID is hashed as an empty text.
    pub(super) fn matches(&self, json: &[u8]) -> bool {
        let object: Value = serde_json::from_slice(json).unwrap_or_default();
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        (self.hashes).contains(&u128::from(fnv1a(uid.as_bytes())))
    }
}

/// A number as `'0x` and 16 lower-case hexadecimal digits, or 17 for the end of all.
fn bound(text: &str) -> Option<u128> {
    let digits = text.trim().strip_prefix("'0x")?.strip_suffix('\'')?;
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let formed = digits.bytes().all(lower) && matches!(digits.len(), 16 | 17);
    let number = u128::from_str_radix(digits, 16).ok()?;
    (formed && number <= 1 << 64).then_some(number)
}

/// FNV-1a, as the API server computes it: written here once more, so that the simulation does not agree
/// with the program by construction.
fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 14_695_981_039_346_656_037_u64;
    for byte in bytes {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;

    fn accepts(labels: &str, fields: &str) -> bool {
        let object = SelectableFields {
            labels: Arc::from([("app".to_owned(), "web".to_owned())]),
            fields: vec![
                ("spec.nodeName", "node-1".to_owned()),
                ("status.phase", "Running".to_owned()),
            ],
        };
        Selector::parse(ServedKind::Pods, Some(labels), Some(fields))
            .unwrap()
            .matches(&ObjectKey::new("shop", "web-1"), &object)
    }

    #[test]
    fn label_selectors_are_equality_based_and_set_based() {
        for accepted in [
            "",
            "app=web",
            "app==web",
            "app",
            "!tier",
            "app!=db",
            "tier!=x",
            "app in (db, web)",
            "app notin (db),!tier",
            "tier notin (a)",
        ] {
            assert!(accepts(accepted, ""), "{accepted}");
        }
        for refused in
            ["app=db", "app!=web", "!app", "tier", "app in (db)", "app notin (web)", "app,tier"]
        {
            assert!(!accepts(refused, ""), "{refused}");
        }
    }

    #[test]
    fn field_selectors_know_the_fields_of_pods() {
        assert!(accepts("", "metadata.name=web-1,metadata.namespace==shop"));
        assert!(accepts("", "spec.nodeName=node-1,status.phase!=Pending"));
        assert!(!accepts("", "status.phase=Pending"));
    }

    #[test]
    fn events_are_selected_by_what_they_are_about() {
        let event = SelectableFields {
            fields: vec![("involvedObject.kind", "Pod".to_owned())],
            ..SelectableFields::default()
        };
        let accepts = |fields| {
            let selector = Selector::parse(ServedKind::Events, None, Some(fields)).unwrap();
            selector.matches(&ObjectKey::new("shop", "web-1.18a"), &event)
        };
        assert!(accepts("involvedObject.kind=Pod") && !accepts("involvedObject.kind=Node"));
        assert!(Selector::parse(ServedKind::Events, None, Some("status.phase=x")).is_err());
    }

    #[test]
    fn what_cannot_be_parsed_is_an_error() {
        for (labels, fields) in [("a b", ""), ("a in b", ""), ("", "x"), ("", "spec.color=red")] {
            assert!(Selector::parse(ServedKind::Pods, Some(labels), Some(fields)).is_err());
        }
    }
}

#[cfg(test)]
mod shard_selector_tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_object_is_selected_by_the_hash_of_its_uid() {
        let matches = |range: &str, uid: &str| {
            let text = format!("shardRange(object.metadata.uid,{range})");
            let json = format!(r#"{{"spec":{{}},"metadata":{{"uid":"{uid}"}}}}"#);
            ShardSelector::parse(&text).unwrap().matches(json.as_bytes())
        };
        // The published hash of `foobar`.
        assert!(matches("'0x85944171f73967e8','0x85944171f73967e9'", "foobar"));
        assert!(!matches("'0x85944171f73967e9','0x10000000000000000'", "foobar"));
        assert!(!matches("'0x0000000000000000','0x85944171f73967e8'", "foobar"));
        assert!(matches("'0xcbf29ce484222325','0x10000000000000000'", ""));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "shardRange(object.metadata.name,'0x0000000000000000','0x8000000000000000')",
            "shardRange(object.metadata.uid,'0x0','0x8000000000000000')",
            "shardRange(object.metadata.uid,'0x0000000000000000','0x800000000000000A')",
            "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000001')",
            "shardRange(object.metadata.uid,0x0000000000000000,0x8000000000000000)",
        ] {
            assert!(ShardSelector::parse(text).is_err(), "{text}");
        }
    }
}
