//! The UCI sets with their 20 canonical splits: plain text files in a folder for each set.

use dkp::data::Dataset;
use faer::Mat;
use std::error::Error;
use std::path::PathBuf;

/// The environment variable that says where the sets are.
const VARIABLE: &str = "DKP_UCI";

/// Training and test part of a split, in the sets' own units.
pub fn load(name: &str, split: usize) -> Result<(Dataset, Dataset), Box<dyn Error>> {
    let root = std::env::var(VARIABLE).map_err(|_| format!("set {VARIABLE} to the folder of the UCI sets"))?;
    let folder = PathBuf::from(root).join(name);
    let read = |file: &str| -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let rows = text.lines().filter(|l| !l.trim().is_empty());
        rows.map(|l| Ok(l.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?)).collect()
    };
    let indices = |file: &str| -> Result<Vec<usize>, Box<dyn Error>> {
        Ok(read(file)?.iter().flatten().map(|&v| v as usize).collect())
    };
    let (data, features, target) = (read("data.txt")?, indices("index_features.txt")?, indices("index_target.txt")?);
    let part = |rows: &[usize]| {
        let x = Mat::from_fn(features.len(), rows.len(), |i, n| data[rows[n]][features[i]]);
        let y = Mat::from_fn(1, rows.len(), |_, n| data[rows[n]][target[0]]);
        Dataset::new(x.as_ref(), y.as_ref())
    };
    let (train, test) = (indices(&format!("index_train_{split}.txt"))?, indices(&format!("index_test_{split}.txt"))?);
    Ok((part(&train)?, part(&test)?))
}
