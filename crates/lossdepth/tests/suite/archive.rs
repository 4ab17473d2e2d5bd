//! Models as bytes: the same scores to the last bit, and nothing but a clear error for bytes that are no model.

use crate::common::Random;
use lossdepth::data::Transform;
use lossdepth::kernel::KernelChoice;
use lossdepth::model::Value;
use lossdepth::model::archive::Archive;
use lossdepth::{DepthError, Fit, Method, Model, Reference, Rows, Run, Scale, Settings};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

pub(crate) const D: usize = 3;

pub(crate) fn sample(weighted: bool) -> Reference {
    let mut random = Random::new(5);
    let rows = random.cloud(24, D);
    let weights: Vec<f64> = (0..24).map(|i| f64::from(i % 4) + 0.5 * f64::from(i % 3)).collect();
    if weighted { Reference::weighted(&rows, &weights).unwrap() } else { Reference::new(&rows).unwrap() }
}

pub(crate) fn scored(model: &Model, queries: &[f64]) -> Vec<Fit> {
    model.score(Rows::new(queries, model.width()).unwrap(), &Run::default()).unwrap()
}

pub(crate) fn queries() -> Vec<f64> {
    let mut random = Random::new(8);
    (0..7 * D).map(|_| 2.0 * random.normal()).collect()
}

/// Cheap settings for a method.
pub(crate) fn settings(method: Method, scale: Scale) -> Settings {
    let reg = if method.settings().contains(&"reg") { 0.03 } else { 1.0 };
    Settings { scale, reg, ..Settings::new(method) }
}

pub(crate) fn saved(method: Method, scale: Scale, weighted: bool) -> (Model, Vec<u8>) {
    let model = settings(method, scale).fit(&sample(weighted)).unwrap();
    let bytes = model.to_bytes().unwrap();
    (model, bytes)
}

#[test]
fn every_method_scores_and_explains_the_same_to_the_last_bit() {
    for method in Method::ALL {
        for (scale, weighted) in [(Scale::None, true), (Scale::Robust, false), (Scale::Mcd, true)] {
            let (model, bytes) = saved(method, scale, weighted);
            let loaded = Model::from_bytes(&bytes).unwrap();
            let queries = queries();
            assert_eq!(scored(&loaded, &queries), scored(&model, &queries), "{method} {scale}");
            let rows = Rows::new(&queries, D).unwrap();
            let explain = |model: &Model| model.explain(rows, &Run::default()).unwrap();
            assert_eq!(explain(&loaded), explain(&model), "{method} {scale}");
            assert_eq!(loaded.settings(), model.settings());
            assert_eq!(loaded.reference(), model.reference());
            assert_eq!(loaded.scaling(), model.scaling());
            // And once more: the same bytes.
            assert_eq!(loaded.to_bytes().unwrap(), bytes, "{method} {scale}");
        }
    }
}

#[test]
fn settings_of_all_kinds_survive() {
    let values: [(Method, &[(&str, Value)]); 6] = [
        (Method::Logistic, &[("variant", Value::Text("constrained".into())), ("radius", Value::Number(0.1))]),
        (Method::Svm, &[("kernel", Value::Text("laplacian".into())), ("sigma", Value::Number(0.1 + 0.2))]),
        (Method::Klr, &[("kernel", Value::Text("polynomial".into())), ("degree", Value::Count(2))]),
        (Method::Forest, &[("max_features", Value::Number(0.7)), ("trees", Value::Count(9))]),
        (Method::Mlp, &[("hidden", Value::Counts(vec![5, 3])), ("seed", Value::Count(u64::MAX / 3))]),
        (Method::Halfspace, &[("tol", Value::Number(5e-324 * 1e300))]),
    ];
    for (method, values) in values {
        let settings = Settings::with(method, values.iter().cloned()).unwrap();
        let model = settings.fit(&sample(false)).unwrap();
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(*loaded.settings(), settings);
        assert_eq!(scored(&loaded, &queries()), scored(&model, &queries()), "{method}");
    }
}

