//! What a picture is drawn from, and how the computation went.

use super::Plot;
use super::words::{file_name, in_words};
use crate::commands::Outcome;
use crate::commands::inputs::Inputs;
use crate::console::{self, Progress};
use crate::error::{Result, count};
use lossdepth::{Fit, Method, Model, Rows, Run, Settings, Stop};
use lossdepth_plot::Style;

/// What is drawn from, and how the computation went.
pub(super) struct Work<'a> {
    pub(super) args: &'a Plot,
    pub(super) settings: &'a Settings,
    pub(super) inputs: &'a Inputs,
    pub(super) unconverged: usize,
    pub(super) asked: usize,
    pub(super) largest: f64,
}

impl Work<'_> {
    pub(super) fn style(&self, caption: &str) -> Style {
        let (width, height) = self.args.size;
        Style {
            width,
            height,
            title: self.args.title.clone(),
            caption: format!("{} {caption}", self.about()).trim_end().to_owned(),
            text_scale: 1.0,
        }
    }

    /// What was computed, from what.
    fn about(&self) -> String {
        let rows = count(self.inputs.reference.len(), "row");
        let of = if self.inputs.is_its_own_reference() {
            format!("the {rows} of {}", file_name(self.inputs.reference_file()))
        } else {
            let data = &self.inputs.data;
            let drawn = count(data.part().map_or(0, |part| part.rows.len()), "row");
            format!(
                "{drawn} of {} against {rows} of {}",
                file_name(data.file()),
                file_name(self.inputs.reference_file())
            )
        };
        format!("{} of {of}.", in_words(self.settings))
    }

    pub(super) fn threads(&self) -> Option<usize> {
        self.args.running.threads.map(usize::from)
    }

    pub(super) fn score(
        &mut self,
        model: &Model,
        rows: Rows<'_>,
        progress: &Progress,
        depths_only: bool,
    ) -> Result<Vec<Fit>> {
        let advance = |rows| progress.advance(rows);
        let run = Run { threads: self.threads(), progress: Some(&advance), depths_only, ..Run::default() };
        let fits = model.score(rows, &run)?;
        self.asked += fits.len();
        self.unconverged += fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        self.largest = fits.iter().fold(self.largest, |largest, fit| largest.max(fit.error));
        Ok(fits)
    }

    pub(super) fn finish(&self) -> Outcome {
        if self.unconverged == 0 {
            return Outcome::Done;
        }
        let Self { unconverged, asked, largest, .. } = self;
        console::warning(format_args!(
            "at {unconverged} of {asked} points the depth did not converge, largest error {largest:.1e}"
        ));
        Outcome::NotConverged
    }

    /// Whether the depth is constant but for steps, which do not mind the units; other depths are smooth.
    pub(super) fn steps(&self) -> bool {
        matches!(self.settings.method, Method::Forest | Method::Halfspace)
    }

    /// Whether the contours of the halfspace depth can be had without a grid, in a time that one would wait.
    pub(super) fn exact(&self) -> bool {
        const PATIENCE: usize = 2500;
        let reference = &self.inputs.reference;
        self.settings.method == Method::Halfspace && reference.width() == 2 && reference.len() <= PATIENCE
    }
}
