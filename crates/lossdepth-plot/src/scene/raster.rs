//! A scene as PNG.

use super::colour::Colour;
use super::font;
use super::{EncodeError, Image, Item, Path, Rect, Scene, Stroke, Text};
use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, EncodeError> {
    let pixmap = draw(scene).ok_or_else(|| EncodeError("there is not enough memory".to_owned()))?;
    let colour =
        |pixel: &tiny_skia::PremultipliedColorU8| Colour::new(pixel.red(), pixel.green(), pixel.blue());
    let pixels: Vec<Colour> = pixmap.pixels().iter().map(colour).collect();
    encode(&pixels, scene.width as usize, scene.height as usize)
}

/// Pixels per metre: 200 dpi.
const PER_METRE: u32 = 7874;

/// Encodes pixels as PNG.
pub(crate) fn encode(pixels: &[Colour], columns: usize, rows: usize) -> Result<Vec<u8>, EncodeError> {
    let size = |n: usize| u32::try_from(n).map_err(|_| EncodeError("the picture is too large".to_owned()));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size(columns)?, size(rows)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    // Large areas of one colour compress best without a filter.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PER_METRE,
        yppu: PER_METRE,
        unit: png::Unit::Meter,
    }));
    let data: Vec<u8> = pixels.iter().flat_map(|colour| colour.rgb).collect();
    let failed = |error: png::EncodingError| EncodeError(error.to_string());
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&data).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

fn draw(scene: &Scene) -> Option<Pixmap> {
    let mut canvas = Pixmap::new(scene.width, scene.height)?;
    canvas.fill(tiny_skia::Color::WHITE);
    let mut clips: Vec<(Rect, Mask)> = Vec::new();
    for item in &scene.items {
        match item {
            Item::Path(path) => {
                let mask = path.clip.and_then(|clip| mask(&mut clips, clip, scene));
                draw_path(&mut canvas, path, mask.and_then(|at| clips.get(at)).map(|(_, mask)| mask));
            }
            Item::Text(text) => draw_text(&mut canvas, text),
            Item::Image(image) => draw_image(&mut canvas, image),
        }
    }
    Some(canvas)
}

/// The index in `clips` of the mask of a rectangle, which is made when first needed.
fn mask(clips: &mut Vec<(Rect, Mask)>, clip: Rect, scene: &Scene) -> Option<usize> {
    if let Some(known) = clips.iter().position(|(known, _)| *known == clip) {
        return Some(known);
    }
    let mut mask = Mask::new(scene.width, scene.height)?;
    let path = outline(&[clip.corners()], true)?;
    mask.fill_path(&path, FillRule::EvenOdd, true, Transform::identity());
    clips.push((clip, mask));
    Some(clips.len() - 1)
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is enough for pixels")]
fn single(x: f64) -> f32 {
    x as f32
}

fn outline(lines: &[Vec<[f64; 2]>], closed: bool) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (i, [x, y]) in line.iter().enumerate() {
            if i == 0 {
                builder.move_to(single(*x), single(*y));
            } else {
                builder.line_to(single(*x), single(*y));
            }
        }
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

fn paint(colour: Colour) -> Paint<'static> {
    let [red, green, blue] = colour.rgb;
    let mut paint = Paint::default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
    let opacity = (255.0 * colour.opacity.clamp(0.0, 1.0)).round() as u8;
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

fn pen(stroke: Stroke) -> tiny_skia::Stroke {
    tiny_skia::Stroke {
        width: single(stroke.width),
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        dash: stroke.dash.and_then(|dash| StrokeDash::new(dash.map(single).to_vec(), 0.0)),
        ..tiny_skia::Stroke::default()
    }
}

fn draw_path(canvas: &mut Pixmap, path: &Path, mask: Option<&Mask>) {
    let mut draw = |shape: &tiny_skia::Path| {
        let identity = Transform::identity();
        if let Some(colour) = path.fill {
            canvas.fill_path(shape, &paint(colour), FillRule::EvenOdd, identity, mask);
        }
        if let Some(stroke) = path.stroke {
            canvas.stroke_path(shape, &paint(stroke.colour), &pen(stroke), identity, mask);
        }
    };
    let Some(radius) = path.dots else {
        let each = if path.separate { 1 } else { path.lines.len().max(1) };
        path.lines
            .chunks(each)
            .filter_map(|lines| outline(lines, path.closed))
            .for_each(|shape| draw(&shape));
        return;
    };
    for [x, y] in path.lines.iter().flatten() {
        if let Some(shape) = PathBuilder::from_circle(single(*x), single(*y), single(radius)) {
            draw(&shape);
        }
    }
}

fn draw_text(canvas: &mut Pixmap, text: &Text) {
    let mut pen = Pen(PathBuilder::new());
    font::outline(&text.text, &mut pen);
    let Some(shape) = pen.0.finish() else { return };
    let size = single(text.size);
    let place = Transform::from_translate(single(text.at[0]), single(text.at[1]))
        .pre_rotate(single(text.rotation))
        .pre_translate(-single(text.offset()), 0.0)
        .pre_scale(size, -size);
    let Some(shape) = shape.transform(place) else { return };
    let identity = Transform::identity();
    if let Some((colour, width)) = text.halo {
        let halo = tiny_skia::Stroke {
            width: single(2.0 * width),
            line_join: LineJoin::Round,
            ..tiny_skia::Stroke::default()
        };
        canvas.stroke_path(&shape, &paint(colour), &halo, identity, None);
    }
    canvas.fill_path(&shape, &paint(text.colour), FillRule::Winding, identity, None);
}

/// Collects glyph outlines as a path.
struct Pen(PathBuilder);

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.0.close();
    }
}

fn draw_image(canvas: &mut Pixmap, image: &Image) {
    let (Ok(columns), Ok(rows)) = (u32::try_from(image.columns), u32::try_from(image.rows)) else { return };
    let Some(mut source) = Pixmap::new(columns, rows) else { return };
    for (out, colour) in source.pixels_mut().iter_mut().zip(&image.pixels) {
        let [red, green, blue] = colour.rgb;
        *out = tiny_skia::ColorU8::from_rgba(red, green, blue, 255).premultiply();
    }
    let area = image.area;
    let (x_scale, y_scale) = (area.width() / image.columns as f64, area.height() / image.rows as f64);
    let place = Transform::from_translate(single(area.left), single(area.top))
        .pre_scale(single(x_scale), single(y_scale));
    let exact = (x_scale - 1.0).abs() < 1e-9 && (y_scale - 1.0).abs() < 1e-9;
    let quality = if image.smooth && !exact {
        tiny_skia::FilterQuality::Bilinear
    } else {
        tiny_skia::FilterQuality::Nearest
    };
    let paint = tiny_skia::PixmapPaint { quality, ..tiny_skia::PixmapPaint::default() };
    canvas.draw_pixmap(0, 0, source.as_ref(), &paint, place, None);
}
