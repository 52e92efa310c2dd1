//! Tables and programs of files.

use std::path::Path;

use ragged::{Device, Program, RaggedTensor, SavedModel, Tensor, TensorSpec};
use ragged_data::{npy, safetensors};

use crate::calls::table;
use crate::session::{Session, devices};

/// Calls with the path of a safetensors file that has the table `table` of 16 rows of 4 floats.
pub fn with_a_table(f: impl FnOnce(&str)) {
    let folder =
        std::env::temp_dir().join(format!("ragged-sql-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("tables.safetensors");
    let rows: Vec<[f32; 4]> = (0..16).map(|k| [0, 1, 2, 3].map(|j| (k * 4 + j) as f32 * 0.25)).collect();
    let of: Tensor = RaggedTensor::from_nested(rows, &Device::cpu()).expect("a table").erased().clone();
    let other = of.multiply(2).expect("a table");
    safetensors::write(&path, [("table", &of), ("other", &other)]).expect("writes");
    npy::write(folder.join("one.npy"), &of).expect("writes");
    f(path.to_str().expect("UTF-8"));
    std::fs::remove_dir_all(&folder).expect("removes");
}

#[test]
fn tables_are_named_by_their_files() {
    with_a_table(|place| {
        let npy = Path::new(place).with_file_name("one.npy");
        for device in devices() {
            let session = Session::new(&device);
            session.table("t", &table(), 4);
            let vectors = |table: &str| {
                session
                    .column(&format!("SELECT ragged_sum(ragged_embedding_lookup('{table}', ragged_abs(n)), 1) FROM t"))
            };
            let named = vectors(&format!("{place}#table"));
            assert_eq!(named.data_type().to_string(), "FixedSizeList(4 x Float32)");
            assert_eq!(named.to_data(), vectors(npy.to_str().expect("UTF-8")).to_data());
            assert_ne!(named.to_data(), vectors(&format!("{place}#other")).to_data());
        }
        let session = Session::new(&Device::cpu());
        session.table("t", &table(), 4);
        for (table, says) in [
            (place.to_owned(), "has more than one tables: other, table"),
            (format!("{place}#no"), "no \"no\" among the tables: other, table"),
            ("nowhere.npy".into(), "nowhere.npy"),
            ("x.csv".into(), "is no table: it must be"),
        ] {
            let sql = format!("SELECT ragged_embedding_lookup('{table}', n) FROM t");
            let error = session.query(&sql).expect_err(&sql).to_string();
            assert!(error.contains(says), "{error}");
        }
    });
}

/// `embedding_lookup` has one option of its ids; the others are those of sums of embeddings.
#[test]
fn options_of_lookups_are_taken_or_refused() {
    with_a_table(|place| {
        let session = Session::new(&Device::cpu());
        session.table("t", &table(), 4);
        let lookup = format!("ragged_embedding_lookup('{place}#table', ragged_abs(n)");
        let limited = session.column(&format!("SELECT ragged_max({lookup}, max_norm => 0.5)) FROM t"));
        assert_ne!(limited.to_data(), session.column(&format!("SELECT ragged_max({lookup})) FROM t")).to_data());
        for (option, says) in [
            ("weights => f", "it has no `weights`: ragged_multiply(vectors, ragged_expand_dims(weights, -1))"),
            ("default => 1", "it has no `default`: ragged_fill_empty_rows(ids, id)"),
            ("weigths => f", "it has no `weigths`; usage: ragged_embedding_lookup(x, ids, max_norm?)"),
        ] {
            let error =
                session.query(&format!("EXPLAIN SELECT {lookup}, {option}) FROM t")).expect_err(option).to_string();
            assert!(error.contains(says), "{error}");
        }
        // What the messages say.
        for call in [
            format!("ragged_multiply({lookup}), ragged_expand_dims(f, -1))"),
            format!("ragged_embedding_lookup('{place}#table', ragged_fill_empty_rows(ragged_abs(n), 1))"),
        ] {
            session.column(&format!("SELECT {call} FROM t"));
        }
    });
}

#[test]
fn saved_programs_are_called() {
    with_a_table(|place| {
        let path = Path::new(place).with_file_name("model.json");
        let spec = || TensorSpec::new(ragged::DType::F32, [None, None]).ragged_rank(1);
        let center =
            Program::trace(&[spec()], |x| x[0].subtract(&x[0].reduce_mean(ragged::opt::keep(1))?)).expect("traced");
        SavedModel::new().with_program("center", &center).save(&path).expect("saves");
        let path = path.to_str().expect("UTF-8");
        for device in devices() {
            let session = Session::new(&device);
            session.table("t", &table(), 4);
            let want = session.column("SELECT ragged_sum(ragged_subtract(f, ragged_mean(f, keep => true))) FROM t");
            for file in [path.to_owned(), format!("{path}#center")] {
                let sql = format!("SELECT ragged_sum(ragged_program('{file}', f)) FROM t");
                assert_eq!(session.column(&sql).to_data(), want.to_data());
                let plan = session.plan(&sql);
                assert_eq!(plan.matches("ragged_reduce_sum(ragged_program('").count(), 2, "once in each plan: {plan}");
            }
        }
    });
}
