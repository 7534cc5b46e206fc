//! How fast tables are read, surveyed and written: ten columns of numbers, 500,000 rows.

use dkp_table::{Column, Format, Frame, Kind, ReadOptions, Table, Writer};
use std::time::Instant;

const ROWS: usize = 500_000;
const COLUMNS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let columns: Vec<(String, Kind)> = (0..COLUMNS).map(|i| (format!("x{i}"), Kind::Number)).collect();
    // a logistic map: numbers with all their digits
    let mut x = 0.3_f64;
    let mut next = || {
        x = 3.99 * x * (1.0 - x);
        x * 200.0 - 100.0
    };
    let values: Vec<_> =
        columns.iter().map(|c| (c.0.clone(), Column::Numbers((0..ROWS).map(|_| next()).collect()))).collect();
    let frame = Frame::new(0, values)?;
    println!("{:8} {:>8} {:>12} {:>12} {:>12}", "", "MB", "read MB/s", "survey MB/s", "write MB/s");
    for format in [Format::Csv, Format::Parquet, Format::Npy, Format::Npz] {
        let path = folder.path().join("t");
        let writing = Instant::now();
        let mut writer = Writer::create(&path, format, &columns)?;
        writer.write(&frame)?;
        writer.finish()?;
        let writing = writing.elapsed();
        let path = if format == Format::Csv {
            let named = folder.path().join("t.csv");
            std::fs::rename(&path, &named)?;
            named
        } else {
            path
        };
        let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let speed = |elapsed: std::time::Duration| megabytes / elapsed.as_secs_f64();
        // the best of three
        let (mut reading, mut surveying) = (f64::MIN, f64::MIN);
        for _ in 0..3 {
            let start = Instant::now();
            let table = Table::open(&path, &ReadOptions::default())?;
            let rows: usize = table.frames(&columns, 4096)?.map(|f| f.map(|f| f.rows())).sum::<Result<usize, _>>()?;
            reading = reading.max(speed(start.elapsed()));
            assert_eq!(rows, ROWS);
            let start = Instant::now();
            table.survey()?;
            surveying = surveying.max(speed(start.elapsed()));
        }
        println!("{:8} {megabytes:>8.1} {reading:>12.0} {surveying:>12.0} {:>12.0}", format.name(), speed(writing));
    }
    Ok(())
}
