//! Types whose methods and functions the operations are.

/// A type that has operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// [`Tensor`](crate::Tensor), whose dtype is known at run time.
    Tensor,
    /// [`RaggedTensor`](crate::RaggedTensor), for the element types in [`Operation::elements`](super::Operation::elements).
    RaggedTensor,
    /// [`Row`](crate::Row): axes are counted in the row.
    Row,
    /// [`SparseTensor`](crate::SparseTensor).
    SparseTensor,
    /// [`StructuredTensor`](crate::StructuredTensor).
    StructuredTensor,
    /// [`LodTensor`](crate::LodTensor).
    LodTensor,
}

/// Names.
impl Owner {
    /// All owners.
    pub const ALL: [Self; 6] =
        [Self::Tensor, Self::RaggedTensor, Self::Row, Self::SparseTensor, Self::StructuredTensor, Self::LodTensor];

    /// Name of the type.
    ///
    /// ```
    /// assert_eq!(ragged::operation::Owner::SparseTensor.name(), "SparseTensor");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "Tensor",
            Self::RaggedTensor => "RaggedTensor",
            Self::Row => "Row",
            Self::SparseTensor => "SparseTensor",
            Self::StructuredTensor => "StructuredTensor",
            Self::LodTensor => "LodTensor",
        }
    }
}

/// The set of types that have an operation, with reasons why others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    offers: [Offer; Owner::ALL.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    NotDeclared,
    Yes,
    No(&'static str),
}

/// Which types have the operation.
impl Owners {
    pub(crate) const NONE: Self = Self { offers: [Offer::NotDeclared; Owner::ALL.len()] };

    pub(crate) const fn with(mut self, owner: Owner) -> Self {
        self.offers[owner as usize] = Offer::Yes;
        self
    }

    pub(crate) const fn without(mut self, owner: Owner, reason: &'static str) -> Self {
        self.offers[owner as usize] = Offer::No(reason);
        self
    }

    /// Whether the type has the operation.
    ///
    /// ```
    /// use ragged::operation::Owner;
    /// let on_rows = ragged::operations().filter(|operation| operation.owners.contains(Owner::Row));
    /// assert!(on_rows.count() > 100);
    /// ```
    pub const fn contains(&self, owner: Owner) -> bool {
        matches!(self.offers[owner as usize], Offer::Yes)
    }

    /// Why the type does not have the operation; `None` if it has it, or if no reason is declared.
    ///
    /// ```
    /// use ragged::operation::Owner;
    /// let nrows = ragged::operations().find(|operation| operation.name == "nrows").unwrap();
    /// assert_eq!(nrows.owners.reason_without(Owner::Row), Some("`size` and `row_lengths` count within the row"));
    /// ```
    pub const fn reason_without(&self, owner: Owner) -> Option<&'static str> {
        match self.offers[owner as usize] {
            Offer::No(reason) => Some(reason),
            _ => None,
        }
    }

    /// The types that have the operation.
    ///
    /// ```
    /// use ragged::operation::Owner;
    /// let dense = ragged::operations().find(|operation| operation.name == "dense").unwrap();
    /// assert_eq!(dense.owners.iter().collect::<Vec<_>>(), [Owner::RaggedTensor]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Owner> + use<> {
        let owners = *self;
        Owner::ALL.into_iter().filter(move |owner| owners.contains(*owner))
    }
}
