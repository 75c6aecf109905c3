//! Links of the page: to pods' pages, and to the pods that fit something.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a name may hold as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The path of the page of a pod, relative to `/`.
pub(super) fn path_of(namespace: &str, name: &str) -> String {
    format!("pods/{}/{}", escaped(namespace), escaped(name))
}

/// The page at `/` with only the pods that fit these parameters.
pub(super) fn query(parameters: &[(&str, &str)]) -> String {
    let pairs = parameters.iter();
    let pairs = pairs.map(|(key, value)| format!("{key}={}", escaped(value)));
    format!("?{}", pairs.collect::<Vec<_>>().join("&"))
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere() {
        let path = |name: &str| path_of("shop", name);
        assert_eq!(path("web-0.x_y"), "pods/shop/web-0.x_y");
        assert_eq!(path("a/../b?c#\"<"), "pods/shop/a%2F..%2Fb%3Fc%23%22%3C");
        let found = query(&[("namespace", "shop"), ("workload", "Deployment/w&b")]);
        assert_eq!(found, "?namespace=shop&workload=Deployment%2Fw%26b");
    }
}
