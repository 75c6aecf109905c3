//! The colours of the stages: the same on the page, in reports, in terminals and on dashboards.

use std::fmt::Write;

use podinit_core::lifecycle::Stage;

/// The colours of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageColour {
    pub stage: Stage,
    /// On light ground, and on dashboards, whose ground may be either
    pub light: &'static str,
    /// On dark ground
    pub dark: &'static str,
    /// In a terminal, as an ANSI code
    pub ansi: u8,
}

const fn colour(stage: Stage, light: &'static str, dark: &'static str, ansi: u8) -> StageColour {
    StageColour { stage, light, dark, ansi }
}

/// All colours, in the order of the stages.
pub const PALETTE: [StageColour; Stage::ALL.len()] = [
    colour(Stage::Gated, "#7a828b", "#9198a1", 90),
    colour(Stage::Scheduling, "#b07c00", "#d29922", 33),
    colour(Stage::Unschedulable, "#cf222e", "#f85149", 31),
    colour(Stage::Network, "#0969da", "#4493f8", 34),
    colour(Stage::Init, "#8250df", "#ab7df8", 35),
    colour(Stage::Containers, "#1b7c83", "#39c5cf", 36),
    colour(Stage::Readiness, "#1a7f37", "#3fb950", 32),
];

/// The colour of a stage in a terminal, as an ANSI code; that of no stage is the default one.
pub fn ansi(stage: &str) -> u8 {
    const DEFAULT: u8 = 39;
    let colour = PALETTE.iter().find(|one| one.stage.as_str() == stage);
    colour.map_or(DEFAULT, |one| one.ansi)
}

/// A variable of CSS for each stage, by the scheme that the reader prefers.
pub fn css() -> String {
    let variables = |shade: fn(&StageColour) -> &'static str| {
        PALETTE.iter().fold(String::new(), |mut text, one| {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "--{}:{};", one.stage.as_str(), shade(one));
            text
        })
    };
    format!(
        ":root{{{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        variables(|one| one.light),
        variables(|one| one.dark)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The relative luminance of WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let channel = |from: usize| {
            let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            match value <= 0.040_45 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// WCAG 2.2, 1.4.11: what a drawing says has a contrast of 3 : 1 to its ground.
    #[test]
    fn every_stage_stands_out_from_its_ground() {
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
        for one in PALETTE {
            let grounds = [
                (one.light, "#ffffff"),
                (one.light, "#181b1f"), // a panel of Grafana's dark theme
                (one.dark, "#0d1117"),
            ];
            for (shade, ground) in grounds {
                let found = contrast(shade, ground);
                assert!(found >= 3.0, "{one:?} on {ground}: {found:.2}");
            }
        }
    }

    #[test]
    fn the_palette_has_every_stage_in_order() {
        assert_eq!(PALETTE.map(|one| one.stage), Stage::ALL);
        assert_eq!((ansi("network"), ansi("whole")), (34, 39));
        assert!(css().contains("--network:#0969da;") && css().contains("--network:#4493f8;"));
    }
}