#[test]
fn a_precomputed_kernel_is_saved_as_its_values() {
    let rows = sample(false);
    let gram: Vec<f64> = rows
        .rows()
        .iter()
        .flat_map(|a| rows.rows().iter().map(|b| (-crate::common::norm(&minus(a, b))).exp()))
        .collect();
    let n = rows.len();
    let settings = Settings {
        kernel: KernelChoice::Precomputed,
        scale: lossdepth::Scale::None,
        ..Settings::new(Method::Svm)
    };
    let model = settings.fit(&Reference::from_vec(gram.clone(), n, None).unwrap()).unwrap();
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(scored(&loaded, &gram[..3 * n]), scored(&model, &gram[..3 * n]));
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[test]
fn names_notes_and_warnings_survive() {
    let few = Reference::new(&[[0.0, 1.0], [1.0, 5.0], [2.0, 2.0]]).unwrap();
    let model = settings(Method::Svm, Scale::Mcd).fit(&few).unwrap();
    assert!(model.warning().is_some());
    let names = vec!["größe \"x\"".to_owned(), "a,b\n".to_owned()];
    let archive = Archive::of(&model).columns(names.clone()).unwrap();
    let archive = archive.extra("offset", "0.25").extra("", "").memory(Some(1e9));
    let bytes = archive.to_bytes().unwrap();
    let loaded = Archive::from_bytes(&bytes).unwrap();
    assert_eq!(loaded, archive);
    assert_eq!(loaded.column_names(), Some(&names[..]));
    assert_eq!(loaded.extras()["offset"], "0.25");
    assert_eq!(loaded.warning(), model.warning());
    assert_eq!(loaded.model().unwrap().warning(), model.warning());
    assert_eq!(loaded.version(), env!("CARGO_PKG_VERSION"));
    assert!(matches!(archive.columns(vec!["one".into()]), Err(DepthError::Unsaved { .. })));
}

pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<u8>)>;

pub(crate) type Texts = BTreeMap<String, String>;

/// A file taken apart by the safetensors library: a witness that it is one.
pub(crate) fn parts(bytes: &[u8]) -> (Texts, Tensors) {
    let file = SafeTensors::deserialize(bytes).unwrap();
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let texts = header.metadata().clone().unwrap().into_iter().collect();
    let tensor = |(name, view): (String, TensorView<'_>)| {
        assert_eq!(view.dtype(), Dtype::F64);
        (name, (view.shape().to_vec(), view.data().to_vec()))
    };
    (texts, file.tensors().into_iter().map(tensor).collect())
}

/// The checksum by its definition.
pub(crate) fn checksum(texts: &Texts, tensors: &Tensors) -> String {
    let mut hashed = Vec::new();
    let number = |n: usize| (n as u64).to_le_bytes();
    let texts: Vec<_> = texts.iter().filter(|(name, _)| *name != "checksum").collect();
    hashed.extend(number(texts.len()));
    for (name, text) in texts {
        hashed.extend(
            [&number(name.len())[..], name.as_bytes(), &number(text.len()), text.as_bytes()].concat(),
        );
    }
    for (name, (shape, bytes)) in tensors {
        hashed.extend([&number(name.len())[..], name.as_bytes(), &number(shape.len())].concat());
        hashed.extend(shape.iter().flat_map(|&n| number(n)));
        hashed.extend([&number(bytes.len())[..], bytes].concat());
    }
    let digits: Vec<String> = Sha256::digest(&hashed).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

/// A file with the right checksum, whatever is in it, written by the safetensors library.
pub(crate) fn sealed(mut texts: Texts, tensors: &Tensors) -> Vec<u8> {
    texts.insert("checksum".to_owned(), checksum(&texts, tensors));
    let views: HashMap<_, _> = tensors
        .iter()
        .map(|(name, (shape, bytes))| {
            (name.clone(), TensorView::new(Dtype::F64, shape.clone(), bytes).unwrap())
        })
        .collect();
    safetensors::serialize(views, Some(texts.into_iter().collect())).unwrap()
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn the_safetensors_library_reads_and_writes_the_same_files() {
    let (model, bytes) = saved(Method::Svm, Scale::Whiten, true);
    let (texts, tensors) = parts(&bytes);
    let names: Vec<&str> = tensors.keys().map(String::as_str).collect();
    assert_eq!(names, ["reference", "scaling.center", "scaling.matrix", "weights"]);
    assert_eq!(tensors["reference"].0, [24, D]);
    assert_eq!(tensors["reference"].1, doubles(model.reference().rows().as_slice()));
    assert_eq!(tensors["weights"].1, doubles(model.reference().given_weights().unwrap()));
    assert_eq!(texts["format"], "lossdepth-model");
    assert_eq!(texts["method"], "svm");
    assert_eq!(texts["checksum"], checksum(&texts, &tensors));
    let theirs = sealed(texts, &tensors);
    assert_eq!(Archive::from_bytes(&theirs).unwrap(), Archive::from_bytes(&bytes).unwrap());
}

#[test]
fn the_scaling_is_the_one_that_was_saved() {
    let (model, bytes) = saved(Method::Logistic, Scale::Mcd, false);
    let (texts, mut tensors) = parts(&bytes);
    let center = doubles(&[9.0, 9.0, 9.0]);
    tensors.insert("scaling.center".to_owned(), (vec![D], center));
    let loaded = Model::from_bytes(&sealed(texts, &tensors)).unwrap();
    assert_eq!(loaded.scaling().center(), [9.0, 9.0, 9.0]);
    assert_ne!(loaded.scaling().center(), model.scaling().center());
    assert!(matches!(loaded.scaling().transform(), Transform::Full(_)));
}

pub(crate) fn refused(bytes: &[u8]) -> String {
    Archive::from_bytes(bytes).and_then(|archive| archive.model()).map(|_| ()).unwrap_err().to_string()
}
