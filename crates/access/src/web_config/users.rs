//! `basic_auth_users`: names and bcrypt hashes of passwords.

use std::collections::HashMap;
use std::fmt;

use base64::Engine;
use base64::alphabet::BCRYPT;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;
use serde::Deserialize;

/// The greatest cost of a hash: a check takes 2^cost rounds, which is several seconds here, and every
/// wrong password causes one.
pub(crate) const MAX_COST: u32 = 16;
const MIN_COST: u32 = 4;

/// Users and the bcrypt hashes of their passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BasicAuthUsers {
    /// Hashes and their costs, by name
    hashes: HashMap<Box<str>, (Box<str>, u32)>,
    cost: u32,
}

/// Without names and hashes.
impl fmt::Debug for BasicAuthUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.hashes.len())
    }
}

impl BasicAuthUsers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The bcrypt hash of a user's password, and its cost.
    pub(crate) fn hash_of(&self, name: &str) -> Option<(&str, u32)> {
        let (hash, cost) = self.hashes.get(name)?;
        Some((hash, *cost))
    }

    /// The greatest cost of their hashes.
    pub(crate) const fn cost(&self) -> u32 {
        self.cost
    }

    pub(super) fn from_form(form: UsersForm) -> Self {
        let mut users = Self::default();
        for (UserName(name), Hash { text, cost }) in form {
            users.cost = users.cost.max(cost);
            users.hashes.insert(name, (text, cost));
        }
        users
    }
}

/// `basic_auth_users` as it is written.
pub(super) type UsersForm = HashMap<UserName, Hash>;

/// A name, which could be a password that lacks its colon, so that no error repeats it.
#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(try_from = "String")]
pub(super) struct UserName(Box<str>);

impl TryFrom<String> for UserName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match name.contains(':') {
            true => Err("the name of this user has a colon, which no client can send"),
            false => Ok(Self(name.into())),
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Hash {
    text: Box<str>,
    cost: u32,
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match cost_of(&text) {
            Some(cost) if cost > MAX_COST => {
                Err("this hash has a cost above 16, so that a check takes too long")
            }
            Some(cost) => Ok(Self { text: text.into(), cost }),
            None => Err("this user has no bcrypt hash, such as `htpasswd -nBC 10 \"\"` makes"),
        }
    }
}

/// The cost of a bcrypt hash: `$2y$10$`, then 22 characters of salt and 31 of hash.
fn cost_of(hash: &str) -> Option<u32> {
    let versions = ["$2a$", "$2b$", "$2x$", "$2y$"];
    let rest = versions.iter().find_map(|version| hash.strip_prefix(version))?;
    let (cost, digest) = rest.split_once('$')?;
    let base64 = GeneralPurpose::new(&BCRYPT, NO_PAD);
    let is_base64 = |text: &str| base64.decode(text).is_ok();
    let (salt, hash) = digest.split_at_checked(22)?;
    if cost.len() != 2 || hash.len() != 31 || !is_base64(salt) || !is_base64(hash) {
        return None;
    }
    let cost = cost.parse().ok()?;
    (MIN_COST..=31).contains(&cost).then_some(cost)
}
