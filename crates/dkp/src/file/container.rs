//! Tensors and a description in one safetensors file.
//!
//! The file's metadata has one key, `dkp`: JSON with sorted keys, in which `format` is the version and `sha256` the digest of the whole
//! file with the digest's own digits as zeros.

use super::Error;
use safetensors::{Dtype, SafeTensors, View};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The newest format, which is the one that is written.
const FORMAT: u64 = 2;
/// The key of the description.
const KEY: &str = "dkp";
/// Digits of a digest.
const DIGITS: usize = 64;

/// Numbers in rows of the last axis, as other programs expect them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Values, the last axis fastest.
    pub values: Vec<f64>,
}

impl Tensor {
    /// A list of numbers.
    pub fn vector(values: Vec<f64>) -> Tensor {
        Tensor { shape: vec![values.len()], values }
    }

    /// A matrix from its columns.
    pub fn from_columns(rows: usize, cols: usize, columns: &[f64]) -> Tensor {
        let values = (0..rows * cols).map(|e| columns[e % cols * rows + e / cols]).collect();
        Tensor { shape: vec![rows, cols], values }
    }

    /// Rows, columns, and the values column by column, if this is a matrix.
    pub fn columns(&self) -> Option<(usize, usize, Vec<f64>)> {
        let [rows, cols] = *self.shape.as_slice() else { return None };
        let values = (0..rows * cols).map(|e| self.values[e % rows * cols + e / rows]).collect();
        Some((rows, cols, values))
    }
}

/// What a file holds.
pub(super) struct Contents {
    pub metadata: Value,
    pub tensors: BTreeMap<String, Tensor>,
}

/// What can be wrong with bytes.
#[derive(Debug, PartialEq)]
pub(super) enum Defect {
    Damaged(String),
    Foreign(String),
    Older(u64),
    Newer(u64),
}

impl Defect {
    pub fn of(self, path: &Path, expected: &'static str) -> Error {
        let path = path.to_path_buf();
        match self {
            Defect::Damaged(reason) => Error::Damaged { path, reason },
            Defect::Foreign(reason) => Error::Foreign { path, expected, reason },
            Defect::Older(found) => Error::Older { path, found },
            Defect::Newer(found) => Error::Newer { path, found, known: FORMAT },
        }
    }
}

struct Bytes<'a>(&'a Tensor);

impl View for Bytes<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F64
    }

    fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.0.values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    fn data_len(&self) -> usize {
        8 * self.0.values.len()
    }
}

/// The bytes of a file.
pub(super) fn encode(contents: &Contents) -> Vec<u8> {
    let zeros = "0".repeat(DIGITS);
    let description = json!({ "format": FORMAT, "sha256": zeros, "contents": contents.metadata }).to_string();
    let metadata = HashMap::from([(KEY.to_string(), description)]);
    let tensors = contents.tensors.iter().map(|(name, t)| (name, Bytes(t)));
    let mut bytes = safetensors::serialize(tensors, Some(metadata)).expect("shapes are those of the values");
    let at = last(header(&bytes), zeros.as_bytes()).expect("the description is in the header");
    let digest = hex(&Sha256::digest(&bytes));
    bytes[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    bytes
}

/// What bytes hold, if all of them are as they were written.
pub(super) fn decode(bytes: &[u8]) -> Result<Contents, Defect> {
    let (header_length, header) = SafeTensors::read_metadata(bytes).map_err(|e| match e {
        // any text file has a "header" of billions of bytes
        safetensors::SafeTensorError::HeaderTooLarge => Defect::Foreign(e.to_string()),
        e => Defect::Damaged(e.to_string()),
    })?;
    let description = header.metadata().as_ref().and_then(|m| m.get(KEY));
    let description = description.ok_or_else(|| Defect::Foreign("it has no description of a model".to_string()))?;
    let description: Value =
        serde_json::from_str(description).map_err(|e| Defect::Damaged(format!("its description: {e}")))?;
    match description["format"].as_u64() {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => return Err(Defect::Newer(newer)),
        Some(older) => return Err(Defect::Older(older)),
        None => return Err(Defect::Damaged("its description has no version".to_string())),
    }
    let digest = description["sha256"].as_str().filter(|d| d.len() == DIGITS).unwrap_or_default();
    let at = last(&bytes[..(8 + header_length).min(bytes.len())], digest.as_bytes()).filter(|_| !digest.is_empty());
    let at = at.ok_or_else(|| Defect::Damaged("its description has no checksum".to_string()))?;
    let mut hash = Sha256::new();
    [&bytes[..at], &[b'0'; DIGITS], &bytes[at + DIGITS..]].iter().for_each(|part| hash.update(part));
    if hex(&hash.finalize()) != digest {
        return Err(Defect::Damaged("its checksum does not match".to_string()));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| Defect::Damaged(e.to_string()))?;
    let tensors = tensors.tensors().into_iter().map(|(name, view)| {
        let values = match view.dtype() {
            Dtype::F64 => view.data().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())),
            other => return Err(Defect::Damaged(format!("\"{name}\" has numbers of type {other:?}"))),
        };
        Ok((name, Tensor { shape: view.shape().to_vec(), values: values.collect() }))
    });
    Ok(Contents { metadata: description["contents"].clone(), tensors: tensors.collect::<Result<_, _>>()? })
}

/// The part of a file before its tensors.
fn header(bytes: &[u8]) -> &[u8] {
    let length = bytes.first_chunk().map_or(0, |n| u64::from_le_bytes(*n) as usize);
    &bytes[..length.saturating_add(8).min(bytes.len())]
}

/// Keys are sorted, so that the digest comes after everything that users name.
fn last(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len().max(1)).rposition(|w| w == part)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
