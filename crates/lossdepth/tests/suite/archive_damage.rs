//! Bytes that are no model, or a damaged one: a clear error and nothing else.

use crate::archive::{Tensors, Texts, doubles, parts, refused, saved, sealed};
use crate::common::Random;
use lossdepth::data::{Column, EncodingOptions, Table, Values};
use lossdepth::model::archive::Archive;
use lossdepth::{Fit, Method, Model, Reference, Rows, Run, Scale, Settings};
use safetensors::{Dtype, tensor::TensorView};
use std::collections::HashMap;

#[test]
fn a_newer_format_is_refused_by_name() {
    let (mut texts, tensors) = parts(&saved(Method::Hinge, Scale::None, false).1);
    texts.insert("format_version".to_owned(), "4".to_owned());
    texts.insert("lossdepth_version".to_owned(), "7.1".to_owned());
    let message = "made by a newer lossdepth (7.1): format 4, this one reads up to 3";
    assert_eq!(refused(&sealed(texts.clone(), &tensors)), message);
    // Whatever else may have changed: here, how the checksum is made.
    texts.insert("checksum".to_owned(), "blake3:0".to_owned());
    let views: HashMap<String, TensorView<'_>> = HashMap::new();
    let bytes = safetensors::serialize(views, Some(texts.into_iter().collect())).unwrap();
    assert_eq!(refused(&bytes), message);
}

#[test]
fn what_is_no_model_is_said_to_be_none() {
    assert_eq!(refused(b""), "not a lossdepth model: it is empty");
    for other in [&b"PK\x03\x04 a numpy archive"[..], b"id,x,y\n1,2,3\n", b"\x80\x04\x95", b"{}"] {
        assert_eq!(refused(other), "not a lossdepth model: not in safetensors format");
    }
    let numbers = doubles(&[1.0]);
    let views = HashMap::from([("w", TensorView::new(Dtype::F64, vec![1], &numbers).unwrap())]);
    let other = safetensors::serialize(views, None).unwrap();
    assert_eq!(refused(&other), "not a lossdepth model: a safetensors file of something else");
}

#[test]
fn damage_of_every_byte_is_found() {
    let (_, bytes) = saved(Method::Halfspace, Scale::Standard, true);
    let whole = Archive::from_bytes(&bytes).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            // White space in the header, or an escape for the same letter, is no damage.
            if let Ok(archive) = Archive::from_bytes(&bytes) {
                assert_eq!(archive, whole, "byte {at}, bit {bit}");
            }
        }
        let cut = Archive::from_bytes(&bytes[..at]).unwrap_err();
        assert!(at < 9 || cut.to_string() == "the model is damaged: it is cut off", "{at}: {cut}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert_eq!(refused(&longer), "the model is damaged: there is more in it than its header says");
}

