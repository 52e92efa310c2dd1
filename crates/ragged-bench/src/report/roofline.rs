//! Roofline: the throughput of a device's operations relative to a copy on that device.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::measurement::{self, Measurement};
use super::page::Page;
use super::style::{self, GRID, WIDTH};
use crate::table::{UNKNOWN, bytes, grouped};

/// A measurement as a point: bytes that the kernels moved, and GB/s.
struct Point<'a> {
    of: &'a Measurement,
    x: f64,
    y: f64,
}

/// Draws the operations of one device. Draws nothing if no bytes are known.
///
/// # Errors
/// The chart cannot be drawn.
pub fn draw(page: &mut Page, device: &str, of_device: &[&Measurement]) -> Result<()> {
    let point = |of: &&'_ Measurement| {
        let x = of.bytes.or(of.least_bytes)? as f64;
        of.gb_s().filter(|_| x > 0.0).map(|y| (x, y))
    };
    let points: Vec<Point> = of_device
        .iter()
        .filter(|m| m.sweep.is_none())
        .filter_map(|m| point(m).map(|(x, y)| Point { of: m, x, y }))
        .collect();
    if points.is_empty() {
        return Ok(());
    }
    // The bandwidth of a copy depends on its size; the line shows the highest.
    let copy = of_device.iter().filter_map(|m| m.copy_gb_s).filter(|c| *c > 0.0 && c.is_finite()).reduce(f64::max);
    page.heading(2, &format!("Throughput relative to a copy: {device}"));
    page.paragraph(
        "Horizontal: bytes that the kernels of an operation move. Vertical: the lower bound on bytes, per time, so that \
         excess bytes and lost time both lower a point. The line is a plain copy through the same API.",
    );
    page.svg(&chart(&points, copy)?);
    table(page, &points);
    Ok(())
}

fn chart(points: &[Point], copy: Option<f64>) -> Result<String> {
    let Some(xs) = style::log_range(points.iter().map(|p| p.x), 1.3) else { return Ok(String::new()) };
    let Some(ys) = style::log_range(points.iter().map(|p| p.y).chain(copy), 1.8) else { return Ok(String::new()) };
    let series = measurement::by(points, |p: &Point| p.of.dist.clone());
    let label = |size, v| style::text(size, BLACK, HPos::Left, v);
    style::svg((WIDTH, 480), |area| {
        let (top, rest) = area.split_vertically(26);
        for (k, (dist, _)) in series.iter().enumerate() {
            let x = 75 + 170 * k as i32;
            top.draw(&Circle::new((x, 14), 5, style::colour(k).filled()))?;
            top.draw(&Text::new(dist.clone(), (x + 10, 14), label(14, VPos::Center)))?;
        }
        let mut chart = ChartBuilder::on(&rest)
            .margin(8)
            .x_label_area_size(42)
            .y_label_area_size(66)
            .build_cartesian_2d(xs.clone().log_scale().base(2.0), ys.log_scale().base(2.0))?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(WHITE)
            .x_labels(8)
            .y_labels(8)
            .x_desc("bytes moved")
            .y_desc("GB/s")
            .x_label_formatter(&|x| bytes(*x as u64))
            .y_label_formatter(&|y| style::short(*y))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()?;
        if let Some(copy) = copy {
            chart.draw_series(LineSeries::new([(xs.start, copy), (xs.end, copy)], BLACK.stroke_width(2)))?;
            let text = format!("copy: {} GB/s", style::short(copy));
            chart.draw_series([Text::new(text, (xs.start * 1.01, copy * 1.05), label(14, VPos::Bottom))])?;
        }
        for (k, (_, points)) in series.iter().enumerate() {
            chart
                .draw_series(points.iter().map(|p| Circle::new((p.x, p.y), 5, style::colour(k).mix(0.85).filled())))?;
        }
        let mut taken: Vec<(i32, i32, i32)> = Vec::new();
        for (text, at) in labels(points) {
            let (x, mut y) = chart.backend_coord(&at);
            // Moves the label down until it overlaps no other label, with an estimated width.
            let end = x + 10 + 7 * text.len() as i32;
            while taken.iter().any(|&(from, to, at)| x < to && from < end && (y - at).abs() < 14) {
                y += 2;
            }
            taken.push((x, end, y));
            area.draw(&Text::new(text, (x + 8, y), label(12, VPos::Center)))?;
        }
        Ok(())
    })
}

/// Labels beside the highest point of each operation. Operations whose labels would overlap share one.
fn labels(points: &[Point]) -> Vec<(String, (f64, f64))> {
    let mut out: Vec<(String, (f64, f64))> = Vec::new();
    for (op, of_op) in measurement::by(points, |p: &Point| p.of.op.clone()) {
        let Some(highest) = of_op.into_iter().max_by(|a, b| a.y.total_cmp(&b.y)) else { continue };
        let is_near = |at: &(f64, f64)| (at.0 / highest.x).ln().abs() < 0.12 && (at.1 / highest.y).ln().abs() < 0.12;
        match out.iter_mut().find(|(_, at)| is_near(at)) {
            Some((text, _)) => *text += &format!(", {op}"),
            None => out.push((op, (highest.x, highest.y))),
        }
    }
    out
}

fn table(page: &mut Page, points: &[Point]) {
    let dists: Vec<String> =
        measurement::by(points, |p: &Point| p.of.dist.clone()).into_iter().map(|(d, _)| d).collect();
    let mut header = vec!["GB/s (of copy)".to_owned()];
    header.extend(dists.iter().cloned());
    let mut rows = Vec::new();
    for (name, of_op) in measurement::by(points, |p: &Point| format!("{}, {} values", p.of.op, grouped(p.of.values))) {
        let cell = |dist: &String| {
            let Some(p) = of_op.iter().find(|p| p.of.dist == *dist) else { return UNKNOWN.to_owned() };
            let of_copy = p.of.copy_gb_s.map_or_else(String::new, |c| format!(" ({:.0} %)", 100.0 * p.y / c));
            format!("{}{of_copy}", style::short(p.y))
        };
        rows.push(std::iter::once(name).chain(dists.iter().map(cell)).collect());
    }
    page.table(&header, &rows);
}
