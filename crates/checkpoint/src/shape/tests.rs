//! Two versions of some types: what one writes, the other reads.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SectionValues;
use super::shapes::{Corrupt, SavedType, Shape, Shapes};

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

impl SavedType for earlier::Pod {
    const NAME: &'static str = "Pod";
}

impl SavedType for later::Pod {
    const NAME: &'static str = "Pod";
}

fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, Vec::new()).unwrap()
}

/// What `T` reads of what `S` has written, and how much of it was skipped.
fn read<S: SavedType, T: SavedType>(written: &S) -> (Option<T>, u64) {
    let (theirs, ours) = (Shapes::default().with::<S>(), Shapes::default().with::<T>());
    let theirs = Shapes::read(&bytes_of(&theirs)).unwrap();
    let bytes = bytes_of(written);
    let mut values = SectionValues::new(&bytes, &theirs, &ours);
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

/// What becomes optional, and what no longer is.
#[test]
fn an_option_is_read_as_its_value_and_a_value_as_an_option() {
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, rename = "Pod")]
    struct Before {
        name: Option<String>,
        number: Option<u32>,
        cause: Option<earlier::Node>,
        missing: Option<u32>,
        flag: bool,
    }
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, rename = "Pod")]
    struct After {
        name: String,
        number: u32,
        cause: Option<earlier::Node>,
        missing: u32,
        flag: Option<bool>,
    }
    impl SavedType for Before {
        const NAME: &'static str = "Pod";
    }
    impl SavedType for After {
        const NAME: &'static str = "Pod";
    }
    let node = Some(earlier::Node { name: "n".into(), age: 2 });
    let (name, number) = ("web-0".to_owned(), 7);
    let before = Before {
        name: Some(name.clone()),
        number: Some(number),
        cause: node.clone(),
        missing: None,
        flag: true,
    };
    let after = After { name, number, cause: node, missing: 0, flag: Some(true) };
    assert_eq!(read(&before), (Some(after), 1));
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
    SectionValues::new(bytes, &theirs, &ours).next()
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

/// What is read of the shapes of a file, of which one is this.
fn stated(shape: Shape) -> Result<Shapes, Corrupt> {
    let shapes = Shapes([("T".to_owned(), shape)].into());
    let read = Shapes::read(&bytes_of(&shapes));
    assert!(read.as_ref().is_err() || read.as_ref() == Ok(&shapes));
    read
}

#[test]
fn every_shape_is_read_as_it_was_written() {
    let inner = || Box::new(Shape::Text);
    let named = || vec![("a".to_owned(), Shape::Unit), ("b".to_owned(), Shape::Bool)];
    for shape in [
        Shape::Unit,
        Shape::Bool,
        Shape::U8,
        Shape::U16,
        Shape::U32,
        Shape::U64,
        Shape::U128,
        Shape::I64,
        Shape::Text,
        Shape::Option(inner()),
        Shape::Sequence(inner()),
        Shape::Map(Box::new(Shape::U16), inner()),
        Shape::Tuple(vec![Shape::U8, Shape::Text]),
        Shape::Array(inner(), 300),
        Shape::Struct(named()),
        Shape::Enum(named()),
        Shape::Named("a".into()),
    ] {
        assert!(stated(shape.clone()).is_ok(), "{shape:?}");
    }
}

/// Types in each other, as no podinit has them, and as many bytes of a file could state.
fn nested(depth: usize) -> Vec<u8> {
    // One type without a name: options of options, of a unit.
    let mut bytes = vec![1, 0];
    bytes.extend(std::iter::repeat_n(9, depth));
    bytes.push(0);
    bytes
}

