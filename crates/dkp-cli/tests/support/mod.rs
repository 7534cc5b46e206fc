//! The real binary, run in a folder of its own.
#![allow(dead_code)] // not every test needs all of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is deleted in the end.
pub struct Place(tempfile::TempDir);

/// What a command did.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = (std::fs::read_dir(self.path()).unwrap())
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dkp"));
        command.args(arguments).current_dir(self.path());
        command
    }

    pub fn dkp(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).output().unwrap())
    }

    /// Runs what must succeed.
    pub fn done(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.dkp(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
        outcome
    }
}

impl Outcome {
    pub fn of(output: Output) -> Outcome {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Outcome { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A table of 120 rows: numbers, text, missing values, and targets of three kinds.
pub fn flats() -> String {
    let mut text = "id,rooms,area,town,lift,price,sold,kind\n".to_string();
    for n in 0..120 {
        let wave = |f: f64| (f * n as f64).sin();
        let rooms = 1 + n % 5;
        let area = 20.0 * rooms as f64 + 8.0 * wave(1.3);
        let town = ["Bath", "York", "\"Ely, Cambs\""][(n / 2) % 3];
        let price = 3.0 * area + [0.0, 40.0, -30.0][(n / 2) % 3] + 5.0 * wave(7.7);
        let sold = if price > 190.0 { "yes" } else { "no" };
        let kind = match area {
            a if a < 45.0 => "studio",
            a if a < 85.0 => "family",
            _ => "large",
        };
        let area = if n % 17 == 3 { String::new() } else { format!("{area:.2}") };
        text += &format!("flat {n},{rooms},{area},{town},{},{price:.1},{sold},{kind}\n", n % 2 == 0);
    }
    text
}

/// Flags for a small model.
pub const SMALL: [&str; 8] = ["--inducing", "15", "--steps", "40", "--start-steps", "100", "--draws", "2"];
