//! Values of flags and variables that are URLs. An error does not repeat them: there may be a password in one.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use http::Uri;

use crate::text::http_url::{UrlFault, parse_http_url};

/// Parses an absolute URL of HTTP or HTTPS, without a query. Holds what is expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpUrl(pub(super) &'static str);

impl TypedValueParser for HttpUrl {
    type Value = Uri;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Uri, Error> {
        let url = value.to_str().ok_or(UrlFault::NotHttp);
        let url = url.and_then(parse_http_url);
        let url = url.map_err(|fault| fault.explained(self.0));
        let no_query = url.and_then(|url| match url.query() {
            None => Ok(url),
            Some(_) => Err("the URL has a query, which is not used; remove it".to_owned()),
        });
        no_query.map_err(|why| {
            let name = argument.map(ToString::to_string).unwrap_or_default();
            let message = format!("invalid value for '{name}': {why}");
            Error::raw(ErrorKind::ValueValidation, message).format(&mut command.clone())
        })
    }
}
