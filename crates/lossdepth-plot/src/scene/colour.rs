//! Colours: an even map from light to dark, and a few that everybody can tell apart.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Colour {
    pub(super) rgb: [u8; 3],
    /// From 0, invisible, to 1.
    pub(super) opacity: f64,
}

impl Colour {
    pub(super) const WHITE: Self = Self::new(255, 255, 255);
    /// For words and frames: softer than black.
    pub(super) const INK: Self = Self::new(34, 34, 34);
    /// For what should not catch the eye.
    pub(super) const GREY: Self = Self::new(110, 110, 110);

    pub(super) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], opacity: 1.0 }
    }

    pub(super) const fn grey(level: u8) -> Self {
        Self::new(level, level, level)
    }

    pub(super) fn with_opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// As in a style sheet.
    pub(super) fn hex(self) -> String {
        let [red, green, blue] = self.rgb;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The palette of Okabe and Ito, which colour-blind people can tell apart, in an order that goes with [`heat`].
pub(super) const CATEGORIES: [Colour; 7] = [
    Colour::new(30, 30, 30),
    Colour::new(213, 94, 0),
    Colour::new(230, 159, 0),
    Colour::new(204, 121, 167),
    Colour::new(0, 114, 178),
    Colour::new(0, 158, 115),
    Colour::new(86, 180, 233),
];

/// The colour of a share between 0, light, and 1, dark.
///
/// Made in OKLab (Ottosson 2020), in which equal distances look equal: the lightness falls evenly, so the order is
/// seen without colours too; the hue turns from a pale yellow through green to blue.
pub(super) fn heat(share: f64) -> Colour {
    encoded(light(share))
}

fn light(share: f64) -> [f64; 3] {
    let t = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let lightness = lightness(t);
    let hue = (112.0 + 158.0 * t).to_radians();
    let chroma = 0.022 + 0.056 * (std::f64::consts::PI * t).sin() + 0.05 * t;
    linear(lightness, chroma * hue.cos(), chroma * hue.sin())
}

fn lightness(t: f64) -> f64 {
    0.985 - 0.60 * t
}

/// The colour of lines and letters that are to be read on [`heat`].
pub(super) fn on_heat(share: f64) -> Colour {
    if lightness(share.clamp(0.0, 1.0)) > 0.62 { Colour::INK } else { Colour::WHITE }
}

/// Red, green and blue in terms of light, within 0 and 1 if a screen can show the colour.
fn linear(lightness: f64, a: f64, b: f64) -> [f64; 3] {
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

fn encoded(linear: [f64; 3]) -> Colour {
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
    fn darker_is_more_and_evenly_so() {
        let levels: Vec<f64> = (0..=32).map(|i| luminance(heat(f64::from(i) / 32.0)).cbrt()).collect();
        for pair in levels.windows(2) {
            let step = pair[0] - pair[1];
            assert!(step > 0.5 * 0.6 / 32.0 && step < 1.6 * 0.6 / 32.0, "{levels:?}");
        }
    }

    #[test]
    fn every_colour_can_be_shown_as_it_is_meant() {
        for i in 0..=100 {
            let share = f64::from(i) / 100.0;
            assert!(light(share).iter().all(|x| (-1e-3..=1.001).contains(x)), "{share}: {:?}", light(share));
        }
    }

    #[test]
    fn words_can_be_read_on_every_colour() {
        for i in 0..=100 {
            let share = f64::from(i) / 100.0;
            let (one, other) = (luminance(heat(share)), luminance(on_heat(share)));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            // What WCAG asks of large letters.
            assert!(contrast >= 3.0, "{share}: {contrast}");
        }
    }
}
