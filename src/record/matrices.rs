//! Batches of matrices over the two innermost dimensions of a tensor, and their products.

use crate::error::Result;
use crate::graph::conditions::conditional_arrays;
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::{RecordedSize, Size};
use crate::record::product_tiles::Tiles;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

/// The matrices of a tensor. Sizes and positions are expressions in the batch.
///
/// For any splits, the `rows * columns` numbers from `start` on belong to the batch: a matrix whose rows differ in
/// length is an error, but reading it never leaves the array.
pub(crate) struct Matrices {
    pub(crate) batches: Extent,
    /// The rows of each batch; `None` for a single batch of all rows.
    pub(crate) row: Option<RowPartition>,
    /// The numbers of each row.
    pub(crate) column: RowPartition,
    /// Each matrix is multiplied as its transpose.
    pub(crate) transposed: bool,
    /// The tensor's shape, for error messages.
    shape: String,
}

impl Matrices {
    /// The matrices of `x`, whose dimensions are `dims`; `flat` makes one matrix of all its rows.
    pub(crate) fn new(x: &Tensor, dims: &[RowPartition], transposed: bool, flat: bool) -> Option<Self> {
        let (column, above) = dims.split_last()?;
        let row = above.last().filter(|_| !flat).cloned();
        let batches = row.as_ref().map_or(Extent::known(1), |r| r.nrows_extent().clone());
        Some(Self { batches, row, column: column.clone(), transposed, shape: x.shape_text() })
    }

    /// The same matrices, with a parameter of the program in place of a constant number of columns, as stored: the terms
    /// per sum.
    fn with_given_columns(mut self) -> Self {
        self.column = self.column.with_given_length();
        self
    }

    /// The same matrices, with a parameter of the program in place of a constant number of rows, as stored.
    fn with_given_rows(mut self) -> Self {
        self.row = self.row.map(RowPartition::with_given_length);
        self
    }

    /// Number of rows of all matrices together.
    fn all_rows(&self) -> &Extent {
        self.column.nrows_extent()
    }

    /// Number of rows `m` of the single matrix, after transposition.
    pub(crate) fn rows_in_all(&self, m: &Expr) -> Extent {
        if self.transposed { Extent::bounded(&self.totals()[0], m.clone()) } else { self.all_rows().clone() }
    }

    fn first_row(&self) -> Expr {
        self.row.as_ref().map_or(Expr::u32(0), |r| r.start(Expr::index()))
    }

    fn stored_rows(&self) -> Expr {
        self.row.as_ref().map_or_else(|| self.all_rows().expr(), |r| r.length(Expr::index()))
    }

    fn stored_columns(&self) -> Expr {
        let (first, rows) = (self.first_row(), self.stored_rows());
        let columns = match self.known_columns() {
            Some(len) => Expr::size(&len),
            None => {
                let numbers = self.column.start(first.clone().add(rows.clone())).sub(self.column.start(first));
                numbers.div(rows.clone())
            }
        };
        if self.can_be_open() { rows.eq(Expr::u32(0)).select(Expr::u32(0), columns) } else { columns }
    }

    /// The common length of all rows, if the host knows one.
    fn known_columns(&self) -> Option<Size> {
        let common = |(least, most)| (least == most).then(|| Size::given(most));
        self.column.uniform_size().cloned().or_else(|| self.column.known_lengths().and_then(common))
    }

    /// Start of each matrix, in numbers.
    fn start(&self) -> Expr {
        self.column.start(self.first_row())
    }

    /// Rows and columns after transposition.
    fn sizes(&self) -> [Expr; 2] {
        let stored = [self.stored_rows(), self.stored_columns()];
        if self.transposed { swapped(stored) } else { stored }
    }

    /// The partitions of rows and columns after transposition; `None` for the rows of a single matrix.
    pub(crate) fn partitions(&self) -> [Option<&RowPartition>; 2] {
        let stored = [self.row.as_ref(), Some(&self.column)];
        if self.transposed { swapped(stored) } else { stored }
    }

