//! Paths of pods' pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use podinit_core::pod::PodInfo;

/// What a name may hold as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The path of the page of a pod, relative to `/`.
pub(super) fn pod_path(pod: &PodInfo) -> String {
    path_of(&pod.namespace, &pod.name)
}

/// The path of the page of a pod by its names, relative to `/`.
pub(super) fn path_of(namespace: &str, name: &str) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    format!("pods/{}/{}", escaped(namespace), escaped(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::pod::{PodSnapshot, PodUid};

    #[test]
    fn no_name_leads_elsewhere() {
        let path =
            |name: &str| pod_path(&PodSnapshot::bare(PodUid::from_text("u"), "shop", name).info);
        assert_eq!(path("web-0.x_y"), "pods/shop/web-0.x_y");
        assert_eq!(path("a/../b?c#\"<"), "pods/shop/a%2F..%2Fb%3Fc%23%22%3C");
    }
}
