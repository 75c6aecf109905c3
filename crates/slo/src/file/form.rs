//! The SLO file as it is written, and the names in it: of SLOs, intervals, namespaces and kinds of workloads.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_saphyr::Spanned;

use podinit_config::yaml::{SpecifiedSetting, unknown};
use podinit_core::lifecycle::{Interval, SloInterval};
use podinit_text::duration::PrometheusDuration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileForm {
    #[serde(deserialize_with = "list")]
    pub(super) slos: Spanned<Vec<Spanned<SloForm>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SloForm {
    pub(super) name: Spanned<SloName>,
    pub(super) interval: Spanned<IntervalName>,
    pub(super) threshold: Spanned<PrometheusDuration>,
    pub(super) objective: Spanned<f64>,
    pub(super) window: Spanned<PrometheusDuration>,
    #[serde(default)]
    pub(super) namespaces: SpecifiedSetting<Spanned<NamespacesForm>>,
    #[serde(default)]
    pub(super) owner_kinds: SpecifiedSetting<Spanned<Vec<Kind>>>,
    #[serde(default)]
    pub(super) grace: SpecifiedSetting<Spanned<PrometheusDuration>>,
    #[serde(default)]
    pub(super) capacity: SpecifiedSetting<Spanned<Capacity>>,
    #[serde(default)]
    pub(super) images: SpecifiedSetting<Spanned<Images>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NamespacesForm {
    pub(super) include: SpecifiedSetting<Spanned<Vec<Namespace>>>,
    pub(super) exclude: SpecifiedSetting<Spanned<Vec<Namespace>>>,
}

/// Of each thing one value can be promised.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Capacity {
    Existing,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Images {
    Present,
}

/// A name that is short, and safe wherever a label value is used (PromQL, URLs, file names).
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct SloName(pub(super) Arc<str>);

impl TryFrom<String> for SloName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let bytes = text.as_bytes();
        let is_valid = (1..=63).contains(&bytes.len()) && bytes.iter().all(inner);
        if is_valid && edge(bytes.first()) && edge(bytes.last()) {
            Ok(Self(text.into()))
        } else {
            Err("name must be 1 to 63 letters, digits and inner hyphens, underscores or dots")
        }
    }
}

/// A DNS label (RFC 1123).
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Namespace(Box<str>);

impl TryFrom<String> for Namespace {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_valid = (1..=63).contains(&text.len())
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        match is_valid {
            true => Ok(Self(text.into())),
            false => {
                Err("a namespace must be 1 to 63 lower-case letters, digits and inner hyphens")
            }
        }
    }
}

impl From<Namespace> for Box<str> {
    fn from(Namespace(text): Namespace) -> Self {
        text
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Kind(Box<str>);

impl TryFrom<String> for Kind {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_valid = (1..=63).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match is_valid {
            true => Ok(Self(text.into())),
            false => Err("must be a kind such as StatefulSet"),
        }
    }
}

impl From<Kind> for Box<str> {
    fn from(Kind(text): Kind) -> Self {
        text
    }
}

pub(super) struct IntervalName(pub(super) SloInterval);

impl<'de> Deserialize<'de> for IntervalName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // No SLO names a step of nodes ([§14.6](crate::specification#s14-6)).
        let all = &Interval::ALL[..Interval::WITHOUT_NODES];
        let found = SloInterval::from_text(&text);
        let found = found.filter(|found| found.standard().is_none_or(|one| !one.is_of_node()));
        found.map(Self).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|known| known.as_str()).collect();
            D::Error::custom(unknown("unknown interval", &text, &known))
        })
    }
}

/// A list that is not left empty by mistake.
fn list<'de, D, T>(deserializer: D) -> Result<Spanned<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Option::deserialize(deserializer)?;
    list.ok_or_else(|| D::Error::custom("slos must be a list ([] for none), is empty"))
}
