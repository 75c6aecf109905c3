//! Which podinit this is.

use podinit_core::shard::Shard;
use podinit_instruments::{
    AnyText, ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, Gauge, SampleNumber,
    SavedFamilies, computed_families, family_type,
};

computed_families! {
    /// Which podinit this is.
    pub const BUILD {
        BUILD_INFO: GaugeByBuild =
            "podinit_build_info", ["version", "revision"], stable, not_saved,
            "The running build of podinit; always 1.";
        SHARD_ORDINAL: Gauge =
            "podinit_shard_ordinal", [], experimental, not_saved,
            "The number of this shard, counted from 0.";
        TOTAL_SHARDS: Gauge =
            "podinit_total_shards", [], experimental, not_saved,
            "Among how many shards the pods are divided; 1 where they are not.";
    }
}

family_type! {
    /// The gauge that tells the build.
    struct GaugeByBuild = Gauge [AnyText, AnyText];
}

/// Exposes which podinit this is, and which of its shards.
#[derive(Debug)]
pub(super) struct BuildInfo {
    /// `None` where none is stated, as by a replay
    pub(super) shard: Option<Shard>,
}

impl BuildInfo {
    /// The source revision, given to the build as `PODINIT_REVISION`.
    const REVISION: &str = match option_env!("PODINIT_REVISION") {
        Some(revision) => revision,
        None => "unknown",
    };
}

impl FamilySource for BuildInfo {
    fn families(&self) -> Vec<FamilyDoc> {
        BUILD.to_vec()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("revision", Self::REVISION)];
        out.family(FamilyHead::from(&BUILD_INFO));
        out.number(&labels, SampleNumber::Integer(1));
        let Some(shard) = self.shard else { return };
        SHARD_ORDINAL.write(out, SampleNumber::Integer(shard.index()));
        TOTAL_SHARDS.write(out, SampleNumber::Integer(shard.count().get()));
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}
