//! No files of a crate import each other in a circle: data flows one way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::files::{self, files};

/// The path of a module, from the root of the crate.
type ModulePath = Vec<String>;

/// A module: its file, and what it names from elsewhere in the crate.
struct Module {
    file: PathBuf,
    /// What it uses itself
    uses: Vec<ModulePath>,
    /// What it hands on, by the name under which it does
    hands_on: BTreeMap<String, ModulePath>,
}

/// The module of a file below `src`; `None` for what is no module, or only one of tests.
fn module_path(file: &Path) -> Option<ModulePath> {
    let names = file.with_extension("");
    let mut path: ModulePath = names.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    let last = path.last()?.clone();
    if ["main", "tests", "fixtures", "testing", "properties"].contains(&last.as_str())
        || last.ends_with("_tests")
    {
        return None;
    }
    if last == "mod" || last == "lib" {
        path.pop();
    }
    Some(path)
}

/// The paths that a tree of names after `use` stands for.
fn leaves(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inner = rest.rsplit_once('}').unwrap().0;
    let (mut depth, mut begin, mut parts) = (0, 0, Vec::new());
    for (at, character) in inner.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[begin..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    let parts = parts.flat_map(leaves);
    parts.map(|leaf| format!("{}{leaf}", prefix.trim())).collect()
}

/// What a path in a `use` of `module` names within the crate.
fn within(module: &ModulePath, path: &str, roots: &BTreeSet<String>) -> Option<ModulePath> {
    let mut names = path.split("::").map(str::to_owned).peekable();
    let mut base = module.clone();
    match names.peek()?.as_str() {
        "crate" => base.clear(),
        "super" => {
            while names.peek().is_some_and(|name| name == "super") {
                names.next();
                base.pop();
            }
            base.extend(names);
            return Some(base);
        }
        "self" => {}
        // A child of the module, or another crate
        first => {
            let mut child = module.clone();
            child.push(first.to_owned());
            if !roots.contains(&child.join("::")) {
                return None;
            }
            child.extend(names.skip(1));
            return Some(child);
        }
    }
    names.next();
    base.extend(names);
    Some(base)
}

/// The crates of the workspace. Cargo itself forbids circles between them.
const CRATES: [&str; 4] = ["src", "crates/core/src", "crates/decode/src", "crates/sim/src"];

fn modules(sources: &str) -> BTreeMap<ModulePath, Module> {
    let root = files::root().join(sources);
    let found = files(&root, "rs").into_iter().filter_map(|file| {
        let module = module_path(file.strip_prefix(&root).unwrap())?;
        Some((module, file))
    });
    let found: BTreeMap<ModulePath, PathBuf> = found.collect();
    let names: BTreeSet<String> = found.keys().map(|path| path.join("::")).collect();
    let read = |(path, file): (&ModulePath, &PathBuf)| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
        let code = code.split("\n#[cfg(all(test").next().unwrap();
        let (mut uses, mut hands_on) = (Vec::new(), BTreeMap::new());
        for statement in code.split("\nuse ").skip(1) {
            let tree = statement.split(';').next().unwrap();
            uses.extend(leaves(tree).iter().filter_map(|leaf| within(path, leaf, &names)));
        }
        for visibility in ["\npub use ", "\npub(crate) use ", "\npub(super) use "] {
            for statement in code.split(visibility).skip(1) {
                let tree = statement.split(';').next().unwrap();
                for leaf in leaves(tree).iter().filter_map(|leaf| within(path, leaf, &names)) {
                    hands_on.insert(leaf.last().unwrap().clone(), leaf);
                }
            }
        }
        let file = file.strip_prefix(&root).unwrap().to_owned();
        (path.clone(), Module { file, uses, hands_on })
    };
    found.iter().map(read).collect()
}

/// The module in which what `path` names is defined.
fn home<'a>(
    modules: &'a BTreeMap<ModulePath, Module>,
    path: &ModulePath,
) -> Option<&'a ModulePath> {
    let longest = (0..=path.len()).rev().find_map(|length| {
        let known = modules.get_key_value(&path[..length]);
        known.map(|(module, found)| (module, found, &path[length..]))
    });
    let (module, found, rest) = longest?;
    match rest.first().and_then(|name| found.hands_on.get(name)) {
        Some(handed_on) if handed_on != path => home(modules, handed_on),
        _ => Some(module),
    }
}

/// Every module that `from` reaches by imports.
fn reached<'a>(
    imports: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
    from: &'a ModulePath,
) -> BTreeSet<&'a ModulePath> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = imports[module].iter().copied();
        open.extend(next.filter(|module| seen.insert(*module)));
    }
    seen
}

/// How many imports a crate has, and the circles among them.
fn circles(sources: &str) -> (usize, Vec<String>) {
    let modules = modules(sources);
    let imports: BTreeMap<_, BTreeSet<_>> = modules
        .iter()
        .map(|(path, module)| {
            let homes = module.uses.iter().filter_map(|path| home(&modules, path));
            (path, homes.filter(|other| *other != path).collect())
        })
        .collect();
    let circles = modules
        .keys()
        .filter(|module| reached(&imports, module).contains(module))
        .map(|module| {
            let within = reached(&imports, module);
            let back = imports[module].iter().filter(|other| {
                within.contains(*other) && reached(&imports, other).contains(module)
            });
            let names: Vec<_> =
                back.map(|other| modules[*other].file.display().to_string()).collect();
            format!("{} -> {}", modules[module].file.display(), names.join(", "))
        })
        .collect();
    (imports.values().map(BTreeSet::len).sum(), circles)
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for sources in CRATES {
        let (imports, circles) = circles(sources);
        assert!(imports > 20, "{sources}: {imports} imports are found");
        assert!(circles.is_empty(), "{sources}:\n{}", circles.join("\n"));
    }
}

#[test]
fn a_tree_of_names_is_its_leaves() {
    let tree = "crate::{a::{self, B}, c::D,\n    e}";
    assert_eq!(leaves(tree), ["crate::a::self", "crate::a::B", "crate::c::D", "crate::e"]);
}