#[test]
fn shapes_that_no_podinit_states_are_refused_before_they_take_anything() {
    assert!(Shapes::read(&nested(40)).is_ok());
    let says = |bytes: &[u8], what: &str| {
        let error = Shapes::read(bytes).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    says(&nested(60_000), "too deep in each other");
    says(&[1], "end");
    says(&[0, 0], "left over");
    says(&[1, 0, 17], "no such shape");
    says(&vec![0; 1 << 20], "more types");
    let long = |length| stated(Shape::Struct(vec![("x".repeat(length), Shape::Unit)]));
    assert!(long(256).is_ok());
    assert!(long(257).unwrap_err().to_string().contains("a name is longer"));
}

/// Two to the power of the depth, and none of them has a byte.
#[test]
fn values_without_a_byte_are_not_many() {
    let name = |level: u32| Shape::Named(format!("{level}"));
    let level = |level: u32| {
        let both = [0, 1].map(|field| (field.to_string(), name(level + 1)));
        (level.to_string(), Shape::Struct(both.into()))
    };
    let mut theirs: BTreeMap<String, Shape> = (0..20).map(level).collect();
    theirs.insert("20".into(), Shape::Unit);
    theirs.insert("Pod".into(), Shape::Struct(vec![("other".into(), name(0))]));
    let (theirs, ours) = (Shapes(theirs), Shapes::default().with::<earlier::Pod>());
    let error = SectionValues::new(&[], &theirs, &ours).next::<earlier::Pod>().unwrap_err();
    assert!(error.to_string().contains("too many values"), "{error}");
}

mod checked {
    use super::*;

    /// A text that is a number.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub(super) struct Digits(u32);

    impl TryFrom<String> for Digits {
        type Error = std::num::ParseIntError;

        fn try_from(text: String) -> Result<Self, Self::Error> {
            if text.is_empty() { Ok(Self(0)) } else { text.parse().map(Self) }
        }
    }

    impl From<Digits> for String {
        fn from(Digits(number): Digits) -> Self {
            number.to_string()
        }
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub(super) struct Numbers {
        pub one: Digits,
        pub many: Vec<Digits>,
        pub pairs: BTreeMap<String, (Digits, Digits)>,
        pub flag: bool,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    #[serde(rename = "Numbers")]
    pub(super) struct Texts {
        pub one: String,
        pub many: Vec<String>,
        pub pairs: BTreeMap<String, (String, String)>,
        pub flag: bool,
    }

    impl SavedType for Numbers {
        const NAME: &'static str = "Numbers";

        fn check(&self) -> Result<(), &'static str> {
            match self.many.len() {
                ..=3 => Ok(()),
                _ => Err("more than three"),
            }
        }
    }

    impl SavedType for Texts {
        const NAME: &'static str = "Numbers";
    }

    pub(super) fn numbers(many: &[u32]) -> Numbers {
        let many = many.iter().copied().map(Digits).collect();
        let pairs = [("a".to_owned(), (Digits(1), Digits(2)))].into();
        Numbers { one: Digits(0), many, pairs, flag: true }
    }
}

/// The shapes are the same, so they do not show it: a later version knows more texts.
#[test]
fn a_text_that_means_nothing_is_lost_with_its_place_alone() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let pair = |key: &str, one: &str| (key.to_owned(), (one.to_owned(), "2".to_owned()));
    let written = checked::Texts {
        one: "many".into(),
        many: texts(&["1", "two", "3", "four"]),
        pairs: [pair("a", "1"), pair("b", "zero")].into(),
        flag: true,
    };
    assert_eq!(read(&written), (Some(checked::numbers(&[1, 3])), 4));
}

#[test]
fn a_value_that_cannot_be_is_corrupt() {
    assert_eq!(read(&checked::numbers(&[1, 2, 3])), (Some(checked::numbers(&[1, 2, 3])), 0));
    let shapes = Shapes::default().with::<checked::Numbers>();
    let bytes = bytes_of(&checked::numbers(&[1, 2, 3, 4]));
    let error =
        SectionValues::new(&bytes, &shapes, &shapes).next::<checked::Numbers>().unwrap_err();
    assert_eq!(error.to_string(), "more than three");
    let error = SectionValues::new(&bytes[..4], &shapes, &shapes).next::<checked::Numbers>();
    assert!(error.is_err());
}
