#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::tree::Tree;
use super::{ValueWriter, Values};

fn written(all: &[impl Serialize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut values = ValueWriter::begin(&out);
    all.iter().for_each(|value| values.append(&mut out, value));
    values.finish(&mut out);
    out
}

/// All values that can be read, and how much was skipped.
fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> (Vec<T>, u64) {
    let mut values = Values::of(bytes).unwrap();
    let mut all = Vec::new();
    while let Some(value) = values.next().unwrap() {
        all.extend(value);
    }
    (all, values.skipped())
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Fruit {
    Apple,
    Pear,
    Weighed { grams: u32 },
    Two(u8, u8),
}

/// What a later version has more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum LaterFruit {
    Pear,
    Plum,
    Apple,
    Weighed { grams: u32, stone: bool },
    Cut(u8),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Basket {
    name: String,
    first: Option<Fruit>,
    all: Vec<Fruit>,
    by_name: BTreeMap<String, Fruit>,
    nested: Option<Option<u64>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct LaterBasket {
    owner: Vec<(i64, bool)>,
    name: String,
    first: Option<LaterFruit>,
    all: Vec<LaterFruit>,
    by_name: BTreeMap<String, LaterFruit>,
}

fn later(name: &str, first: Option<LaterFruit>) -> LaterBasket {
    LaterBasket { name: name.to_owned(), first, ..LaterBasket::default() }
}

#[test]
fn a_value_is_read_as_it_was_written() {
    let basket = Basket {
        name: "a".repeat(40),
        first: Some(Fruit::Weighed { grams: 300 }),
        all: vec![Fruit::Apple, Fruit::Two(200, 1), Fruit::Pear, Fruit::Apple],
        by_name: BTreeMap::from([("x".to_owned(), Fruit::Pear)]),
        nested: Some(None),
    };
    let all = [basket, Basket { nested: Some(Some(5)), ..Basket::default() }, Basket::default()];
    assert_eq!(read(&written(&all)), (all.to_vec(), 0));
    let numbers = [0_i128, 127, 128, 255, 256, 65_536, 5_000_000_000, 5_000_000_001, 1 << 70];
    let trees = numbers.map(Tree::Number);
    assert_eq!(read(&written(&trees)), (trees.to_vec(), 0));
    let below = [-1, -128, i64::MIN, i64::MAX];
    assert_eq!(read(&written(&below)), (below.to_vec(), 0));
}

/// In the middle of other values, none of which is lost.
#[test]
fn what_a_later_version_has_more_is_skipped_and_counted() {
    let cut = Some(LaterFruit::Cut(1));
    let all = [
        later("a", Some(LaterFruit::Apple)),
        later("b", Some(LaterFruit::Plum)),
        later("c", cut),
        later("d", Some(LaterFruit::Plum)),
        LaterBasket {
            all: vec![LaterFruit::Plum, LaterFruit::Pear, LaterFruit::Plum, LaterFruit::Apple],
            by_name: BTreeMap::from([
                ("x".to_owned(), LaterFruit::Plum),
                ("y".to_owned(), LaterFruit::Pear),
            ]),
            ..later("e", Some(LaterFruit::Weighed { grams: 7, stone: true }))
        },
    ];
    let (read, skipped) = read::<Basket>(&written(&all));
    let first: Vec<_> = read.iter().map(|basket| (&*basket.name, basket.first)).collect();
    let weighed = Some(Fruit::Weighed { grams: 7 });
    let expected =
        [("a", Some(Fruit::Apple)), ("b", None), ("c", None), ("d", None), ("e", weighed)];
    assert_eq!(first, expected);
    assert_eq!(read[4].all, [Fruit::Pear, Fruit::Apple]);
    assert!(read[4].by_name.values().eq(&[Fruit::Pear]), "{:?}", read[4].by_name);
    // Each owner, three first fruits, the stone, two of all, and one by name.
    assert_eq!(skipped, 5 + 3 + 1 + 2 + 1);
}

#[test]
fn what_an_earlier_version_lacks_has_its_default() {
    let earlier = [Basket { name: "a".into(), first: Some(Fruit::Pear), ..Basket::default() }];
    let (read, skipped) = read::<LaterBasket>(&written(&earlier));
    assert_eq!((read, skipped), (vec![later("a", Some(LaterFruit::Pear))], 1), "nested is gone");
}

/// A value without which its struct cannot be.
#[test]
fn a_value_that_cannot_be_without_another_is_skipped_alone() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Of<F> {
        fruit: F,
        again: Option<Box<Of<F>>>,
    }
    fn of<F>(fruit: F) -> Of<F> {
        Of { fruit, again: None }
    }
    fn with<F>(fruit: F, again: F) -> Of<F> {
        Of { fruit, again: Some(Box::new(of(again))) }
    }
    let all = [
        of(LaterFruit::Apple),
        of(LaterFruit::Plum),
        with(LaterFruit::Pear, LaterFruit::Plum),
        with(LaterFruit::Pear, LaterFruit::Apple),
    ];
    let (read, skipped) = read::<Of<Fruit>>(&written(&all));
    assert_eq!(read, [of(Fruit::Apple), of(Fruit::Pear), with(Fruit::Pear, Fruit::Apple)]);
    assert_eq!(skipped, 2);
}

#[test]
fn many_shapes_and_names_are_told_apart() {
    let field = |number: usize| format!("field {number}");
    let all: Vec<_> = (0..5_000)
        .map(|number| BTreeMap::from([(field(number), number), (field(number % 7), 1)]))
        .collect();
    assert_eq!(read(&written(&all)), (all.clone(), 0));
    // The same as structs.
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Bits {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        b: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        c: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        d: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        e: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        f: Option<u8>,
    }
    let some = |number: u8, bit: u32| (number >> bit & 1 == 1).then_some(number);
    let bits = |number| Bits {
        a: some(number, 0),
        b: some(number, 1),
        c: some(number, 2),
        d: some(number, 3),
        e: some(number, 4),
        f: some(number, 5),
    };
    let all: Vec<Bits> = (0..64).chain(0..64).map(bits).collect();
    assert_eq!(read(&written(&all)), (all, 0));
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Nil),
        any::<bool>().prop_map(Tree::Bool),
        any::<i64>().prop_map(|number| Tree::Number(number.into())),
        ".{0,40}".prop_map(Tree::Text),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Tree::Bytes),
    ];
    leaf.prop_recursive(4, 64, 10, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..12).prop_map(Tree::List),
            prop::collection::vec((inside.clone(), inside.clone()), 0..4).prop_map(Tree::Fields),
            ("[ab]", inside).prop_map(|(name, tree)| Tree::Variant(name, Box::new(tree))),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written_and_can_be_skipped(trees in prop::collection::vec(tree(), 0..4)) {
        let bytes = written(&trees);
        prop_assert_eq!(read::<Tree>(&bytes), (trees.clone(), 0));
        let (none, skipped) = read::<Basket>(&written(&[Tree::List(trees)]));
        prop_assert_eq!((none.len(), skipped), (0, 1));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for bytes in [bytes.clone(), [&written(&[Basket::default()])[..9], &bytes[..]].concat()] {
            if let Ok(mut values) = Values::of(&bytes) {
                while let Ok(Some(_)) = values.next::<Tree>() {}
            }
            if let Ok(mut values) = Values::of(&bytes) {
                while let Ok(Some(_)) = values.next::<Basket>() {}
            }
        }
    }
}
