//! By which name and with which variables the program is called. `kubectl` finds plugins, and what completes their
//! command lines, by file names (<https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/>).

use std::ffi::OsString;
use std::path::Path;

use super::command_line;
use podinit_text::nearest::nearest;
use podinit_text::strangers_text::shown;

/// What the names of all variables of podinit begin with.
const PREFIX: &str = "PODINIT_";

/// A line about each of these variables that begins like one of podinit's, and is not one: what is mistyped would be
/// ignored in silence. Those that Kubernetes
/// makes for Services whose names begin with `podinit` are not ours.
pub fn unknown_variables(names: &[String]) -> Vec<String> {
    let root = command_line();
    let commands = root.get_subcommands().flat_map(clap::Command::get_arguments);
    let known = commands.filter_map(|argument| argument.get_env()?.to_str());
    let known: Vec<String> = known.map(str::to_lowercase).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let is_unknown = |name: &&String| {
        name.starts_with(PREFIX)
            && !known.contains(&name.to_lowercase().as_str())
            && !is_of_a_service(name, names)
    };
    let unknown = names.iter().filter(is_unknown);
    let lines = unknown.map(|name| {
        let meant = match nearest(name, &known) {
            Some(near) => format!("did you mean {}?", near.to_uppercase()),
            None => "podinit COMMAND --help names those that are".to_owned(),
        };
        format!("the variable {} is not one of podinit's and is ignored; {meant}", shown(name))
    });
    lines.collect()
}

/// Whether Kubernetes has made the variable for a Service: `NAME_SERVICE_HOST` is there too
/// (<https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>).
fn is_of_a_service(name: &str, all: &[String]) -> bool {
    let mut services = all.iter().filter_map(|name| name.strip_suffix("_SERVICE_HOST"));
    services.any(|service| {
        let rest = name.strip_prefix(service).unwrap_or_default();
        rest.starts_with("_SERVICE_") || rest == "_PORT" || rest.starts_with("_PORT_")
    })
}

/// What the program is, by the name that it was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `podinit`, or any other name.
    Podinit,
    /// The plugin of kubectl, which people call as `kubectl podinit`.
    KubectlPlugin,
    /// What kubectl runs to complete the command line of the plugin.
    KubectlCompletion,
}

impl Program {
    /// The program of a command line, the first word of which is the path of the program.
    pub fn from_words(words: &[OsString]) -> Self {
        let name = words.first().and_then(|path| Path::new(path).file_name());
        match name.and_then(|name| name.to_str()) {
            Some("kubectl-podinit") => Self::KubectlPlugin,
            Some("kubectl_complete-podinit") => Self::KubectlCompletion,
            _ => Self::Podinit,
        }
    }

    /// How people call it.
    pub const fn usage_name(self) -> &'static str {
        match self {
            Self::Podinit => "podinit",
            Self::KubectlPlugin | Self::KubectlCompletion => "kubectl podinit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        unknown_variables(&names)
    }

    #[test]
    fn a_mistyped_variable_is_told_with_the_nearest_one() {
        let names = ["PODINIT_LISTEN", "PODINIT_LABLE_SELECTOR", "HOME"];
        let line = lines(&names).concat();
        assert!(line.starts_with("the variable PODINIT_LABLE_SELECTOR is not one"), "{line}");
        assert!(line.ends_with("did you mean PODINIT_LABEL_SELECTOR?"), "{line}");
        let far = lines(&["PODINIT_SOMETHING_ELSE_ALTOGETHER"]);
        assert!(far.concat().ends_with("--help names those that are"), "{far:?}");
        // Variables are case-sensitive, except where the system says otherwise.
        assert_eq!(lines(&["podinit_listen"]), [""; 0]);
    }

    #[test]
    fn variables_of_services_are_not_ours() {
        let of_service = [
            "PODINIT_SERVICE_HOST",
            "PODINIT_SERVICE_PORT",
            "PODINIT_SERVICE_PORT_HTTP",
            "PODINIT_PORT",
            "PODINIT_PORT_8080_TCP",
            "PODINIT_PORT_8080_TCP_ADDR",
            "PODINIT_SHARD_1_SERVICE_HOST",
            "PODINIT_SHARD_1_PORT_8080_TCP_PROTO",
        ];
        assert_eq!(lines(&of_service), [""; 0]);
        assert_eq!(lines(&["PODINIT_PORT"]).len(), 1);
    }
}
