//! The two reviews. Neither answers of the API server nor its messages are ever repeated: it returns a
//! TokenReview with the token in it.

use std::time::Duration;

use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::{ClusterResourceScope, Resource};
use kube::Client;
use kube::client::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;

use podinit_kube::cluster::api_error::ApiErrorKind;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::transport::{AGENT, read_into, send};

/// The length limit of an answer, in bytes. A user can be in many groups.
const ANSWER_LIMIT: usize = 1 << 20;

/// The deadline between two pieces of an answer; the caller has one for the whole.
const PIECE_DEADLINE: Duration = Duration::from_secs(5);

/// Why there was no review; one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// podinit's own credentials do not allow it (403)
    #[error(
        "not allowed to create {0} for --auth kubernetes; grant the verb create on tokenreviews \
         (authentication.k8s.io) and subjectaccessreviews (authorization.k8s.io) in a ClusterRole"
    )]
    Forbidden(&'static str),
    /// The API server did not answer, or not usably
    #[error("the API server at {server} gives no access review: {why}")]
    NoAnswer {
        /// Its URL
        server: String,
        /// What happened
        why: String,
    },
}

impl ReviewError {
    /// Whether it will not pass by itself.
    pub const fn is_lasting(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }
}

/// The holder of a token.
pub(super) struct TokenUser(UserInfo);

impl TokenUser {
    /// The user of a request without credentials.
    pub(super) fn anonymous() -> Self {
        Self(UserInfo { username: Some("system:anonymous".to_owned()), ..UserInfo::default() })
    }
}

/// Creates reviews.
pub(super) struct AccessReviewer {
    client: Client,
    server: String,
    audiences: Vec<String>,
}

impl AccessReviewer {
    pub(super) fn new(cluster: &ClusterClient, audiences: Vec<String>) -> Self {
        Self { client: cluster.client.clone(), server: cluster.server.clone(), audiences }
    }

    /// The holder of `token`; `None` if it is invalid or was issued for another audience.
    pub(super) async fn user_of(&self, token: &str) -> Result<Option<TokenUser>, ReviewError> {
        let wanted = (!self.audiences.is_empty()).then(|| self.audiences.clone());
        let review = TokenReview {
            spec: TokenReviewSpec { token: token.to_owned(), audiences: wanted },
            ..TokenReview::default()
        };
        let answer = self.create(&review).await?;
        let Some(status) = answer.status else {
            return Err(self.unreadable());
        };
        // An API server without support for audiences returns none: then it is the only audience.
        let named = status.audiences.unwrap_or_default();
        let is_meant = self.audiences.is_empty()
            || named.iter().any(|audience| self.audiences.contains(audience));
        let user = status.user.filter(|_| status.authenticated == Some(true));
        Ok(user.filter(|_| is_meant).map(TokenUser))
    }

    /// Whether `user` may `get` `path`.
    pub(super) async fn may_get(&self, user: TokenUser, path: &str) -> Result<bool, ReviewError> {
        let TokenUser(user) = user;
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username,
                uid: user.uid,
                groups: user.groups,
                extra: user.extra,
                non_resource_attributes: Some(NonResourceAttributes {
                    path: Some(path.to_owned()),
                    verb: Some("get".to_owned()),
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let answer = self.create(&review).await?;
        let status = answer.status.ok_or_else(|| self.unreadable())?;
        Ok(status.allowed && status.denied != Some(true))
    }

    /// The error of an answer that did not come within `deadline`.
    pub(super) fn late(&self, deadline: Duration) -> ReviewError {
        self.no_answer(format!("no answer for {} s", deadline.as_secs()))
    }

    fn unreadable(&self) -> ReviewError {
        self.no_answer("its answer cannot be read".to_owned())
    }

    fn no_answer(&self, why: String) -> ReviewError {
        let server = self.server.clone();
        ReviewError::NoAnswer { server, why }
    }

    async fn create<T>(&self, review: &T) -> Result<T, ReviewError>
    where
        T: Resource<Scope = ClusterResourceScope> + Serialize + DeserializeOwned,
    {
        let path = format!("/apis/{}/{}", T::API_VERSION, T::URL_PATH_SEGMENT);
        let body = serde_json::to_vec(review).map_err(|_| self.unreadable())?;
        let request = Request::post(path)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Body::from(body))
            .map_err(|_| self.unreadable())?;
        let mut answer = Vec::new();
        let answered = match send(&self.client, request, PIECE_DEADLINE).await {
            Ok(response) => {
                read_into(&mut answer, response.into_body(), PIECE_DEADLINE, ANSWER_LIMIT).await
            }
            Err(failure) => Err(failure),
        };
        match answered {
            Ok(()) => serde_json::from_slice(&answer).map_err(|_| self.unreadable()),
            Err(failure) => Err(match failure.kind {
                ApiErrorKind::Forbidden => ReviewError::Forbidden(T::URL_PATH_SEGMENT),
                // These details describe the connection, and nothing that was sent through it.
                ApiErrorKind::Transport | ApiErrorKind::Timeout => self.no_answer(failure.detail),
                other => self.no_answer(other.to_string()),
            }),
        }
    }
}
