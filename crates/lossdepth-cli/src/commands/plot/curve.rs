//! The depth in one column.

use super::window::{range, widened};
use super::words::column_name;
use super::work::Work;
use crate::console::Progress;
use crate::error::Result;
use lossdepth::{Fit, Model, Rows};
use lossdepth_plot::{Curve, Scene};

impl Work<'_> {
    /// One column.
    pub(super) fn curve(&mut self, model: &Model) -> Result<Scene> {
        const STEPS: usize = 600;
        let inputs = self.inputs;
        let sample = inputs.data.part()?.rows.as_slice().to_vec();
        let (low, high) = widened(range(sample.iter().chain(inputs.reference.rows().as_slice()).copied()));
        let at: Vec<f64> = (0..=STEPS).map(|i| low + (high - low) * i as f64 / STEPS as f64).collect();
        let progress = Progress::new(self.args.running.quiet, Some(at.len()));
        let fits = self.score(model, Rows::new(&at, 1)?, &progress, false)?;
        let within = |x: f64| x.clamp(0.0, 1.0);
        // Not every method has standard errors, and some withhold them far out.
        let known = |fit: &Fit| fit.stderr.is_finite();
        let spread = |fit: &Fit| if known(fit) { 1.96 * fit.stderr } else { 0.0 };
        let band = |fit: &Fit| (within(fit.depth - spread(fit)), within(fit.depth + spread(fit)));
        let band = fits.iter().map(band).collect();
        let depth = fits.iter().map(|fit| fit.depth).collect();
        let name = column_name(&inputs.names[0]);
        let caption = if fits.iter().all(known) {
            "The band is 1.96 standard errors of the sampling to both sides."
        } else if fits.iter().any(known) {
            "The band is 1.96 standard errors of the sampling to both sides, where that is known."
        } else {
            ""
        };
        Ok(lossdepth_plot::curve(&self.style(caption), &Curve { name, at, depth, band, sample }))
    }
}
