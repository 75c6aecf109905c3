//! Two versions of some types: what one writes, the other reads.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Values;
use super::shapes::{Corrupt, Saved, Shape, Shapes};

mod earlier {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub(super) struct Pod {
        pub number: u32,
        pub name: Option<String>,
        pub causes: Vec<Cause>,
        pub last: Option<Cause>,
        pub times: BTreeMap<u16, Node>,
        pub pair: (u8, i64),
        pub four: [u8; 4],
        pub flag: bool,
        pub gone: String,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(super) enum Cause {
        Image,
        Queue(u16),
        Node { name: String, since: u64 },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Node {
        pub name: String,
        #[serde(default)]
        pub age: u64,
    }
}

mod later {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub(super) struct Pod {
        pub added: Vec<Option<Added>>,
        pub flag: bool,
        pub name: Option<String>,
        pub pair: (u8, i64),
        pub causes: Vec<Cause>,
        pub last: Option<Cause>,
        pub times: BTreeMap<u16, Node>,
        pub number: u64,
        pub four: [u8; 4],
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(super) enum Cause {
        Volume(u8),
        Image,
        Node { since: u64, more: (), name: String },
        Queue(u16),
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Added {
        pub text: String,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Node {
        #[serde(default)]
        pub zone: String,
        pub name: String,
    }
}

impl Saved for earlier::Pod {
    const NAME: &'static str = "Pod";
}

impl Saved for later::Pod {
    const NAME: &'static str = "Pod";
}

/// What `T` reads of what `S` has written, and how much of it was skipped.
fn read<S: Saved, T: Saved>(written: &S) -> (Option<T>, u64) {
    let (theirs, ours) = (Shapes::default().with::<S>(), Shapes::default().with::<T>());
    let theirs: Shapes = postcard::from_bytes(&postcard::to_allocvec(&theirs).unwrap()).unwrap();
    let bytes = postcard::to_allocvec(written).unwrap();
    let mut values = Values::new(&bytes, &theirs, &ours);
    let read = values.next().unwrap();
    assert!(values.is_at_end());
    (read, values.skipped())
}

fn later_pod() -> later::Pod {
    let node = |name: &str| later::Node { zone: "b".into(), name: name.into() };
    later::Pod {
        added: vec![None, Some(later::Added { text: "more".into() })],
        flag: true,
        name: Some("web-0".into()),
        pair: (7, -8),
        causes: vec![
            later::Cause::Queue(3),
            later::Cause::Volume(4),
            later::Cause::Node { since: 5, more: (), name: "n".into() },
            later::Cause::Image,
        ],
        last: Some(later::Cause::Volume(9)),
        times: [(2, node("two")), (300, node("three"))].into(),
        number: 70_000,
        four: [1, 2, 3, 4],
    }
}

#[test]
fn an_earlier_version_reads_what_a_later_one_has_written() {
    let node = |name: &str| earlier::Node { name: name.into(), age: 0 };
    let expected = earlier::Pod {
        number: 70_000,
        name: Some("web-0".into()),
        causes: vec![
            earlier::Cause::Queue(3),
            earlier::Cause::Node { name: "n".into(), since: 5 },
            earlier::Cause::Image,
        ],
        last: None,
        times: [(2, node("two")), (300, node("three"))].into(),
        pair: (7, -8),
        four: [1, 2, 3, 4],
        flag: true,
        gone: String::new(),
    };
    // The field `added`, two zones, one field of a variant, and two values.
    assert_eq!(read(&later_pod()), (Some(expected), 6));
}

#[test]
fn a_later_version_reads_what_an_earlier_one_has_written() {
    let written = earlier::Pod {
        number: 3,
        causes: vec![earlier::Cause::Queue(3), earlier::Cause::Image],
        times: [(1, earlier::Node { name: "one".into(), age: 2 })].into(),
        gone: "with the later version".into(),
        ..earlier::Pod::default()
    };
    let expected = later::Pod {
        number: 3,
        causes: vec![later::Cause::Queue(3), later::Cause::Image],
        times: [(1, later::Node { zone: String::new(), name: "one".into() })].into(),
        ..later::Pod::default()
    };
    assert_eq!(read(&written), (Some(expected), 2));
}

#[test]
fn a_version_reads_what_it_has_written() {
    assert_eq!(read(&later_pod()), (Some(later_pod()), 0));
}

#[test]
fn a_number_that_is_too_large_is_skipped() {
    let written = later::Pod { number: 1 << 40, ..later::Pod::default() };
    let (read, skipped) = read::<_, earlier::Pod>(&written);
    assert_eq!((read.unwrap().number, skipped), (0, 2));
}

/// What is read of these bytes, where the file says that a pod is of this shape.
fn of_shape(shape: Shape, bytes: &[u8]) -> Result<Option<earlier::Pod>, Corrupt> {
    let theirs = Shapes([("Pod".to_owned(), shape)].into());
    let ours = Shapes::default().with::<earlier::Pod>();
    Values::new(bytes, &theirs, &ours).next()
}

#[test]
fn shapes_that_no_podinit_writes_take_neither_time_nor_memory() {
    let named = || Box::new(Shape::Named("Pod".into()));
    for shape in [
        Shape::Named("Pod".into()),
        Shape::Named("no such type".into()),
        Shape::Sequence(Box::new(Shape::Unit)),
        Shape::Array(Box::new(Shape::Unit), u32::MAX),
        Shape::Array(named(), 2),
        Shape::Option(named()),
        Shape::Enum(Vec::new()),
        Shape::Text,
    ] {
        let read = of_shape(shape.clone(), &[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1, 1]);
        assert!(read.is_err(), "{shape:?}: {read:?}");
    }
    assert_eq!(of_shape(Shape::Unit, &[]), Ok(None));
}
