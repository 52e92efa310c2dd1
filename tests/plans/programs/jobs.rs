//! The jobs of `examples/`.

#[path = "../../../examples/attention.rs"]
#[allow(dead_code, reason = "an example's main")]
mod attention_job;
#[path = "../../../examples/graph_layer.rs"]
#[allow(dead_code, reason = "an example's main")]
mod graph_layer_job;
#[path = "../../../examples/particle_events.rs"]
#[allow(dead_code, reason = "an example's main")]
mod particle_events_job;
#[path = "../../../examples/recommender.rs"]
#[allow(dead_code, reason = "an example's main")]
mod recommender_job;
#[path = "../../../examples/sessions.rs"]
#[allow(dead_code, reason = "an example's main")]
mod sessions_job;
#[path = "../../../examples/stream.rs"]
#[allow(dead_code, reason = "an example's main")]
mod stream_job;

use ragged::{Element, RaggedTensor, Result, Tensor};

use super::Program;

fn of<T: Element>(tensor: &Tensor) -> Result<RaggedTensor<T>> {
    tensor.clone().try_into()
}

pub const PROGRAMS: &[Program] = &[
    ("attention", |i| {
        let [q, k, v] = [&i.wide, &i.wide, &i.wide].map(of);
        Ok(vec![attention_job::attention(&q?, &k?, &v?)?.into_erased()])
    }),
    ("graph_layer", |i| {
        let features = i.table.gather(&i.order.floormod(50)?)?;
        let found = graph_layer_job::layer(&of(&features)?, &of(&i.ids.floormod(40)?)?)?;
        Ok(vec![found.mean.into_erased(), found.max.into_erased(), found.attention.into_erased()])
    }),
    ("particle_events", |i| {
        let muons = particle_events_job::Muons { pt: of(&i.x)?, eta: of(&i.y)?, phi: of(&i.y)? };
        let (is_pair, masses) = particle_events_job::masses(&muons)?;
        Ok(vec![is_pair.into_erased(), masses.into_erased()])
    }),
    ("recommender", |i| {
        let (best, scores) = recommender_job::recommend(&of(&i.ids)?, &of(&i.x)?, &of(&i.table)?, 5)?;
        Ok(vec![best.into_erased(), scores.into_erased()])
    }),
    ("sessions", |i| {
        let found = sessions_job::sessions(&of(&i.long)?)?;
        Ok(vec![found.counts.into_erased(), found.visits.into_erased(), found.seconds.into_erased()])
    }),
    ("stream", |i| Ok(vec![stream_job::peaks(&of(&i.x)?)?.into_erased()])),
];