    /// Upper bounds on the rows and columns of all batches together, after transposition.
    fn totals(&self) -> [Size; 2] {
        let columns = self.known_columns().map(|len| self.batches.size().mul(&len));
        let columns = columns.unwrap_or_else(|| self.column.nvals_extent().size().clone());
        let stored = [self.all_rows().size().clone(), columns];
        if self.transposed { swapped(stored) } else { stored }
    }

    /// Rows and columns after transposition.
    fn as_multiplied(&self, (rows, columns): Stored) -> [Option<u32>; 2] {
        let stored = [Some(rows), columns];
        if self.transposed { swapped(stored) } else { stored }
    }

    /// The size of each matrix, if the host knows all of them.
    ///
    /// # Errors
    /// A matrix whose rows differ in length.
    fn on_host(&self, rec: Recorder<'_>) -> Result<Option<Vec<Stored>>> {
        let (Some(batches), Some(all)) = (self.batches.as_known(), self.all_rows().as_known()) else { return Ok(None) };
        let length = |p: &RowPartition, r: usize| match (p.rows(), p.host_splits()) {
            (Rows::Uniform(len), _) => Some(len.capacity()),
            (_, Some(s)) => Some(s[r + 1] - s[r]),
            _ => None,
        };
        let mut sizes = Vec::new();
        let mut first = 0;
        for g in 0..batches as usize {
            let rows = match &self.row {
                None => Some(all),
                Some(r) => length(r, g),
            };
            let Some(rows) = rows else { return Ok(None) };
            let columns = match self.column.rows() {
                Rows::Uniform(len) => Some(len.capacity()),
                Rows::Splits(_) if rows == 0 => None,
                Rows::Splits(_) => {
                    let Some(len) = length(&self.column, first) else { return Ok(None) };
                    let other = (first..first + rows as usize).find(|&r| length(&self.column, r) != Some(len));
                    if let Some(r) = other {
                        let what = format!(
                            "matrices have rows of one length, but row {} of batch {g} of {} differs from row 0",
                            r - first,
                            self.shape
                        );
                        return Err(rec.argument(what));
                    }
                    Some(len)
                }
            };
            first += rows as usize;
            sizes.push((rows, columns));
        }
        Ok(Some(sizes))
    }

    /// Adds the condition that all rows of a matrix have one length, unless the host knows the length.
    fn assert_rectangular(&self, rec: Recorder<'_>, asserts: &mut Vec<Node>) {
        if self.known_columns().is_some() {
            return;
        }
        let batch = self.row.as_ref().map_or(Expr::u32(0), |r| r.row_of(Expr::index()));
        let ok = self.column.length(Expr::index()).eq(self.stored_columns().at(&batch));
        let what = format!("rows of one matrix of {} differ in length", self.shape);
        asserts.push(rec.assert(self.all_rows().clone(), ok, rec.check(what)));
    }

    /// Whether a matrix may be open: without rows that determine its number of columns.
    fn can_be_open(&self) -> bool {
        matches!(self.column.rows(), Rows::Splits(_))
    }

    /// Whether a matrix is open, as an expression in the batch.
    fn is_open(&self) -> Expr {
        if self.can_be_open() { self.stored_rows().eq(Expr::u32(0)) } else { Expr::scalar(false) }
    }
}

/// Rows and columns of a matrix as stored; no columns for an open matrix.
type Stored = (u32, Option<u32>);

fn swapped<T>([a, b]: [T; 2]) -> [T; 2] {
    [b, a]
}

/// Pairs of matrices with matching sizes, one per batch.
pub(crate) struct Pairs {
    pub(crate) left: Matrices,
    pub(crate) right: Matrices,
    /// Rows, terms per sum and columns, as expressions in the batch.
    pub(crate) sizes: [Expr; 3],
    /// Starts of the left and the right matrix.
    starts: [Expr; 2],
    /// Conditions that only the device can check.
    asserts: Vec<Node>,
    /// Total size of the products in numbers, if the host knows all sizes.
    pub(crate) results: Option<u64>,
    /// Whether batches may be left out.
    has_gaps: bool,
}