/// Every way to be wrong with a right checksum.
#[test]
fn what_does_not_fit_together_is_refused() {
    let (_, bytes) = saved(Method::Logistic, Scale::Whiten, true);
    let (texts, tensors) = parts(&bytes);
    let text = |name: &str, value: Option<&str>| {
        let mut texts = texts.clone();
        match value {
            Some(value) => texts.insert(name.to_owned(), value.to_owned()),
            None => texts.remove(name),
        };
        refused(&sealed(texts, &tensors))
    };
    let tensor = |name: &str, value: Option<(&[usize], &[f64])>| {
        let mut tensors = tensors.clone();
        match value {
            Some((shape, values)) => tensors.insert(name.to_owned(), (shape.to_vec(), doubles(values))),
            None => tensors.remove(name),
        };
        refused(&sealed(texts.clone(), &tensors))
    };
    let rows: Vec<f64> = (0..72).map(f64::from).collect();
    let with = |at: usize, value: f64| {
        let mut rows = rows.clone();
        rows[at] = value;
        rows
    };
    let (huge, large) = ([1e300; 9], [1e120; 9]);
    for (got, expected) in [
        (text("format_version", Some("0")), "no format version `0`"),
        (text("format_version", None), "no format version ``"),
        (text("settings", None), "it has no settings"),
        (text("settings", Some("{")), "`settings`: EOF"),
        (text("settings", Some("{\"method\":\"magic\"}")), "`settings`: `method` must be one of"),
        (
            text("settings", Some("{\"method\":\"logistic\",\"trees\":3}")),
            "`settings`: method `logistic` has no",
        ),
        (text("settings", Some("{\"method\":\"hinge\"}")), "its settings are those of another method"),
        (text("method", None), "its settings are those of another method"),
        (
            text("settings", Some("{\"method\":\"logistic\",\"scale\":\"none\"}")),
            "what it has for a scaling is none for scale `none`",
        ),
        (
            text("settings", Some("{\"method\":\"logistic\",\"scale\":\"standard\"}")),
            "what it has for a scaling is none for scale `standard`",
        ),
        (text("columns", Some("[\"a\"]")), "1 names for 3 columns"),
        (text("columns", Some("[1,2,3]")), "`columns`: invalid type"),
        (text("scaling_warning", Some("\"boom\"")), "`scaling_warning`: unknown variant `boom`"),
        (text("extra", Some("x")), "unknown entry `extra`"),
        (tensor("reference", None), "it has no reference"),
        (tensor("reference", Some((&[72], &rows))), "its reference is no table"),
        (tensor("reference", Some((&[0, 3], &[]))), "`weights` is of shape [24]"),
        (
            tensor("reference", Some((&[24, 3], &with(7, f64::NAN)))),
            "its reference: row 2, column 1 is not finite",
        ),
        (
            tensor("reference", Some((&[24, 3], &with(7, 1e101)))),
            "its reference: row 2, column 1 is too large",
        ),
        (tensor("reference", Some((&[12, 6], &rows))), "`weights` is of shape [24]"),
        (tensor("weights", Some((&[24], &[-1.0; 24]))), "its reference: weight 0 must be finite"),
        (tensor("weights", Some((&[24], &[0.0; 24]))), "its reference: the reference needs at least 2 rows"),
        (tensor("weights", Some((&[24, 1], &[1.0; 24]))), "`weights` is of shape [24, 1]"),
        (tensor("scaling.center", None), "what it has for a scaling is none for scale `whiten`"),
        (tensor("scaling.center", Some((&[3], &[0.0, f64::INFINITY, 0.0]))), "its scaling: row 0, column 1"),
        (tensor("scaling.factors", Some((&[3], &[1.0; 3]))), "what it has for a scaling is none"),
        (tensor("scaling.matrix", Some((&[9], &huge))), "`scaling.matrix` is of shape [9]"),
        (
            tensor("scaling.matrix", Some((&[3, 3], &huge))),
            "its scaling: a scaling cannot have the factor 1e300",
        ),
        (
            tensor("scaling.matrix", Some((&[3, 3], &large))),
            "its scaling takes the reference to numbers too large",
        ),
        (tensor("spare", Some((&[1], &[0.0]))), "unknown tensor `spare`"),
    ] {
        let expected = format!("the model is damaged: {expected}");
        assert!(got.starts_with(&expected), "{got}\nexpected {expected}");
    }
    let wrong = text("settings", Some("{\"method\":\"logistic\",\"scale\":\"mcd\",\"reg\":-1.0}"));
    assert_eq!(wrong, "`reg` must be a positive, finite number, got -1");
}

