//! Clauses of calls, of aggregates and windows, which DataFusion ignores where a function of rows has them.

use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Function, FunctionArgumentClause, FunctionArguments, NullTreatment,
};

/// # Errors
/// A clause that changes nothing, since each row is computed by itself.
pub(super) fn check(call: &Function) -> Result<(), String> {
    let of_nulls = |treatment: &NullTreatment| format!("{treatment}: array_compact(x) leaves NULL out of lists");
    let clause = if call.filter.is_some() {
        "FILTER: the WHERE of the query leaves out rows".into()
    } else if call.over.is_some() {
        "OVER: it is no function of windows".into()
    } else if let Some(treatment) = &call.null_treatment {
        of_nulls(treatment)
    } else if !call.within_group.is_empty() {
        "WITHIN GROUP: it is no aggregate".into()
    } else if call.parameters != FunctionArguments::None {
        format!("{} before its arguments", call.parameters)
    } else if let FunctionArguments::List(list) = &call.args {
        match (list.duplicate_treatment, list.clauses.first()) {
            (Some(DuplicateTreatment::Distinct), _) => {
                "DISTINCT: ragged_unique(x) has each value of a list once".into()
            }
            (_, Some(FunctionArgumentClause::OrderBy(_))) => {
                "ORDER BY: ragged_sort(x) sorts the values of a list".into()
            }
            (_, Some(FunctionArgumentClause::IgnoreOrRespectNulls(treatment))) => of_nulls(treatment),
            (_, Some(other)) => other.to_string(),
            (_, None) => return Ok(()),
        }
    } else {
        return Ok(());
    };
    Err(format!("a function that computes each row takes no {clause}"))
}