impl Pairs {
    /// Pairs operands with equal numbers of batches; `asserts` check the equality where the host does not know it.
    ///
    /// # Errors
    /// A matrix whose rows differ in length; different numbers of terms on the two sides. Both only where the host can
    /// see them.
    pub(crate) fn new(rec: Recorder<'_>, left: Matrices, right: Matrices, asserts: Vec<Node>) -> Result<Self> {
        let left = if left.transposed { left.with_given_rows() } else { left.with_given_columns() };
        let right = if right.transposed { right.with_given_columns() } else { right.with_given_rows() };
        let [m, k] = left.sizes();
        let ([mut other, mut n], mut right_start) = (right.sizes(), right.start());
        if !left.batches.is_same(&right.batches) {
            // Equal only under a condition: clamps the batch to the right operand, for any outcome of the condition.
            let within = Expr::index().min(Expr::size(&right.batches.size().max(1).sub(1)));
            [other, n, right_start] = [other, n, right_start].map(|e| e.at(&within));
        }
        let starts = [left.start(), right_start];
        // Sizes of equal values are one number of terms, whichever symbol has it.
        let terms = match (k.as_known(), other.as_known()) {
            (Some(a), Some(b)) if a == b => k.clone(),
            _ => k.clone().min(other.clone()),
        };
        let sizes = [m, terms, n];
        let mut out = Self { left, right, sizes, starts, asserts, results: None, has_gaps: false };
        out.check(rec, k, other)?;
        Ok(out)
    }

    /// Leaves out the products of batches for which the array of bools `is_wanted` is not true: their results are 0, and
    /// cost nothing.
    pub(crate) fn only_where(&mut self, is_wanted: &Node) {
        // Operands with other numbers of batches fail a condition; until then the index stays in the array.
        let batch = Expr::index().min(Expr::size(&is_wanted.extent().size().max(1).sub(1)));
        let [m, ..] = &mut self.sizes;
        *m = Expr::load(is_wanted, batch).select(m.clone(), Expr::u32(0));
        self.has_gaps = true;
    }

    /// Checks that matrices are rectangular, and that the `k` columns of left ones equal the `other` rows of right
    /// ones.
    fn check(&mut self, rec: Recorder<'_>, k: Expr, other: Expr) -> Result<()> {
        let (left, right) = (&self.left, &self.right);
        let misfit = |k: u32, other: u32, g: usize| {
            let what = format!("in batch {g} the left matrix has {k} columns, the right one {other} rows");
            rec.shape(left.shape.clone(), right.shape.clone(), what)
        };
        let told = !left.can_be_open() && !right.can_be_open();
        if let ([Some(m), _, Some(n)], Some(k), Some(other), true) =
            (self.sizes.each_ref().map(Expr::as_known), k.as_known(), other.as_known(), told)
        {
            if k != other {
                return Err(misfit(k, other, 0));
            }
            self.results = left.batches.as_known().map(|g| u64::from(g) * (u64::from(m) * u64::from(n)));
            return Ok(());
        }
        if let (Some(a), Some(b)) = (left.on_host(rec)?, right.on_host(rec)?) {
            let mut total = 0u64;
            for (g, (a, b)) in a.into_iter().zip(b).enumerate() {
                let ([m, k], [other, n]) = (left.as_multiplied(a), right.as_multiplied(b));
                match (k, other) {
                    (Some(k), Some(other)) if k != other => return Err(misfit(k, other, g)),
                    _ => total = total.saturating_add(u64::from(m.unwrap_or(0)) * u64::from(n.unwrap_or(0))),
                }
            }
            self.results = Some(total);
            return Ok(());
        }
        let mut asserts = Vec::new();
        left.assert_rectangular(rec, &mut asserts);
        right.assert_rectangular(rec, &mut asserts);
        if k != other {
            let ok = k.eq(other).or(left.is_open()).or(right.is_open());
            let what =
                format!("matrices of {} do not have as many columns as those of {} have rows", left.shape, right.shape);
            asserts.push(rec.assert(left.batches.clone(), ok, rec.check(what)));
        }
        self.asserts.extend(asserts);
        Ok(())
    }

