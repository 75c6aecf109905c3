//! Data flows one way: a room of the root crate names only rooms that stand above it in the table of
//! docs/architecture.md.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::files::{files, root};

/// The rooms, in the order of the table.
fn rooms() -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = text.split("| room | holds |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
}

/// Whether a file holds only tests.
fn is_of_tests(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_str().unwrap();
    name == "tests" || name == "fixtures" || name.ends_with("_tests")
}

/// What the code of a file names of the crate's root, without comments and the tests beside it.
fn named(text: &str) -> Vec<String> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let found = lines.flat_map(|line| line.split("crate::").skip(1));
    found
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            rest[..end.unwrap_or(rest.len())].to_owned()
        })
        .collect()
}

#[test]
fn the_table_has_every_room_and_there_are_not_too_many() {
    let entries = fs::read_dir(root().join("src")).unwrap();
    let directories = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut there: Vec<_> = directories.map(name).collect();
    let mut listed = rooms();
    there.sort();
    listed.sort();
    assert_eq!(there, listed);
    assert!(there.len() <= 20, "the top floor has {} rooms", there.len());
}

#[test]
fn a_room_names_only_rooms_above_it() {
    let rooms = rooms();
    let place = |name: &str| rooms.iter().position(|room| room == name);
    let mut imports = 0;
    for (own, room) in rooms.iter().enumerate() {
        let files = files(&root().join("src").join(room), "rs");
        for file in files.iter().filter(|file| !is_of_tests(file)) {
            let named = named(&fs::read_to_string(file).unwrap());
            for other in named.iter().filter_map(|name| place(name)) {
                imports += 1;
                let below = &rooms[other];
                assert!(other <= own, "{}: names {below}, which is below", file.display());
            }
        }
    }
    assert!(imports > 500, "imports are found");
}
