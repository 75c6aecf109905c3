//! The options that say who may scrape.

use clap::{Args, ValueEnum};

/// Who is answered, beside what the web configuration says.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Access control")]
pub struct AuthArgs {
    /// By whom bearer tokens are judged: none (they are not asked for) or kubernetes (TokenReview
    /// and SubjectAccessReview for the path; the probes stay open)
    #[arg(
        long,
        env = "PODINIT_AUTH",
        value_name = "MODE",
        value_enum,
        default_value_t = AuthMode::None
    )]
    pub auth: AuthMode,

    /// Audience that tokens must be meant for; may be repeated, one suffices [default: the API
    /// server]
    #[arg(
        long = "auth-audience",
        env = "PODINIT_AUTH_AUDIENCE",
        value_name = "AUDIENCE",
        value_delimiter = ','
    )]
    audiences: Vec<String>,
}

/// By whom bearer tokens are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    /// By nobody: none is asked for
    None,
    /// By the API server of the cluster that is watched
    Kubernetes,
}

impl AuthArgs {
    /// The audiences of which a token must be meant for one; none stands for the API server.
    pub fn audiences(&self) -> Vec<String> {
        let mut audiences = self.audiences.clone();
        // An empty variable in a manifest means that nothing was chosen.
        audiences.retain(|audience| !audience.is_empty());
        audiences
    }

    /// Whether the options fit together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.auth == AuthMode::None && !self.audiences().is_empty() {
            return Err("--auth-audience needs --auth kubernetes".to_owned());
        }
        Ok(())
    }
}
