//! The macros that declare families.

/// Declares a struct of counters and gauges, one family for each field:
///
/// ```
/// use podinit_instruments::{Counter, CounterVec, FamilySource, Gauge, OperationResult, SavedFamilies};
///
/// podinit_instruments::families! {
///     /// What a cache counts.
///     pub struct CacheFamilies {
///         /// Times that the cache was asked
///         pub lookups: CounterVec<OperationResult> =
///             "podinit_cache_lookups_total", ["result"], experimental, saved,
///             "Times that the cache was asked, by result.";
///         /// Entries in the cache
///         pub entries: Gauge =
///             "podinit_cache_entries", [], experimental, not_saved,
///             "Entries in the cache.";
///     }
/// }
///
/// let cache = CacheFamilies::default();
/// cache.lookups.with(OperationResult::Success).increment();
/// let mut saved = SavedFamilies::default();
/// cache.save(&mut saved);
/// assert_eq!(saved.sum("podinit_cache_lookups_total"), 1);
/// assert_eq!(CacheFamilies::FAMILIES.len(), 2);
/// ```
///
/// A row has no default. It does not compile without `stable` or `experimental`, nor without `saved`
/// or `not_saved`:
///
/// ```compile_fail
/// podinit_instruments::families! {
///     pub struct CacheFamilies {
///         lookups: podinit_instruments::Counter =
///             "podinit_cache_lookups_total", [], experimental,
///             "Times that the cache was asked.";
///     }
/// }
/// ```
///
/// Nor does a gauge that is to be saved, or a family with more or fewer labels than its type has.
///
/// `capped struct` declares what there is of each value of one more label, which comes last and has any text: the families
/// are exposed and saved with all of these values, within a cap on their number. `capped(3) struct` does so for three
/// labels together.
#[macro_export]
macro_rules! families {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty =
                    $family:literal, [$($label:literal),*], $stability:ident, $persistence:ident,
                    $help:literal;
            )+
        }
    ) => {
        $crate::families! { @rows
            $(#[$meta])*
            $vis struct $name {
                $(
                    $(#[$field_meta])*
                    $field_vis $field: $type = $crate::family!(
                        $type, $family, [$($label),*], $stability, $persistence, $help
                    ), $persistence;
                )+
            }
        }

        impl $crate::FamilySource for $name {
            fn families(&self) -> Vec<$crate::FamilyDoc> {
                Self::FAMILIES.to_vec()
            }

            fn collect(&self, out: &mut dyn $crate::ExpositionEncoder) {
                $crate::collect(self, out);
            }

            fn save(&self, saved: &mut $crate::SavedFamilies) {
                $crate::save(self, saved);
            }

            fn restore(&self, saved: &$crate::SavedFamilies) {
                $crate::restore(self, saved);
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis capped struct $($rest:tt)*
    ) => {
        $crate::families! { $(#[$meta])* $vis capped(1) struct $($rest)* }
    };
    (
        $(#[$meta:meta])*
        $vis:vis capped($names:literal) struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty =
                    $family:literal, [$($label:literal),*], $stability:ident, $persistence:ident,
                    $help:literal;
            )+
        }
    ) => {
        $crate::families! { @rows
            $(#[$meta])*
            $vis struct $name {
                $(
                    $(#[$field_meta])*
                    $field_vis $field: $type = $crate::family!(
                        $crate::FamilyByName<$type, $names>,
                        $family, [$($label),*], $stability, $persistence, $help
                    ), $persistence;
                )+
            }
        }
    };
    (@rows
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty = $doc:expr, $persistence:ident;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name {
            $( $(#[$field_meta])* $field_vis $field: $type ),+
        }

        impl $name {
            /// The families, in the order in which they are exposed.
            $vis const FAMILIES: [$crate::FamilyDoc; [$(stringify!($field)),+].len()] =
                [$($doc),+];
        }

        impl $crate::FamilySet for $name {
            const DOCS: &'static [$crate::FamilyDoc] = &Self::FAMILIES;

            fn rows(&self) -> Vec<$crate::FamilyRow<'_>> {
                let [$($field),+] = &Self::FAMILIES;
                vec![$(
                    $crate::FamilyRow {
                        family: $field,
                        instrument: &self.$field,
                        persistent: $crate::families!(@persistent $persistence, self.$field),
                    }
                ),+]
            }
        }
    };
    (@persistent saved, $value:expr) => { Some(&$value) };
    (@persistent not_saved, $value:expr) => { None };
}

/// Declares families whose series their owner computes or keeps itself: a constant for each, and
/// the list of them. The type says which labels they have; no value of it is made. `saved` obliges
/// the owner to save them, which a test of the list of all families checks.
#[macro_export]
macro_rules! computed_families {
    (
        $(#[$meta:meta])*
        $vis:vis const $list:ident {
            $(
                $name:ident : $type:ty =
                    $family:literal, [$($label:literal),*], $stability:ident, $persistence:ident,
                    $help:literal;
            )+
        }
    ) => {
        $(
            #[doc = $help]
            #[allow(unreachable_pub, reason = "each is as visible as their list")]
            $vis const $name: $crate::FamilyDoc =
                $crate::family!($type, $family, [$($label),*], $stability, $persistence, $help);
        )+

        $(#[$meta])*
        $vis const $list: [$crate::FamilyDoc; [$($family),+].len()] = [$($name),+];
    };
}

/// Declares the type of a family whose owner computes its series: its kind, the values of its labels, and whether the
/// label set or the labels of `--slo-labels` come after them.
#[macro_export]
macro_rules! family_type {
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $kind:ident [$($domain:ty),*] $(+ $more:ident)?;) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis struct $name;

        impl $crate::FamilyType for $name {
            const KIND: $crate::MetricType = $crate::MetricType::$kind;
            const LABELS: usize = <[&str]>::len(&[$(stringify!($domain)),*]);
            $(const $more: bool = true;)?

            fn knows(labels: &[$crate::LabelText]) -> bool {
                let domains: [fn(&str) -> bool; Self::LABELS] =
                    [$(<$domain as $crate::LabelDomain>::contains),*];
                domains.iter().zip(labels).all(|(contains, text)| contains(text))
            }

            fn first() -> Vec<&'static str> {
                vec![$(<$domain as $crate::LabelDomain>::first()),*]
            }
        }
    };
}

/// One row of [`families!`] or [`computed_families!`] as a [`FamilyDoc`](crate::FamilyDoc).
#[macro_export]
#[doc(hidden)]
macro_rules! family {
    ($type:ty, $family:literal, [$($label:literal),*], $stability:ident, $persistence:ident, $help:literal) => {
        $crate::FamilyDoc::declare::<$type>(
            $family,
            &[$($label),*],
            $crate::family!(@stability $stability),
            $crate::family!(@persistence $persistence),
            $help,
        )
    };
    (@stability stable) => { $crate::MetricStability::Stable };
    (@stability experimental) => { $crate::MetricStability::Experimental };
    (@persistence saved) => { true };
    (@persistence not_saved) => { false };
}
