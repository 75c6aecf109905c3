//! `volumes` of a `spec`, as far as they say whether a pod is stateful, claims a persistent volume, or has
//! an image for one.

use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use super::DecodeContext;
use super::lenient::{LenientField, LenientParsed, LenientSeed, LenientText, skip};
use crate::node::OneText;

/// The sources of volumes that a stateless pod may have ([§9.4](crate::specification#s9-4)).
const STATELESS: [&str; 5] = ["secret", "configMap", "downwardAPI", "emptyDir", "projected"];

/// The sources of volumes for which there is a claim ([§13.4](crate::specification#s13-4)).
const CLAIMS: [&str; 2] = ["persistentVolumeClaim", "ephemeral"];

/// So many images of volumes are kept of a pod.
const MOST_IMAGES: usize = 16;
/// So many claims of volumes are kept of a pod.
const MOST_CLAIMS: usize = 16;

/// What volumes say.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodVolumes {
    /// One has none of the sources that a stateless pod may have
    pub is_stateful: bool,
    /// There is a claim for one
    pub(super) has_claim: bool,
    /// The images that are volumes, where images are wanted
    pub images: Vec<Arc<str>>,
    /// The claims, where they are wanted
    claims: Vec<VolumeClaimName>,
}

/// The name of the claim of a volume.
#[derive(Clone, Debug)]
enum VolumeClaimName {
    Stated(Arc<str>),
    /// It is that of the pod, a hyphen and this name of the volume
    OfVolume(Box<str>),
}

impl PodVolumes {
    /// The names of the claims of the pod `name`; `None` without any.
    pub(super) fn claim_names(&self, name: &str) -> Option<Arc<[Arc<str>]>> {
        let names = self.claims.iter().map(|claim| match claim {
            VolumeClaimName::Stated(claim) => Arc::clone(claim),
            VolumeClaimName::OfVolume(volume) => format!("{name}-{volume}").into(),
        });
        (!self.claims.is_empty()).then(|| names.collect())
    }
}

/// Reads [`PodVolumes`].
pub(super) struct VolumesReader<'c>(pub &'c mut DecodeContext);

impl<'de> LenientField<'de> for VolumesReader<'_> {
    type Value = PodVolumes;

    fn absent(self) -> PodVolumes {
        PodVolumes::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PodVolumes, A::Error> {
        let mut all = PodVolumes::default();
        while let Some(volume) = seq.next_element_seed(LenientSeed(VolumeReader(self.0)))? {
            all.is_stateful |= volume.is_stateful;
            all.has_claim |= volume.has_claim;
            let room = MOST_IMAGES - all.images.len();
            all.images.extend(volume.images.into_iter().take(room));
            let room = MOST_CLAIMS - all.claims.len();
            all.claims.extend(volume.claims.into_iter().take(room));
        }
        Ok(all)
    }
}

/// Reads what one volume says. What is no object is no volume.
struct VolumeReader<'c>(&'c mut DecodeContext);

impl<'de> LenientField<'de> for VolumeReader<'_> {
    type Value = PodVolumes;

    fn absent(self) -> PodVolumes {
        PodVolumes::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<PodVolumes, A::Error> {
        let (mut is_stateless, mut has_claim) = (false, false);
        let mut images = Vec::new();
        let (mut name, mut claim, mut is_ephemeral) = (None, None, false);
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            is_stateless |= key.as_deref().is_some_and(|key| STATELESS.contains(&key));
            has_claim |= (key.as_deref()).is_some_and(|key| CLAIMS.contains(&key));
            let options = &self.0.options;
            match key.as_deref() {
                Some("image") if options.images => {
                    images.extend(map.next_value_seed(LenientSeed(ImageReader(self.0)))?);
                }
                Some("name") if options.claims => {
                    name = map.next_value_seed(LenientSeed(LenientText))?;
                }
                Some("persistentVolumeClaim") if options.claims => {
                    claim = map.next_value_seed(LenientSeed(OneText("claimName")))?.flatten();
                }
                key => {
                    is_ephemeral |= options.claims && key == Some("ephemeral");
                    skip(&mut map)?;
                }
            }
        }
        let of_volume = name.filter(|_| is_ephemeral);
        let stated = claim.map(|claim| VolumeClaimName::Stated(self.0.text(&claim)));
        let claim = stated.or(of_volume.map(|name| VolumeClaimName::OfVolume(name.into())));
        let claims = claim.into_iter().collect();
        Ok(PodVolumes { is_stateful: !is_stateless, has_claim, images, claims })
    }
}

/// Reads the reference of an image that is a volume.
struct ImageReader<'c>(&'c mut DecodeContext);

impl<'de> LenientField<'de> for ImageReader<'_> {
    type Value = Option<Arc<str>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut image = None;
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            if key.as_deref() == Some("reference") {
                let share =
                    LenientParsed(|text: &str| (!text.is_empty()).then(|| context.image(text)));
                image = map.next_value_seed(LenientSeed(share))?;
            } else {
                skip(&mut map)?;
            }
        }
        Ok(image)
    }
}