/// A file with this header and data.
fn raw(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Found by thinking and by the fuzzer; each once took a reader of this format by surprise.
#[test]
fn hostile_headers() {
    let entry = |name: &str, shape: &str, from: u64, to: u64| {
        format!("\"{name}\":{{\"dtype\":\"F64\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}")
    };
    // Offsets that come round to the length of the file when they are added up in 64 bits.
    let step = 1u64 << 60;
    let most: Vec<String> = (0..15u64)
        .map(|i| entry(&format!("t{i}"), &format!("[{}]", step / 8), i * step, (i + 1) * step))
        .chain([entry("u", &format!("[{}]", step / 8 - 64), 15 * step, u64::MAX - 511)])
        .collect();
    for (header, data, expected) in [
        ("{}".to_owned(), 0, "not a lossdepth model: a safetensors file of something else"),
        (format!("{{{}}}", most.join(",")), 4, "the model is damaged: it is cut off"),
        (format!("{{{}}}", entry("a", "[1,0]", 0, 8)), 8, "the model is damaged: tensor `a` is not as large"),
        (
            format!("{{{}}}", entry("a", "[4294967296,4294967296]", 0, 0)),
            0,
            "the model is damaged: tensor `a` is not as large as its shape",
        ),
        (format!("{{{}}}", entry("a", "[1]", 8, 0)), 8, "the model is damaged: its tensors do not follow"),
        (
            format!("{{{},{}}}", entry("a", "[1]", 0, 8), entry("b", "[1]", 0, 8)),
            8,
            "the model is damaged: its tensors do not follow each other",
        ),
        (
            format!("{{{},{}}}", entry("a", "[1]", 0, 8), entry("a", "[1]", 8, 16)),
            16,
            "the model is damaged: its header is not as it should be: `a` is there twice",
        ),
        (
            "{\"__metadata__\":{\"format\":\"x\",\"format\":\"lossdepth-model\"}}".to_owned(),
            0,
            "the model is damaged: its header is not as it should be: `format` is there twice",
        ),
        (
            "{\"__metadata__\":{},\"__metadata__\":{}}".to_owned(),
            0,
            "the model is damaged: its header is not",
        ),
        (
            entry("a", "[1]", 0, 8).replace("F64", "F32").replacen('"', "{\"", 1) + "}",
            8,
            "the model is damaged: tensor `a` is of type F32, not F64",
        ),
        (
            format!("{}{}", "{\"a\":".repeat(5000), "}".repeat(5000)),
            0,
            "the model is damaged: its header is not",
        ),
        (
            "{\"a\":{\"dtype\":\"F64\",\"shape\":[-1],\"data_offsets\":[0,8]}}".to_owned(),
            8,
            "the model is damaged",
        ),
    ] {
        let got = refused(&raw(&header, &vec![0; data]));
        assert!(got.starts_with(expected), "{header}:\n{got}\nexpected {expected}");
    }
    for length in [99_999_999u64, 100_000_001, 1 << 40, u64::MAX] {
        let bytes = [&length.to_le_bytes()[..], b"{}"].concat();
        assert!(Archive::from_bytes(&bytes).is_err(), "{length}");
    }
}

/// How many inputs the fuzzer makes; `LOSSDEPTH_FUZZ` asks for more.
fn inputs() -> usize {
    std::env::var("LOSSDEPTH_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

fn pick<'a, T: ?Sized>(random: &mut Random, from: &[&'a T]) -> &'a T {
    from[random.below(from.len())]
}

