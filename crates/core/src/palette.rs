//! The colours of the stages: the same on the page, in reports, in terminals and on dashboards. They stand beside the
//! stages, since what draws them shares no other crate about stages or pages.

use std::fmt::Write;

use crate::lifecycle::Stage;

/// The colours of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageColour {
    pub stage: Stage,
    /// On light ground, and on dashboards, whose ground may be either
    pub light: &'static str,
    /// On dark ground
    dark: &'static str,
    /// In a terminal, as an ANSI code
    pub ansi: u8,
}

const fn colour(stage: Stage, light: &'static str, dark: &'static str, ansi: u8) -> StageColour {
    StageColour { stage, light, dark, ansi }
}

/// All colours, in the order of the stages. None has the hue of a status: red, amber or green. Who cannot see red,
/// green or blue tells them apart too, those of stages that follow each other best.
pub const PALETTE: [StageColour; Stage::ALL.len()] = [
    colour(Stage::Gated, "#7a828b", "#9198a1", 90),
    colour(Stage::Scheduling, "#15749e", "#54cad6", 36),
    colour(Stage::Unschedulable, "#136dff", "#3a80fd", 34),
    colour(Stage::Network, "#ba2d90", "#995e8b", 35),
    colour(Stage::Init, "#1594ff", "#0d67c7", 94),
    colour(Stage::Containers, "#d076ac", "#97a6fb", 95),
    colour(Stage::Readiness, "#b846c1", "#ab79b8", 96),
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

    type Three = [f64; 3];

    /// So far apart are any two stages, and two that follow each other.
    const LEAST: f64 = 10.0;
    const LEAST_OF_NEXT: f64 = 13.5;

    /// Red, green and blue of sRGB, linear.
    fn linear(colour: &str) -> Three {
        [1, 3, 5].map(|from: usize| {
            let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            match value <= 0.040_45 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        })
    }

    fn times(matrix: [Three; 3], [x, y, z]: Three) -> Three {
        matrix.map(|[a, b, c]| a * x + b * y + c * z)
    }

    /// The relative luminance of WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// How people see without one kind of cones, for linear sRGB: Machado, Oliveira and Fernandes 2009, severity 1.
    const VISIONS: [(&str, [Three; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    /// Lightness, and how red and how yellow: CIELAB.
    fn lab(linear: Three) -> Three {
        const TO_XYZ: [Three; 3] = [
            [0.412456, 0.357576, 0.180437],
            [0.212673, 0.715152, 0.072175],
            [0.019334, 0.119192, 0.950304],
        ];
        let [x, y, z] = times(TO_XYZ, linear.map(|part| part.clamp(0.0, 1.0)));
        let [x, y, z] = [x / 0.95047, y, z / 1.08883].map(|part| match part > 0.008856 {
            true => part.cbrt(),
            false => (903.3 * part + 16.0) / 116.0,
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The distance of two colours (CIE 1976) as somebody sees them.
    fn distance(vision: [Three; 3], one: &str, other: &str) -> f64 {
        let [one, other] = [one, other].map(|colour| lab(times(vision, linear(colour))));
        let squares = one.iter().zip(other).map(|(one, other)| (one - other).powi(2));
        squares.sum::<f64>().sqrt()
    }

    #[test]
    fn who_sees_colours_badly_tells_stages_apart_too() {
        assert!((distance(VISIONS[0].1, "#ffffff", "#000000") - 100.0).abs() < 0.01);
        for (name, vision) in VISIONS {
            for shade in [|one: &StageColour| one.light, |one: &StageColour| one.dark] {
                let shades = PALETTE.each_ref().map(shade);
                let (mut any, mut next) = (f64::MAX, f64::MAX);
                for (place, one) in shades.iter().enumerate() {
                    for (other_place, other) in shades.iter().enumerate().skip(place + 1) {
                        let found = distance(vision, one, other);
                        any = any.min(found);
                        next = if other_place == place + 1 { next.min(found) } else { next };
                    }
                }
                println!("{name}: any two {any:.1}, two that follow each other {next:.1}");
                assert!(any >= LEAST && next >= LEAST_OF_NEXT, "{name}: {any:.1} {next:.1}");
            }
        }
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
        assert_eq!((ansi("network"), ansi("whole")), (35, 39));
        assert!(css().contains("--network:#ba2d90;") && css().contains("--network:#995e8b;"));
    }
}
