//! Tables on disk and in memory: reading, what their columns hold, encoding into numbers, and writing.
//!
//! CSV, JSON lines, Parquet, and NumPy arrays are read and written a frame of rows at a time, so that a file may be larger than memory; the first sheet of an
//! Excel workbook is read.
//! Columns in memory are a table too ([`Table::from_columns`]), of which all below is true.
//! Each format is a feature of the crate: `csv`, `json`, `numpy`, `parquet` and `xlsx`, all of which are on by default.
//! From a file to numbers:
//!
//! ```
//! use dkp_table::{Encoder, ReadOptions, Table, Target};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("flats.csv");
//! std::fs::write(&path, "rooms,lift,town,price\n3,true,Bath,310\n2,false,York,\nNA,true,Bath,250\n")?;
//!
//! let table = Table::open(&path, &ReadOptions::default())?;
//! // one pass tells what the columns hold, and so how they are read
//! let survey = table.survey()?;
//! let features = survey.features(&["rooms".into(), "lift".into(), "town".into()])?;
//! let mut columns = features.columns.clone();
//! columns.push(("price".into(), survey.target("price", false)?));
//! let frame = table.read(&columns)?;
//!
//! // the training rows alone say how values are encoded
//! let training = [0, 2];
//! let encoder = Encoder::fit(&frame, &training, &features.columns)?;
//! let target = Target::fit(&frame, &training, "price", survey.target("price", false)?)?;
//! let (points, unfamiliar) = encoder.encode(&frame)?;
//! assert_eq!(encoder.width(), 4); // rooms, rooms is missing, lift, town = Bath
//! assert_eq!(points[..4], [3.0, 0.0, 1.0, 1.0]);
//! assert_eq!(unfamiliar.unseen["town"], 1);
//! assert_eq!(target.encode(&frame)?.missing, [1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod date;
mod encoder;
mod error;
mod format;
mod frame;
mod notation;
mod origin;
mod read;
mod survey;
mod table;
mod target;
mod typing;
mod values;
mod write;

pub use date::{DateForm, DatePart};
pub use encoder::{Encoder, Feature, Unfamiliar};
pub use error::{Error, Place, Within};
pub use format::{Format, STANDARD, uncompressed};
pub use frame::{Column, Frame, Kind, Texts};
pub use notation::{Decimal, Notation, Sign};
pub use origin::Origin;
pub use read::silence_caught_panics;
pub use survey::{ColumnSurvey, MAX_LEVELS, Noticed, Survey};
pub use table::{Frames, ReadOptions, Table};
pub use target::{EncodedTargets, Target};
pub use typing::FeatureColumns;
pub use values::Values;
pub use write::Writer;
