//! Adjoints of accesses, against the sum of the positions that read each element, exactly.

use super::access::adjoint;
use super::given::Given;
use crate::graph::access::{Access, Order, Step};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::tensor::Values;
use crate::{DType, Device, HostValues};

/// The values of an array.
fn host(rec: Recorder<'_>, node: Node) -> HostValues {
    let count = node.extent().clone();
    rec.tensor(Vec::new(), Some(count), [], Values::Numbers(node)).unwrap().to_host().unwrap().values
}

fn array(device: &Device, values: &[u32]) -> Node {
    let data = device.backend().upload(DType::U32, bytemuck::cast_slice(values)).unwrap();
    Node::source(device.backend(), DType::U32, values.len() as u32, data)
}

/// A name, the element that each position reads, the number of positions, and the number of elements.
type Case = (&'static str, Expr, u32, u32);

const KINDS: usize = 13;

/// Numbers the kinds of accesses.
fn kinds(access: &Access, found: &mut [bool; KINDS]) {
    let kind = match access {
        Access::Run { .. } => 0,
        Access::Fixed(_) => 1,
        Access::Strided { .. } => 2,
        Access::Row { .. } => 3,
        Access::Place { step: Step::Along(1), .. } => 4,
        Access::Place { step: Step::Along(_), .. } => 5,
        Access::Place { step: Step::Cyclic, .. } => 6,
        Access::Place { step: Step::Each(_), .. } => 7,
        Access::Gathered { order: Order::Any, .. } => 8,
        Access::Gathered { order: Order::Ascending, .. } => 9,
        Access::Gathered { order: Order::Permutation, .. } => 10,
        Access::Choice(_, of) => {
            of.iter().for_each(|of| kinds(of, found));
            11
        }
        Access::Lines { .. } => 12,
    };
    found[kind] = true;
}

/// The adjoint of the access, next to the sums of the positions that read each element, on integers.
fn check(device: &Device, (name, index, count, to): &Case) {
    let rec = Recorder::new(device.backend(), "test");
    let whole = |e: Expr| e.mul(Expr::u32(7)).rem(Expr::u32(11)).add(Expr::u32(1)).cast(DType::F32);
    for given in [Extent::known, Extent::given] {
        let (count, to) = (given(*count), given(*to));
        let ct = Expr::load(&rec.map(count.clone(), whole(Expr::index()), &[]), Expr::index());
        // Before a read: evaluated positions have no structure.
        let of = adjoint(Given { rec, ct, count: count.clone() }, index, &to).unwrap().into_iter().reduce(Expr::add);
        let of = rec.map(to.clone(), of.unwrap(), &[]);
        let HostValues::U32(read) = host(rec, rec.map(count, index.clone(), &[])) else { panic!("{name}") };
        let mut want = vec![0.0f32; to.capacity() as usize];
        for (i, &at) in read.iter().enumerate() {
            want[at as usize] += (i * 7 % 11 + 1) as f32;
        }
        let HostValues::F32(found) = host(rec, of) else { panic!("{name}") };
        assert_eq!(found, want, "{name}: {read:?}");
    }
}

/// Arithmetic of the position.
fn arithmetic() -> Vec<Case> {
    let i = Expr::index;
    let c = Expr::u32;
    let w = |n: u32| Expr::size(&Size::given(n));
    vec![
        ("own", i(), 10, 12),
        ("run", i().mul(c(2)).add(c(3)), 10, 25),
        ("run down", c(20).sub(i().mul(c(3))), 7, 22),
        ("fixed", c(4), 9, 6),
        ("a last block that is not full", i().div(c(3)), 10, 4),
        ("a last repetition that is not full", i().rem(c(3)), 10, 3),
        ("digits between unread ones, not full", i().div(c(2)).rem(c(3)), 17, 3),
        ("fewer positions than values of a digit", i().rem(c(6)).mul(c(2)), 4, 12),
        ("transposed", i().rem(c(3)).mul(c(4)).add(i().div(c(3))), 12, 12),
        ("windows", i().div(c(3)).add(i().rem(c(3))), 14, 8),
        ("windows by steps", i().div(c(3)).mul(c(2)).add(i().rem(c(3))), 14, 12),
        ("rows from the last, that overlap", c(15).sub(i().div(c(10)).mul(c(5))).add(i().rem(c(10))), 37, 25),
        ("columns from the last", i().div(c(5)).mul(c(5)).add(c(4)).sub(i().rem(c(5))), 20, 20),
        ("sized transposed", i().rem(w(3)).mul(w(4)).add(i().div(w(3))), 12, 12),
        ("sized reversed", i().sub(i().rem(w(5)).mul(c(2))).add(w(5)).sub(c(1)), 20, 20),
        ("sized columns", i().div(w(4)).mul(w(6)).add(i().rem(w(4))).add(c(1)), 20, 30),
        ("sized rows that overlap", i().div(w(9)).mul(w(4)).add(i().rem(w(9))), 30, 24),
        (
            "sized columns of several numbers",
            {
                let (row, at) = (i().div(c(2)).div(w(3)), i().div(c(2)).rem(w(3)));
                row.mul(w(5)).add(at).mul(c(2)).add(i().rem(c(2)))
            },
            24,
            40,
        ),
        ("sized repeats, not full", i().div(w(4)), 10, 3),
        ("sized copies, not full", i().rem(w(4)), 10, 4),
        ("data", i().mul(c(5)).rem(c(7)).mul(c(2)), 10, 14),
        ("one of two", i().lt(c(4)).select(i().mul(c(2)), c(11).sub(i())), 10, 12),
    ]
}

/// Places in rows.
fn in_rows(device: &Device) -> Vec<Case> {
    let (i, c) = (Expr::index, Expr::u32);
    let own = array(device, &[0, 4, 4, 5, 12]);
    let of = array(device, &[0, 2, 3, 4, 9]);
    let twice = array(device, &[0, 2, 5, 9, 11, 13]);
    let half = array(device, &[0, 3, 4, 6, 10]);
    let rows = array(device, &[2, 0, 2, 2]);
    let lines = array(device, &[0, 4, 8, 8, 8, 9, 10, 17, 24]);
    let row = || Expr::row_of(&own, i());
    let offset = || i().sub(Expr::load(&own, row()));
    let length = |splits: &Node, row: Expr| Expr::load(splits, row.clone().add(c(1))).sub(Expr::load(splits, row));
    let line = || Expr::row_of(&lines, i());
    let number =
        Expr::within(&own, line().div(c(2)), i().sub(Expr::load(&lines, line()))).mul(c(2)).add(line().rem(c(2)));
    let vector = || Expr::row_of(&own, i().div(c(2)));
    let place = {
        let offset = i().div(c(2)).sub(Expr::load(&own, vector()));
        Expr::within(&lines, vector().mul(c(2)).add(i().rem(c(2))), offset)
    };
    let sorted = Recorder::new(device.backend(), "test").sort(Extent::known(24), i().mul(c(7)).rem(c(24)), 5);
    let permuted = number.at(&Expr::load(&sorted, place.clone()));
    let same = |row: Expr| Expr::within(&own, row, offset().rem(c(3)));
    vec![
        ("row", row(), 12, 5),
        ("rows of numbers", Expr::row_of(&own, i().div(c(2))).mul(c(2)).add(i().rem(c(2))), 24, 8),
        ("the last element of rows", Expr::within(&of, row(), length(&of, row()).sub(c(1))), 12, 9),
        ("cyclic, not whole", Expr::within(&of, row(), offset().rem(length(&of, row()))), 12, 9),
        ("each twice, not whole", Expr::within(&half, row(), offset().div(c(2))), 12, 11),
        ("reversed", Expr::within(&own, row(), length(&own, row()).sub(c(1)).sub(offset())), 12, 12),
        ("gathered rows", Expr::within(&twice, Expr::load(&rows, i().div(c(2))), i().rem(c(2))), 8, 13),
        ("data in rows", same(row()), 12, 12),
        ("numbers of lines", number, 24, 24),
        ("places in lines", place, 24, 25),
        ("a permutation of lines", permuted, 24, 24),
        ("one element of each row", Expr::within(&twice, i(), c(1)), 5, 13),
        ("one element of each row from the last", Expr::within(&twice, c(4).sub(i()), c(0)), 5, 13),
    ]
}

/// Positions that the program computes.
fn computed(device: &Device) -> Vec<Case> {
    let (rec, c) = (Recorder::new(device.backend(), "test"), Expr::u32);
    let columns = |e: Expr| e.at(&Expr::index().div(c(2))).mul(c(2)).add(Expr::index().rem(c(2)));
    let at = |positions: &Node| Expr::load(positions, Expr::index());
    let key = Expr::load(&array(device, &[5, 1, 4, 1, 9, 2, 6]), Expr::index());
    let sorted = rec.sort(Extent::known(7), key.clone(), 4);
    let marks = RankBitmap::new(rec, &Extent::known(7), key.lt(c(5)));
    let kept = rec.kept(&marks, marks.total());
    vec![
        ("a permutation", at(&sorted), 7, 7),
        ("a permutation of columns", columns(at(&sorted)), 14, 14),
        ("those that are kept", at(&kept), 4, 7),
        ("columns that are kept", columns(at(&kept)), 8, 14),
    ]
}

#[test]
fn adjoints_are_sums_over_the_positions_that_read_an_element() {
    let device = Device::cpu();
    let mut found = [false; KINDS];
    for case in [arithmetic(), in_rows(&device), computed(&device)].concat() {
        kinds(&case.1.access_in_program(), &mut found);
        check(&device, &case);
    }
    assert_eq!(found, [true; KINDS], "a kind of access without a case");
}
