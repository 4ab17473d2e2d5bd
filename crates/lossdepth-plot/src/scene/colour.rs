//! Colours: a sequential colour map, and a categorical palette.

/// An sRGB colour with opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Colour {
    pub(crate) rgb: [u8; 3],
    /// From 0 (transparent) to 1.
    pub(crate) opacity: f64,
}

impl Colour {
    pub(crate) const WHITE: Self = Self::new(255, 255, 255);
    /// Text and frames.
    pub(crate) const INK: Self = Self::new(34, 34, 34);
    /// Captions and auxiliary lines.
    pub(crate) const GREY: Self = Self::new(110, 110, 110);

    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], opacity: 1.0 }
    }

    pub(crate) const fn grey(level: u8) -> Self {
        Self::new(level, level, level)
    }

    pub(crate) fn with_opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        let [red, green, blue] = self.rgb;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The colour-blind safe palette of Okabe and Ito (2008), ordered for contrast with [`heat`].
pub(crate) const CATEGORIES: [Colour; 7] = [
    Colour::new(30, 30, 30),
    Colour::new(213, 94, 0),
    Colour::new(230, 159, 0),
    Colour::new(204, 121, 167),
    Colour::new(0, 114, 178),
    Colour::new(0, 158, 115),
    Colour::new(86, 180, 233),
];

/// The sequential colour map, from 0 (light) to 1 (dark).
///
/// It is defined in OKLab (Ottosson 2020), where distances are perceptual: the lightness decreases linearly, so the order
/// is visible in greyscale too; the hue goes from pale yellow through green to blue.
pub(crate) fn heat(share: f64) -> Colour {
    encode_srgb(linear_rgb(share))
}

fn linear_rgb(share: f64) -> [f64; 3] {
    let t = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let lightness = lightness(t);
    let hue = (112.0 + 158.0 * t).to_radians();
    let chroma = 0.022 + 0.056 * (std::f64::consts::PI * t).sin() + 0.05 * t;
    oklab_to_linear_rgb(lightness, chroma * hue.cos(), chroma * hue.sin())
}

fn lightness(t: f64) -> f64 {
    0.985 - 0.60 * t
}

/// The colour of lines and text on a background of [`heat`].
pub(crate) fn on_heat(share: f64) -> Colour {
    if lightness(share.clamp(0.0, 1.0)) > 0.62 { Colour::INK } else { Colour::WHITE }
}

/// Linear red, green and blue; within 0 and 1 if the colour is in the sRGB gamut.
fn oklab_to_linear_rgb(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let cube = |x: f64| x * x * x;
    let l = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ]
}

fn encode_srgb(linear: [f64; 3]) -> Colour {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
    let encode = |x: f64| {
        let x = x.clamp(0.0, 1.0);
        let x = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (255.0 * x).round() as u8
    };
    let [red, green, blue] = linear.map(encode);
    Colour::new(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's relative luminance.
    fn luminance(colour: Colour) -> f64 {
        let linear = colour.rgb.map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn lightness_decreases_evenly() {
        let levels: Vec<f64> = (0..=32).map(|i| luminance(heat(f64::from(i) / 32.0)).cbrt()).collect();
        for pair in levels.windows(2) {
            let step = pair[0] - pair[1];
            assert!(step > 0.5 * 0.6 / 32.0 && step < 1.6 * 0.6 / 32.0, "{levels:?}");
        }
    }

    #[test]
    fn every_colour_is_in_the_srgb_gamut() {
        for i in 0..=100 {
            let share = f64::from(i) / 100.0;
            assert!(
                linear_rgb(share).iter().all(|x| (-1e-3..=1.001).contains(x)),
                "{share}: {:?}",
                linear_rgb(share)
            );
        }
    }

    #[test]
    fn text_has_enough_contrast_on_every_colour() {
        for i in 0..=100 {
            let share = f64::from(i) / 100.0;
            let (one, other) = (luminance(heat(share)), luminance(on_heat(share)));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            // The minimum of WCAG for large text.
            assert!(contrast >= 3.0, "{share}: {contrast}");
        }
    }
}
