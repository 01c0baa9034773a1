//! Draws a scene as pixels, and as PNG. The program contains its letters, so it needs no fonts of
//! the system.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use seqfeed_core::{Error, Problem, Result};

use crate::colors::{BACKGROUND, Color};
use crate::heat::Raster;
use crate::scene::{Anchor, Rectangle, Scene, Shape, Size, Text};

/// Pixels per unit of the scene.
pub(crate) const SCALE: f64 = 2.0;

/// The scene as the bytes of a PNG file.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>> {
    let mut canvas = Canvas::new(scene.width, scene.height);
    for item in &scene.items {
        match item {
            Shape::Rectangle { at, color } => canvas.fill(*at, *color),
            Shape::Outline { at, color } => canvas.outline(*at, *color),
            Shape::Image { at, raster } => canvas.image(*at, raster),
            Shape::Text(text) => canvas.text(text),
        }
    }
    encode(canvas.width, canvas.height, canvas.pixels.as_flattened())
}

/// Pixels of three bytes each as a PNG file.
pub(crate) fn encode(width: usize, height: usize, pixels: &[u8]) -> Result<Vec<u8>> {
    let fail = |error: png::EncodingError| {
        Error::format("PNG", Problem::Unsupported(error.to_string().into()))
    };
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(pixels).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(out)
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Color>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = (snap(width) as usize, snap(height) as usize);
        Self { width, height, pixels: vec![BACKGROUND; width * height] }
    }

    /// The range of pixels on both axes, cut off at the edges.
    fn pixels(&self, at: Rectangle) -> [i64; 4] {
        let inside = |value: f64, most: usize| snap(value).clamp(0, most as i64);
        [
            inside(at.x, self.width),
            inside(at.y, self.height),
            inside(at.x + at.width, self.width),
            inside(at.y + at.height, self.height),
        ]
    }

    fn fill(&mut self, at: Rectangle, color: Color) {
        self.fill_pixels(self.pixels(at), color);
    }

    fn fill_pixels(&mut self, [left, top, right, bottom]: [i64; 4], color: Color) {
        for y in top.max(0)..bottom.min(self.height as i64) {
            for x in left.max(0)..right.min(self.width as i64) {
                self.pixels[y as usize * self.width + x as usize] = color;
            }
        }
    }

    /// Two pixels wide, around the rectangle.
    fn outline(&mut self, at: Rectangle, color: Color) {
        let [left, top, right, bottom] = self.pixels(at);
        for edge in [
            [left - 1, top - 1, right + 1, top + 1],
            [left - 1, bottom - 1, right + 1, bottom + 1],
            [left - 1, top - 1, left + 1, bottom + 1],
            [right - 1, top - 1, right + 1, bottom + 1],
        ] {
            self.fill_pixels(edge, color);
        }
    }

    fn image(&mut self, at: Rectangle, raster: &Raster) {
        let [left, top, right, bottom] = self.pixels(at);
        let (width, height) = ((right - left) as usize, (bottom - top) as usize);
        for y in 0..height {
            let row = y * raster.height / height;
            for x in 0..width {
                let column = x * raster.width / width;
                let to = (top as usize + y) * self.width + left as usize + x;
                self.pixels[to] = raster.pixels[row * raster.width + column];
            }
        }
    }

    fn text(&mut self, line: &Text) {
        let (weight, height) = match line.size {
            Size::Small => (FontWeight::Regular, RasterHeight::Size24),
            Size::Title => (FontWeight::Bold, RasterHeight::Size32),
        };
        let width = get_raster_width(weight, height);
        let letters: Vec<char> = line.text.chars().collect();
        let length = (letters.len() * width) as i64;
        let before = match line.anchor {
            Anchor::Start => 0,
            Anchor::Middle => length / 2,
            Anchor::End => length,
        };
        let (x, y) = (snap(line.x), snap(line.y));
        for (number, letter) in letters.into_iter().enumerate() {
            // A key may have letters that the font lacks.
            let Some(raster) =
                get_raster(letter, weight, height).or_else(|| get_raster('?', weight, height))
            else {
                continue;
            };
            for (down, row) in raster.rows().enumerate() {
                for (along, &strength) in row.iter().enumerate() {
                    let along = (number * width + along) as i64 - before;
                    let down = down as i64 - height.val() as i64 / 2;
                    let (x, y) =
                        if line.upwards { (x + down, y - along) } else { (x + along, y + down) };
                    self.blend(x, y, line.color, strength);
                }
            }
        }
    }

    fn blend(&mut self, x: i64, y: i64, color: Color, strength: u8) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 || strength == 0 {
            return;
        }
        let pixel = &mut self.pixels[y as usize * self.width + x as usize];
        for (part, wanted) in pixel.iter_mut().zip(color) {
            let (here, there, share) = (i32::from(*part), i32::from(wanted), i32::from(strength));
            *part = (here + (there - here) * share / 255) as u8;
        }
    }
}

fn snap(value: f64) -> i64 {
    (value * SCALE).round() as i64
}
