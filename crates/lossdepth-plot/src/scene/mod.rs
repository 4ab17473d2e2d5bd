//! A scene: shapes, text and images in pixels from the top left corner, and its encoding as PNG or SVG.

pub(crate) mod colour;
pub(crate) mod font;
mod raster;
mod svg;

pub(crate) use svg::base64;

use colour::Colour;

/// A file format for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Vector graphics with selectable text.
    Svg,
}

/// A scene that cannot be encoded: it is too large, or there is too little memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(String);

/// A point of the picture.
pub(crate) type Point = [f64; 2];

/// Shapes, text and images of a picture, drawn in order.
#[derive(Debug)]
pub struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) items: Vec<Item>,
    /// The title element of an SVG, for screen readers and viewers.
    pub(crate) description: String,
}

/// An element of a scene.
#[derive(Debug)]
pub(crate) enum Item {
    Path(Path),
    Text(Text),
    Image(Image),
}

/// Polylines, filled together by the even-odd rule unless they are `separate`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Path {
    pub(crate) lines: Vec<Vec<Point>>,
    pub(crate) closed: bool,
    /// Draw a circle of this radius at every point instead of lines between them.
    pub(crate) dots: Option<f64>,
    /// Fill and stroke each polyline as a shape of its own, in order.
    pub(crate) separate: bool,
    pub(crate) fill: Option<Colour>,
    pub(crate) stroke: Option<Stroke>,
    /// Draw inside this rectangle only.
    pub(crate) clip: Option<Rect>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    /// Lengths of dash and gap.
    pub(crate) dash: Option<[f64; 2]>,
}

/// Which point of a text its position is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "the text of a text")]
pub(crate) struct Text {
    pub(crate) text: String,
    /// The position of its anchor, on the baseline.
    pub(crate) at: Point,
    pub(crate) anchor: Anchor,
    pub(crate) size: f64,
    pub(crate) colour: Colour,
    /// Degrees, clockwise.
    pub(crate) rotation: f64,
    /// A stroke of another colour around the glyphs, with its width.
    pub(crate) halo: Option<(Colour, f64)>,
}

/// Pixels scaled to a rectangle.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) area: Rect,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// Row by row from the top left.
    pub(crate) pixels: Vec<Colour>,
    /// Interpolate between pixels when scaled; otherwise every pixel is a rectangle of one colour.
    pub(crate) smooth: bool,
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn corners(&self) -> Vec<Point> {
        let Self { left, top, right, bottom } = *self;
        vec![[left, top], [right, top], [right, bottom], [left, bottom]]
    }

    pub(crate) fn contains(&self, [x, y]: Point) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }
}

impl Text {
    pub(crate) fn width(&self) -> f64 {
        self.size * font::width(&self.text)
    }

    /// The distance from the start of the text to its anchor.
    pub(crate) fn offset(&self) -> f64 {
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        }
    }

    /// The corners of its bounding box.
    pub(crate) fn corners(&self) -> [Point; 4] {
        let (sin, cos) = self.rotation.to_radians().sin_cos();
        let (left, up, down) = (-self.offset(), -font::CAPITAL * self.size, font::DESCENT * self.size);
        let right = left + self.width();
        [[left, up], [right, up], [right, down], [left, down]]
            .map(|[x, y]| [self.at[0] + x * cos - y * sin, self.at[1] + x * sin + y * cos])
    }
}

impl Scene {
    pub(crate) fn new(width: u32, height: u32, description: String) -> Self {
        Self { width, height, items: Vec::new(), description }
    }

    pub(crate) fn path(&mut self, path: Path) {
        self.items.push(Item::Path(path));
    }

    pub(crate) fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    pub(crate) fn image(&mut self, image: Image) {
        self.items.push(Item::Image(image));
    }

    /// The bytes of a file that shows the scene.
    ///
    /// # Errors
    /// The scene is too large for the format, or there is too little memory.
    pub fn encode(&self, format: Format) -> Result<Vec<u8>, EncodeError> {
        match format {
            Format::Png => raster::png(self),
            Format::Svg => Ok(svg::svg(self).into_bytes()),
        }
    }

    /// A line between two points.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.path(Path { lines: vec![vec![from, to]], stroke: Some(stroke), ..Path::default() });
    }

    #[cfg(test)]
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Checks that all text is inside the picture.
    #[cfg(test)]
    pub(crate) fn assert_text_inside(&self) {
        for text in self.texts() {
            for [x, y] in text.corners() {
                let inside =
                    x >= 0.0 && y >= 0.0 && x <= f64::from(self.width) && y <= f64::from(self.height);
                assert!(inside, "{text:?} sticks out at {x}, {y}");
            }
        }
    }
}

/// Whether two rectangles, rotated or not, have a point in common (separating axis theorem).
pub(crate) fn boxes_overlap(a: &[Point; 4], b: &[Point; 4]) -> bool {
    let normals = |corners: &[Point; 4]| {
        [0, 1].map(|i| [corners[i + 1][1] - corners[i][1], corners[i][0] - corners[i + 1][0]])
    };
    let projection = |corners: &[Point; 4], [x, y]: Point| {
        corners
            .iter()
            .map(|p| p[0] * x + p[1] * y)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
    };
    normals(a).into_iter().chain(normals(b)).all(|normal| {
        let ((low, high), (other_low, other_high)) = (projection(a, normal), projection(b, normal));
        low <= other_high && other_low <= high
    })
}
