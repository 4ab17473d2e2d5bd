//! The plane of a map.

use super::words::{percent, two_names};
use super::work::Work;
use crate::error::{Error, Result};
use lossdepth::Scale;
use lossdepth::data::Scaling;
use lossdepth_plot::Plane;

impl Work<'_> {
    /// The plane, the names of its coordinates, and how that is said.
    pub(super) fn plane(&self) -> Result<(Plane, [String; 2], String)> {
        let (inputs, columns) = (self.inputs, &self.inputs.names);
        let reference = &inputs.reference;
        if columns.len() == 2 {
            if self.args.axes != "pca" {
                self.axes(columns)?;
            }
            return Ok((Plane::of_columns(reference, [0, 1])?, two_names(columns), String::new()));
        }
        if self.args.axes == "pca" {
            let scale = match self.settings.scale {
                Scale::None if self.steps() => Scale::Standard,
                scale => scale,
            };
            let fraction = self.settings.support_fraction;
            let (scaling, _) = Scaling::of(scale, reference, fraction)?;
            let plane = Plane::principal(reference, &scaling)?;
            let [first, second] = plane.shares().unwrap_or_default().map(percent);
            let scaled = if scale == Scale::None { "" } else { " of the scaled columns" };
            let about = format!(
                "Depth in all {} columns, on the plane through the mean along the first two principal axes{scaled} \
                 ({first} and {second} of the variance); rows are projected on it.",
                columns.len()
            );
            let name =
                |which: &str, share: String| format!("{which} principal axis ({share} of the variance)");
            return Ok((plane, [name("first", first), name("second", second)], about));
        }
        let axes = self.axes(columns)?;
        let names = axes.map(|column| columns[column].clone());
        let about = format!(
            "Depth in all {} columns, on the plane of {} and {} with the others at their medians; rows are projected on it.",
            columns.len(),
            names[0],
            names[1]
        );
        Ok((Plane::of_columns(reference, axes)?, names, about))
    }

    /// The two columns that `--axes` names.
    fn axes(&self, columns: &[String]) -> Result<[usize; 2]> {
        let asked = crate::load::split(&self.args.axes);
        let find = |name: &String| {
            columns.iter().position(|column| column == name).or_else(|| {
                let number: usize = name.parse().ok()?;
                (number < columns.len()).then_some(number)
            })
        };
        match asked.iter().map(find).collect::<Vec<_>>()[..] {
            [Some(first), Some(second)] if first != second => Ok([first, second]),
            _ => {
                let (axes, names) = (&self.args.axes, crate::load::list(columns));
                Err(Error::Usage(format!("`--axes` must be `pca` or two of {names}, got `{axes}`")))
            }
        }
    }
}