    /// Upper bound on the terms per sum of the operands.
    fn most_terms(&self, operands: [&Node; 2]) -> Size {
        let [_, of_left] = self.left.partitions();
        let [of_right, _] = self.right.partitions();
        let longest = |p: Option<&RowPartition>| p.and_then(RowPartition::known_lengths).map(|(_, longest)| longest);
        let known = [longest(of_left), longest(of_right)].into_iter().flatten().min();
        let [left, right] = operands.map(|n| n.extent().size());
        let most = left.min(right);
        known.map_or(most.clone(), |known| {
            let input = Size::input(Digest::of("terms", (operands.map(Node::digest), known)), known);
            most.min(input)
        })
    }

    /// The products of the operands: `extent` numbers in all, each batch beginning at its `start`.
    pub(crate) fn product(
        &self,
        rec: Recorder<'_>,
        operands: [&Node; 2],
        extent: &Extent,
        start: Expr,
    ) -> Result<Node> {
        let dtype = operands[0].dtype();
        let accumulator = dtype.accumulator();
        let batches = &self.left.batches;
        if extent.capacity() == 0 || batches.capacity() == 0 {
            let nothing = Expr::scalar(Scalar::from_i64(dtype, 0));
            let conditions = [self.asserts.clone(), conditional_arrays(&start, operands)].concat();
            return Ok(rec.map(extent.clone(), nothing, &conditions));
        }
        let ([rows, _], [_, columns]) = (self.left.totals(), self.right.totals());
        let [m, _, n] = &self.sizes;
        let Tiles { tiles, tile_capacity, tile } = Tiles::new(rec, batches, [m, n], extent.size(), [&rows, &columns])?;
        let ([m, k, n], [left_start, right_start]) = (self.sizes.clone(), self.starts.clone());
        let [m, k, n, left_start, right_start, start] =
            tabled(rec, batches, [m, k, n, left_start, right_start, start])?;
        let product = Product {
            batches: batches.clone(),
            sizes: [m, k, n],
            starts: [left_start, right_start, start],
            operands: operands.map(|n| Expr::load(n, Expr::index()).cast(accumulator)),
            capacities: operands.map(|n| n.extent().size().clone()),
            terms: self.most_terms(operands),
            transposed: [self.left.transposed, self.right.transposed],
            tiles,
            tile_capacity,
            tile,
            has_gaps: self.has_gaps,
        };
        let sums = rec.product(extent.clone(), product, &self.asserts);
        Ok(rec.map(extent.clone(), Expr::load(&sums, Expr::index()).cast(dtype), &[]))
    }
}

/// Replaces the fields that read arrays by loads from one common table: a kernel that cannot bind all their arrays
/// binds the table.
pub(crate) fn tabled<const N: usize>(rec: Recorder<'_>, batches: &Extent, fields: [Expr; N]) -> Result<[Expr; N]> {
    let read: Vec<Expr> = fields.iter().filter(|f| f.reads()).cloned().collect();
    if read.len() < 2 {
        return Ok(fields);
    }
    let width = Expr::u32(read.len() as u32);
    let (batch, place) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
    let mut places = (0..).map(Expr::u32).zip(&read);
    let Some((_, first)) = places.next() else { return Ok(fields) };
    let entry =
        places.fold(first.at(&batch), |before, (k, field)| place.clone().eq(k).select(field.at(&batch), before));
    let table = rec.map(rec.times(batches, read.len() as u32)?, entry, &[]);
    let mut next = 0;
    Ok(fields.map(|f| {
        if !f.reads() {
            return f;
        }
        next += 1;
        Expr::load(&table, Expr::index().mul(width.clone()).add(Expr::u32(next - 1)))
    }))
}
