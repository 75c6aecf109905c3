//! Which podinit this is.

use crate::computed_families;
use crate::instruments::{
    AnyText, Encoder, FamilySource, FamilyType, Head, Kind, LabelDomain, LabelText, Number,
    SavedFamilies,
};

computed_families! {
    /// Which podinit this is.
    pub(super) const BUILD {
        BUILD_INFO: BuildInfo =
            "podinit_build_info", ["version", "revision"], stable, not_saved,
            "The running build of podinit; always 1.";
    }
}

/// Exposes which podinit this is.
#[derive(Debug)]
pub(super) struct BuildInfo;

impl BuildInfo {
    /// The source revision, given to the build as `PODINIT_REVISION`.
    const REVISION: &str = match option_env!("PODINIT_REVISION") {
        Some(revision) => revision,
        None => "unknown",
    };
}

impl FamilyType for BuildInfo {
    const KIND: Kind = Kind::Gauge;
    const LABELS: usize = 2;

    fn knows(labels: &[LabelText]) -> bool {
        labels.iter().all(|text| AnyText::contains(text))
    }
}

impl FamilySource for BuildInfo {
    fn collect(&self, out: &mut dyn Encoder) {
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("revision", Self::REVISION),
        ];
        out.family(Head::from(&BUILD_INFO));
        out.number(&labels, Number::Integer(1));
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}
