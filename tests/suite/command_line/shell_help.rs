//! Completions, manual pages, and the program as a plugin of kubectl.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use podinit::args::command_line;
use tempfile::TempDir;

fn run(program: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(words).env_clear().output().unwrap()
}

fn podinit(words: &[&str]) -> Output {
    run(Path::new(env!("CARGO_BIN_EXE_podinit")), words)
}

/// Runs the program through a symbolic link, as kubectl does.
fn run_as(name: &str, words: &[&str]) -> Output {
    let directory = TempDir::new().unwrap();
    let link = directory.path().join(name);
    symlink(env!("CARGO_BIN_EXE_podinit"), &link).unwrap();
    run(&link, words)
}

#[track_caller]
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.is_empty(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn commands() -> Vec<String> {
    let line = command_line();
    let names = line.get_subcommands().map(|command| command.get_name());
    names.map(str::to_owned).collect()
}

/// The candidates for the last of the words, without descriptions, and the directive.
#[track_caller]
fn completed(words: &[&str]) -> (Vec<String>, String) {
    let output = run_as("kubectl_complete-podinit", words);
    let text = printed(&output);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let directive = lines.pop().unwrap();
    for line in &mut lines {
        line.truncate(line.find('\t').unwrap_or(line.len()));
    }
    (lines, directive)
}

#[test]
fn the_script_of_each_shell_names_every_command() {
    for (shell, mark) in [
        ("bash", "complete -F _podinit"),
        ("zsh", "#compdef podinit"),
        ("fish", "complete -c podinit"),
    ] {
        let script = printed(&podinit(&["completions", shell]));
        assert!(script.contains(mark), "{shell} lacks {mark}");
        let words: BTreeSet<&str> =
            script.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for command in commands() {
            assert!(words.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.contains("label-selector"), "{shell}");
    }
}

/// `bash` itself completes with its script.
#[test]
fn bash_completes_a_command_and_a_flag() {
    let script = printed(&podinit(&["completions", "bash"]));
    for (words, expected) in [("podinit expl", "explain"), ("podinit man --out", "--output-dir")] {
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _podinit podinit \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert_eq!(answer.trim(), expected, "{words}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = TempDir::new().unwrap();
    let pages = directory.path().join("share/man1");
    let output = podinit(&["man", "--output-dir", pages.to_str().unwrap()]);
    assert_eq!(printed(&output), "");
    let entries = std::fs::read_dir(&pages).unwrap();
    let written = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let written: BTreeSet<String> = written.collect();
    let own = ["podinit.1".to_owned()];
    let expected =
        commands().into_iter().map(|command| format!("podinit-{command}.1")).chain(own).collect();
    assert_eq!(written, expected);
    let root = std::fs::read_to_string(pages.join("podinit.1")).unwrap();
    assert!(root.contains(concat!("podinit ", env!("CARGO_PKG_VERSION"))));
    for command in commands() {
        let escaped = command.replace('-', "\\-");
        assert!(root.contains(&format!("podinit\\-{escaped}(1)")), "{command}");
    }
    let report = std::fs::read_to_string(pages.join("podinit-report.1")).unwrap();
    assert!(report.contains("PODINIT_REPORT_OUTPUT"), "{report}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    for words in [
        &["completions"][..],
        &["completions", "tcsh"],
        &["completions", "bash", "zsh"],
        &["man"],
        &["man", "--output-dir"],
        &["man", "--output-dir", "x", "y"],
    ] {
        let output = podinit(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = podinit(&["man", "--output-dir", file.path().to_str().unwrap()]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("podinit: cannot make the directory"), "{error}");
}

#[test]
fn the_plugin_of_kubectl_is_the_same_program_under_its_own_name() {
    const PLUGIN: &str = "kubectl-podinit";
    let help = printed(&run_as(PLUGIN, &["--help"]));
    assert!(help.contains("Usage: kubectl podinit <COMMAND>"), "{help}");
    let help = printed(&run_as(PLUGIN, &["explain", "--help"]));
    assert!(help.contains("Usage: kubectl podinit explain "), "{help}");
    let wrong = run_as(PLUGIN, &["report", "--no-such-flag"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("Usage: kubectl podinit report "), "{error}");
    let help = printed(&podinit(&["--help"]));
    assert!(help.contains("Usage: podinit <COMMAND>"), "{help}");
    assert_eq!(printed(&run_as(PLUGIN, &["rules"])), printed(&podinit(&["rules"])));
}

#[test]
fn kubectl_gets_candidates_for_the_last_word() {
    let none = ":4".to_owned();
    let (words, directive) = completed(&[""]);
    let mut expected = commands();
    expected.push("help".to_owned());
    assert_eq!((words, &directive), (expected, &none));
    assert_eq!(completed(&["exp"]), (vec!["explain".to_owned()], none.clone()));
    assert_eq!(completed(&["no-such"]), (Vec::new(), none.clone()));
    assert_eq!(completed(&["help", "doc"]), (vec!["doctor".to_owned()], none.clone()));
    let (shells, directive) = completed(&["completions", ""]);
    assert_eq!((shells.join(" ").as_str(), &directive), ("bash zsh fish", &none));
    let (formats, directive) = completed(&["report", "-o", "ma"]);
    assert_eq!((formats.join(" ").as_str(), &directive), ("markdown", &none));
    let (formats, directive) = completed(&["report", "--output=ma"]);
    assert_eq!((formats.join(" ").as_str(), &directive), ("--output=markdown", &none));
    let files = (Vec::new(), ":0".to_owned());
    assert_eq!(completed(&["rules", "--slo", ""]), files);
    assert_eq!(completed(&["rules", "--slo="]), files);
    assert_eq!(completed(&["report", ""]), files);
    assert_eq!(completed(&["explain", ""]).1, ":4", "a pod is no file");
    assert_eq!(completed(&["serve", "--namespace", ""]).1, ":4");
    assert_eq!(completed(&["report", "--", "--output"]), files);
}

#[test]
fn kubectl_gets_every_flag_of_every_command() {
    let mut line = command_line();
    line.build();
    for command in line.get_subcommands().filter(|command| command.get_name() != "help") {
        let flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
        let flags = flags.filter_map(|flag| Some(format!("--{}", flag.get_long()?)));
        let (words, directive) = completed(&[command.get_name(), "-"]);
        let words: BTreeSet<String> = words.into_iter().collect();
        assert_eq!(words, flags.collect(), "{}", command.get_name());
        assert_eq!(directive, ":4");
    }
    // Without a command, the flags of the default one.
    assert_eq!(completed(&["--label-s"]).0, ["--label-selector"]);
    assert_eq!(completed(&["--listen", ":0", "--label-s"]).0, ["--label-selector"]);
}
