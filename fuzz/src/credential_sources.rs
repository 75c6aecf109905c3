//! No text that comes from a source of credentials is repeated, whatever it looks like. The first byte of
//! the input chooses the source; in the rest, `~` stands for a secret.

use std::fmt::Debug;
use std::path::PathBuf;

use podinit_access::web_config::WebConfig;
use podinit_connect::check_kubeconfig;
use podinit_connect::credentials::{plugin_output, token_file};
use serde_json::Value;

/// Appears in no message of podinit or of a library.
const SECRET: &str = "c4n4ryc4n4ryc4n4ry";

/// Reads the input as the source that its first byte chooses.
pub fn run(bytes: &[u8]) {
    let Some((source, text)) = bytes.split_first() else {
        return;
    };
    let text = replaced(text);
    match source % 4 {
        0 => silent(plugin_output::parse(&text)),
        1 => silent(token_file::header_of(&text)),
        2 => kubeconfig(&text),
        _ => web_config(&text),
    }
}

/// The input with secrets.
fn replaced(text: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'~' => replaced.extend(SECRET.as_bytes()),
            byte => replaced.push(*byte),
        }
    }
    replaced
}

/// Asserts that neither what was read nor the error shows a secret.
fn silent<T: Debug, E: Debug + std::error::Error>(outcome: Result<T, E>) {
    let shown = match outcome {
        Ok(read) => format!("{read:?}"),
        Err(error) => format!("{error} {error:?} {:?}", error.source()),
    };
    assert!(!shown.contains(SECRET), "a secret was shown: {shown}");
}

fn kubeconfig(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if !names_a_secret(text) {
        silent(check_kubeconfig(text));
    }
}

/// Whether a secret stands where a kubeconfig has a name, which messages show: that of a context, or of its cluster and
/// user.
fn names_a_secret(text: &str) -> bool {
    let Ok(parsed) = serde_saphyr::from_str::<Value>(text) else {
        return false;
    };
    let contexts = parsed["contexts"].as_array().into_iter().flatten();
    let names = contexts.flat_map(|one| {
        let context = &one["context"];
        [&one["name"], &context["cluster"], &context["user"]]
    });
    let mut names = names.chain([&parsed["current-context"]]);
    names.any(|name| name.to_string().contains(SECRET))
}

fn web_config(text: &[u8]) {
    let path = scratch_file();
    if std::fs::write(&path, text).is_ok() {
        silent(WebConfig::inspect(&path).result.map(drop));
        let _ = std::fs::remove_file(&path);
    }
}

/// A file of this process and thread.
fn scratch_file() -> PathBuf {
    let name = format!("podinit-fuzz-{}-{:?}", std::process::id(), std::thread::current().id());
    std::env::temp_dir().join(name.replace(['(', ')'], "-"))
}
