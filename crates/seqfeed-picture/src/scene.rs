//! A scene to draw as SVG or pixels: rectangles, lines, text, images.

use crate::colors::Color;
use crate::heat::Raster;

/// A scene. A unit is about one pixel of a plain screen, from the upper left corner.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Shape>,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Rectangle {
        at: Rectangle,
        color: Color,
    },
    /// Only the outline.
    Outline {
        at: Rectangle,
        color: Color,
    },
    Text(Text),
    Image {
        at: Rectangle,
        raster: Raster,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A line of text.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) x: f64,
    /// The middle of its height.
    pub(crate) y: f64,
    pub(crate) anchor: Anchor,
    pub(crate) size: Size,
    pub(crate) color: Color,
    /// Whether it runs upwards, turned to the left.
    pub(crate) upwards: bool,
    pub(crate) text: String,
}

/// The point of a text that lies at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Title,
}

impl Size {
    /// Height of its letters, with descenders.
    pub(crate) fn height(self) -> f64 {
        match self {
            Size::Small => 12.0,
            Size::Title => 16.0,
        }
    }
}

impl Scene {
    pub(crate) fn rectangle(&mut self, at: Rectangle, color: Color) {
        self.items.push(Shape::Rectangle { at, color });
    }

    pub(crate) fn outline(&mut self, at: Rectangle, color: Color) {
        self.items.push(Shape::Outline { at, color });
    }

    pub(crate) fn image(&mut self, at: Rectangle, raster: Raster) {
        self.items.push(Shape::Image { at, raster });
    }

    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        color: Color,
        text: impl Into<String>,
    ) {
        let (size, upwards, text) = (Size::Small, false, text.into());
        self.items.push(Shape::Text(Text { x, y, anchor, size, color, upwards, text }));
    }

    pub(crate) fn title(&mut self, x: f64, y: f64, color: Color, text: impl Into<String>) {
        let (size, upwards, anchor, text) = (Size::Title, false, Anchor::Start, text.into());
        self.items.push(Shape::Text(Text { x, y, anchor, size, color, upwards, text }));
    }

    pub(crate) fn upwards(&mut self, x: f64, y: f64, color: Color, text: impl Into<String>) {
        let (size, upwards, anchor, text) = (Size::Small, true, Anchor::Middle, text.into());
        self.items.push(Shape::Text(Text { x, y, anchor, size, color, upwards, text }));
    }
}
