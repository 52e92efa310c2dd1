//! Comparison with other libraries.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::measurement::{self, Measurement};
use super::page::Page;
use super::style::{self, GRID, WIDTH};
use crate::table::{UNKNOWN, grouped};

/// Another library's measurement, and its time as a multiple of this engine's.
struct Compared<'a> {
    other: &'a Measurement,
    ratio: f64,
}

/// Draws other libraries' times as multiples of this engine's on each of its devices, by distribution.
///
/// # Errors
/// The chart cannot be drawn.
pub fn draw(page: &mut Page, all: &[Measurement]) -> Result<()> {
    let own = measurement::by(all.iter().filter(|m| m.is_own()), Measurement::device_name);
    let mut has_heading = false;
    for (device, own) in own {
        let compared: Vec<Compared> = all.iter().filter(|m| !m.is_own()).filter_map(|m| compare(m, &own)).collect();
        if compared.is_empty() {
            continue;
        }
        if !has_heading {
            has_heading = true;
            page.heading(2, "Other libraries");
            page.paragraph(
                "The other library's time as a multiple of ragged's for the same operation on the same rows: bars above \
                 the line are slower than ragged. Times of the same file are compared where possible.",
            );
        }
        let peers: Vec<String> =
            measurement::by(&compared, |c| c.other.device_name()).into_iter().map(|(name, _)| name).collect();
        for ((dist, values), compared) in measurement::by(&compared, |c| (c.other.dist.clone(), c.other.values)) {
            page.heading(3, &format!("Against {device}: {dist}, {} values", grouped(values)));
            // The colour of a library does not depend on the other libraries of the chart.
            let is_here = |(_, peer): &(usize, &String)| compared.iter().any(|c| c.other.device_name() == **peer);
            let here: Vec<(usize, &String)> = peers.iter().enumerate().filter(is_here).collect();
            page.svg(&chart(&compared, &here)?);
            table(page, &compared, &here);
        }
    }
    Ok(())
}

/// Compares with this engine's measurement of the same operation and rows, preferably of the same file.
fn compare<'a>(other: &'a Measurement, own: &[&Measurement]) -> Option<Compared<'a>> {
    let is_same = |m: &&&Measurement| m.op == other.op && m.dist == other.dist && m.values == other.values;
    let same = own.iter().filter(is_same).min_by_key(|m| m.file != other.file)?;
    let ratio = other.ms / same.ms;
    (ratio.is_finite() && ratio > 0.0).then_some(Compared { other, ratio })
}

fn chart(compared: &[&Compared], peers: &[(usize, &String)]) -> Result<String> {
    let Some(range) = style::log_range(compared.iter().map(|c| c.ratio).chain([0.5, 2.0]), 1.5) else {
        return Ok(String::new());
    };
    let ops = measurement::by(compared.iter().copied(), |c: &Compared| c.other.op.clone());
    let label = |h, v| style::text(13, BLACK, h, v);
    style::svg((WIDTH, 300), |area| {
        let (top, rest) = area.split_vertically(26);
        for (k, &(hue, peer)) in peers.iter().enumerate() {
            let x = 75 + (1000 / peers.len().max(1)).min(260) as i32 * k as i32;
            top.draw(&Rectangle::new([(x - 5, 9), (x + 5, 19)], style::colour(hue).filled()))?;
            top.draw(&Text::new(peer.clone(), (x + 10, 14), label(HPos::Left, VPos::Center)))?;
        }
        let mut chart = ChartBuilder::on(&rest)
            .margin(6)
            .x_label_area_size(30)
            .y_label_area_size(66)
            .build_cartesian_2d(0.0..ops.len() as f64, range.clone().log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .bold_line_style(GRID)
            .light_line_style(WHITE)
            .y_labels(6)
            .y_desc("times ragged's time")
            .y_label_formatter(&|y| style::short(*y))
            .label_style(("sans-serif", 13))
            .draw()?;
        let width = 0.8 / peers.len().max(1) as f64;
        for (k, (op, of_op)) in ops.iter().enumerate() {
            for c in of_op {
                let Some(at) = peers.iter().position(|(_, p)| **p == c.other.device_name()) else { continue };
                let x = k as f64 + 0.1 + width * at as f64;
                let bar = Rectangle::new([(x, 1.0), (x + 0.92 * width, c.ratio)], style::colour(peers[at].0).filled());
                chart.draw_series([bar])?;
            }
            let name = EmptyElement::at((k as f64 + 0.5, range.start))
                + Text::new(op.clone(), (0, 6), label(HPos::Center, VPos::Top));
            chart.draw_series([name])?;
        }
        chart.draw_series(LineSeries::new([(0.0, 1.0), (ops.len() as f64, 1.0)], BLACK.stroke_width(2)))?;
        Ok(())
    })
}

fn table(page: &mut Page, compared: &[&Compared], peers: &[(usize, &String)]) {
    let mut header = vec!["times ragged's time".to_owned()];
    header.extend(peers.iter().map(|(_, peer)| (*peer).clone()));
    let mut rows = Vec::new();
    for (op, of_op) in measurement::by(compared.iter().copied(), |c: &Compared| c.other.op.clone()) {
        let cell = |(_, peer): &(usize, &String)| {
            let Some(c) = of_op.iter().find(|c| c.other.device_name() == **peer) else { return UNKNOWN.to_owned() };
            let remark = if c.other.equal == Some(false) { ", its result differs" } else { "" };
            format!("{}{remark}", style::short(c.ratio))
        };
        rows.push(std::iter::once(op).chain(peers.iter().map(cell)).collect());
    }
    page.table(&header, &rows);
}
