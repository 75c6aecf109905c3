//! The macros that declare families.

/// Declares a struct of counters and gauges, one family for each field:
///
/// ```
/// use podinit_expo::instruments::{Counter, CounterVec, FamilySource, Gauge, OperationResult, SavedFamilies};
///
/// podinit_expo::families! {
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
/// podinit_expo::families! {
///     pub struct CacheFamilies {
///         lookups: podinit_expo::instruments::Counter =
///             "podinit_cache_lookups_total", [], experimental,
///             "Times that the cache was asked.";
///     }
/// }
/// ```
///
/// Nor does a gauge that is to be saved, or a family with more or fewer labels than its type has.
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
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name {
            $( $(#[$field_meta])* $field_vis $field: $type ),+
        }

        impl $name {
            /// The families, in the order in which they are exposed.
            $vis const FAMILIES: [$crate::instruments::FamilyDoc; [$($family),+].len()] = [
                $( $crate::family!($type, $family, [$($label),*], $stability, $persistence, $help) ),+
            ];
        }

        impl $crate::instruments::FamilySource for $name {
            fn families(&self) -> Vec<$crate::instruments::FamilyDoc> {
                Self::FAMILIES.to_vec()
            }

            fn collect(&self, out: &mut dyn $crate::instruments::Encoder) {
                let [$($field),+] = &Self::FAMILIES;
                $( $crate::instruments::Instrument::collect(&self.$field, $field, out); )+
            }

            fn save(&self, saved: &mut $crate::instruments::SavedFamilies) {
                let _ = &saved;
                let [$($field),+] = &Self::FAMILIES;
                $( $crate::families!(@save $persistence, self.$field, $field, saved); )+
            }

            fn restore(&self, saved: &$crate::instruments::SavedFamilies) {
                let _ = saved;
                let [$($field),+] = &Self::FAMILIES;
                $( $crate::families!(@restore $persistence, self.$field, $field, saved); )+
            }
        }
    };
    (@save saved, $value:expr, $family:ident, $saved:ident) => {
        $saved.put($family, $crate::instruments::Persistent::save(&$value));
    };
    (@save not_saved, $value:expr, $family:ident, $saved:ident) => {
        let _ = $family;
    };
    (@restore saved, $value:expr, $family:ident, $saved:ident) => {
        $crate::instruments::Persistent::restore(&$value, $saved.series($family));
    };
    (@restore not_saved, $value:expr, $family:ident, $saved:ident) => {
        let _ = $family;
    };
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
            $vis const $name: $crate::instruments::FamilyDoc =
                $crate::family!($type, $family, [$($label),*], $stability, $persistence, $help);
        )+

        $(#[$meta])*
        $vis const $list: [$crate::instruments::FamilyDoc; [$($family),+].len()] = [$($name),+];
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

        impl $crate::instruments::FamilyType for $name {
            const KIND: $crate::instruments::Kind = $crate::instruments::Kind::$kind;
            const LABELS: usize = <[&str]>::len(&[$(stringify!($domain)),*]);
            $(const $more: bool = true;)?

            fn knows(labels: &[$crate::instruments::LabelText]) -> bool {
                let domains: [fn(&str) -> bool; Self::LABELS] =
                    [$(<$domain as $crate::instruments::LabelDomain>::contains),*];
                domains.iter().zip(labels).all(|(contains, text)| contains(text))
            }

            fn first() -> Vec<&'static str> {
                vec![$(<$domain as $crate::instruments::LabelDomain>::first()),*]
            }
        }
    };
}

/// One row of [`families!`] or [`computed_families!`] as a [`FamilyDoc`](crate::instruments::FamilyDoc).
#[macro_export]
#[doc(hidden)]
macro_rules! family {
    ($type:ty, $family:literal, [$($label:literal),*], $stability:ident, $persistence:ident, $help:literal) => {
        $crate::instruments::FamilyDoc::declare::<$type>(
            $family,
            &[$($label),*],
            $crate::family!(@stability $stability),
            $crate::family!(@persistence $persistence),
            $help,
        )
    };
    (@stability stable) => { $crate::instruments::Stability::Stable };
    (@stability experimental) => { $crate::instruments::Stability::Experimental };
    (@persistence saved) => { true };
    (@persistence not_saved) => { false };
}
