//! Training curves as SVG.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;

/// Size of the picture, in pixels.
const SIZE: (u32, u32) = (720, 420);
/// Colours of the curves, by position; further ones begin again.
const COLOURS: [RGBColor; 4] = [RGBColor(150, 180, 215), BLUE, RED, RGBColor(20, 130, 60)];

/// A line of a chart.
pub struct Curve {
    label: String,
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// A line through points.
    pub fn new(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.into(), points }
    }

    /// A value after each step, from step 1.
    pub fn of_steps(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        Self::new(label, (1..).map(f64::from).zip(values).collect())
    }
}

/// Draws the curves over `x`, with values of `y`, into an SVG file.
pub fn draw(path: &str, [x, y]: [&str; 2], range: Range<f64>, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let end = curves.iter().flat_map(|curve| &curve.points).map(|point| point.0).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..end, range)?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc(x).y_desc(y).draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.into_iter().cycle()) {
        chart
            .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    let labels = SeriesLabelPosition::UpperRight;
    chart.configure_series_labels().position(labels).background_style(WHITE).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}