/// Changes some bytes, cuts, or puts pieces of files together.
fn scrambled(random: &mut Random, files: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = files[random.below(files.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        // Most of what is checked is in the header.
        let at = if random.below(4) > 0 { at.min(random.below(900)) } else { at };
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = pick(random, &[b"0", b"9", b"\"", b"}", b"\xff", b"\0"])[0],
            2 => bytes.truncate(at),
            3 => {
                drop(
                    bytes.splice(at..at, *pick(random, &[b"18446744073709551615", b"[[[[[[[[[[[[[[[[[[[["])),
                );
            }
            4 => {
                let other = &files[random.below(files.len())];
                bytes.truncate(at);
                bytes.extend(&other[random.below(other.len())..]);
            }
            _ => {
                let end = (at + random.below(9)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

/// Changes texts, shapes and numbers, with the right checksum.
fn forged(random: &mut Random, files: &[(Texts, Tensors)]) -> Vec<u8> {
    let (mut texts, mut tensors) = files[random.below(files.len())].clone();
    for _ in 0..=random.below(3) {
        match random.below(7) {
            0 => {
                let names: Vec<String> = texts.keys().cloned().collect();
                texts.remove(&names[random.below(names.len())]);
            }
            1 => {
                let other = &files[random.below(files.len())].0;
                let names: Vec<&String> = other.keys().collect();
                let name = names[random.below(names.len())];
                texts.insert(name.clone(), other[name].clone());
            }
            2 => {
                let settings = texts.entry("settings".to_owned()).or_default();
                let numbers: Vec<usize> =
                    settings.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
                if !numbers.is_empty() {
                    let at = numbers[random.below(numbers.len())];
                    let new = pick(
                        random,
                        &["0", "-1", "1e-300", "2", "null", "0.5", "\"auto\"", "[1,2]", "1e400"],
                    );
                    settings.replace_range(at..=at, new);
                }
            }
            3 => {
                let other = &files[random.below(files.len())].1;
                let names: Vec<&String> = other.keys().collect();
                let name = names[random.below(names.len())];
                tensors.insert(name.clone(), other[name].clone());
            }
            4 => {
                let names: Vec<String> = tensors.keys().cloned().collect();
                if !names.is_empty() {
                    tensors.remove(&names[random.below(names.len())]);
                }
            }
            5 => {
                for (shape, bytes) in tensors.values_mut() {
                    let n = bytes.len() / 8;
                    if random.below(3) == 0 {
                        *shape = match random.below(4) {
                            0 => vec![n],
                            1 => vec![1, n],
                            2 => vec![n, 1],
                            _ => vec![n, 1, 1],
                        };
                    }
                }
            }
            _ => {
                let strange = [f64::NAN, f64::INFINITY, 0.0, -0.0, 1e100, -1e100, 1e300, 5e-324, 1.0, -1.0];
                let names: Vec<String> = tensors.keys().cloned().collect();
                if !names.is_empty() {
                    let (_, bytes) = tensors.get_mut(&names[random.below(names.len())]).unwrap();
                    let (at, to) = (random.below(bytes.len() / 8), strange[random.below(strange.len())]);
                    bytes[8 * at..8 * at + 8].copy_from_slice(&to.to_le_bytes());
                }
            }
        }
    }
    sealed(texts, &tensors)
}

#[test]
fn no_bytes_make_it_panic() {
    let small = |method: Method, scale: Scale, weighted: bool| {
        let mut random = Random::new(3);
        let rows = random.cloud(7, 2);
        let sample = if weighted {
            Reference::weighted(&rows, &[1.0, 2.0, 0.0, 1.0, 1.5, 1.0, 1.0]).unwrap()
        } else {
            Reference::new(&rows).unwrap()
        };
        let model = Settings { scale, max_iter: 50, ..Settings::new(method) }.fit(&sample).unwrap();
        let archive = Archive::of(&model).columns(vec!["a".into(), "b".into()]).unwrap();
        archive.extra("offset", "0.1").to_bytes().unwrap()
    };
    let scales = [Scale::None, Scale::Standard, Scale::Robust, Scale::Whiten, Scale::Mcd];
    let files: Vec<Vec<u8>> = Method::ALL
        .into_iter()
        .enumerate()
        .map(|(i, method)| small(method, scales[i % scales.len()], i % 3 == 0))
        .collect();
    let taken: Vec<(Texts, Tensors)> = files.iter().map(|bytes| parts(bytes)).collect();
    let seed = std::env::var("LOSSDEPTH_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let (mut read, mut ready, mut scores) = (0, 0, 0);
    let run = Run { threads: Some(1), ..Run::default() };
    for _ in 0..inputs() {
        let bytes = match random.below(10) {
            0 => (0..random.below(300)).map(|_| u8::try_from(random.below(256)).unwrap()).collect(),
            1..=5 => scrambled(&mut random, &files),
            _ => forged(&mut random, &taken),
        };
        let Ok(archive) = Archive::from_bytes(&bytes) else { continue };
        read += 1;
        // What was accepted can be written again.
        let again = archive.to_bytes().unwrap();
        assert_eq!(Archive::from_bytes(&again).unwrap().to_bytes().unwrap(), again);
        let Ok(model) = archive.model() else { continue };
        ready += 1;
        // The first two have no standard error, the others withhold it where few rows decide.
        let method = model.settings().method;
        let without = matches!(method, Method::Forest | Method::Auto);
        let may_lack = matches!(method, Method::Potential | Method::Zonoid | Method::Simplicial);
        let query = vec![0.5; model.width()];
        if let Ok(fits) = model.score(Rows::new(&query, query.len()).unwrap(), &run) {
            scores += 1;
            let Fit { depth, error, stderr, .. } = fits[0];
            assert!(
                (0.0..=1.0).contains(&depth) && !error.is_nan() && (may_lack || stderr.is_nan() == without),
                "{fits:?} {archive:?}"
            );
        }
    }
    // The fuzzer gets through to every stage.
    assert!(
        read > inputs() / 20 && ready > inputs() / 50 && scores > inputs() / 50,
        "{read} {ready} {scores}"
    );
}

/// A saved model of a table with a category and gaps.
fn saved_table() -> (Texts, Tensors) {
    let mut region = lossdepth::data::Texts::default();
    (0..40).for_each(|i| region.push(Some(["north", "south", "east"][i % 3])));
    let price = (0..40).map(|i| if i == 7 { f64::NAN } else { f64::from(i * i % 17) }).collect();
    let columns = vec![
        Column { name: "price".into(), values: Values::Numbers(price) },
        Column { name: "region".into(), values: Values::Texts(region) },
    ];
    let table = Table::new(columns).unwrap();
    let model = Settings::new(Method::Hinge).fit_table(&table, None, &EncodingOptions::default()).unwrap();
    parts(&model.to_bytes().unwrap())
}

#[test]
fn damaged_encodings_are_refused() {
    let (texts, tensors) = saved_table();
    assert_eq!((texts["format_version"].as_str(), tensors["reference"].0[1]), ("2", 7));
    assert!(Model::from_bytes(&sealed(texts.clone(), &tensors)).is_ok());
    let with = |change: &dyn Fn(&mut Texts)| {
        let mut texts = texts.clone();
        change(&mut texts);
        refused(&sealed(texts, &tensors))
    };
    let replaced = |from: &str, to: &str| {
        let whole = &texts["encoding"];
        assert!(whole.contains(from), "{from} is not in {whole}");
        let changed = whole.replacen(from, to, 1);
        with(&|texts| drop(texts.insert("encoding".to_owned(), changed.clone())))
    };
    let damaged = "the model is damaged: ";
    // Cut anywhere it is no JSON any more.
    let whole = texts["encoding"].clone();
    for end in (0..whole.len()).step_by(whole.len() / 97) {
        let message = with(&|texts| drop(texts.insert("encoding".to_owned(), whole[..end].to_owned())));
        assert!(message.starts_with(&format!("{damaged}`encoding`: ")), "cut at {end}: {message}");
    }
    assert_eq!(with(&|texts| drop(texts.remove("encoding"))), format!("{damaged}it has no encoding"));
    let older = with(&|texts| drop(texts.insert("format_version".to_owned(), "1".to_owned())));
    assert_eq!(older, format!("{damaged}unknown entry `encoding`"));
    // Another width than the reference: without the gap group.
    let message = replaced("\"gaps\":1.0", "\"gaps\":0.0");
    assert_eq!(message, format!("{damaged}its encoding is of 5 columns, its reference of 7"));
    let hostile = [
        ("\"seen\":3", "\"seen\":18446744073709551615"),
        ("\"seen\":3", "\"seen\":0"),
        ("\"seen\":3", "\"seen\":9"),
        ("\"coordinate\":2", "\"coordinate\":3"),
        ("\"sizes\":[1", "\"sizes\":[-1"),
        ("\"name\":\"region\"", "\"name\":\"price\""),
        ("\"name\":\"south\"", "\"name\":\"north\""),
        ("\"kind\":\"number\"", "\"kind\":\"category\""),
        ("\"kind\":\"category\"", "\"kind\":\"boolean\""),
        ("\"decimals\":0", "\"decimals\":1000000000"),
        ("\"median\":", "\"median\":1e300,\"x\":"),
        ("\"observations\":40.0", "\"observations\":0.0"),
        ("\"donors\":[[", "\"donors\":[[1.0,"),
        ("\"missing\":\"compare\"", "\"missing\":\"guess\""),
    ];
    for (from, to) in hostile {
        let message = replaced(from, to);
        assert!(message.starts_with(&format!("{damaged}`encoding`: ")), "{to}: {message}");
    }
    // A reference that is no encoded table.
    let mut other = tensors.clone();
    other.insert("reference".to_owned(), (vec![40, 7], doubles(&[1.0; 280])));
    assert!(refused(&sealed(texts.clone(), &other)).starts_with(&format!("{damaged}its reference: row 0")));
}
