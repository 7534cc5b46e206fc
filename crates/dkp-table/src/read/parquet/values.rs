//! Values of Parquet columns: what their types mean, and how they are read.

use crate::read::value::{Refusal, Value};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

/// How values are to be understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    Bool,
    Signed,
    Unsigned,
    Float,
    Half,
    /// An integer divided by a power of ten.
    Decimal(i32),
    Day,
    /// Units of a second, and whether there is a day.
    Moment(i64, bool),
    Text,
    Unsupported(String),
}

/// What a column's values mean.
pub fn meaning(column: &ColumnDescriptor) -> Meaning {
    let (logical, converted, physical) = (column.logical_type_ref(), column.converted_type(), column.physical_type());
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    let decimal = converted == ConvertedType::DECIMAL || matches!(logical, Some(LogicalType::Decimal(_)));
    match (physical, logical, converted) {
        (Physical::BOOLEAN, ..) => Meaning::Bool,
        (Physical::FLOAT | Physical::DOUBLE, ..) => Meaning::Float,
        (Physical::INT96, ..) => Meaning::Moment(1, true),
        _ if decimal => Meaning::Decimal(column.type_scale()),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Date), _) => Meaning::Day,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Timestamp(t)), _) => Meaning::Moment(unit(&t.unit), true),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Time(t)), _) => Meaning::Moment(unit(&t.unit), false),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(t)), _) if !t.is_signed => Meaning::Unsigned,
        (Physical::INT32 | Physical::INT64, _, converted) => match converted {
            ConvertedType::DATE => Meaning::Day,
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Moment(1_000, true),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Moment(1_000_000, true),
            ConvertedType::TIME_MILLIS => Meaning::Moment(1_000, false),
            ConvertedType::TIME_MICROS => Meaning::Moment(1_000_000, false),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Meaning::Unsigned
            }
            _ => Meaning::Signed,
        },
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) => Meaning::Half,
        (Physical::BYTE_ARRAY, None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), c)
            if c != ConvertedType::BSON =>
        {
            Meaning::Text
        }
        (physical, Some(logical), _) => Meaning::Unsupported(format!("{physical} ({logical:?})")),
        (physical, None, _) => Meaning::Unsupported(physical.to_string()),
    }
}

/// Why values could not be had.
pub enum Failure {
    File(ParquetError),
    NotUtf8,
    Value(Refusal),
}

/// Reads `count` values, and shows each to `push`.
pub fn decode(
    reader: &mut ColumnReader,
    meaning: &Meaning,
    most: i16,
    count: usize,
    mut push: impl FnMut(Option<Value<'_>>) -> Result<(), Refusal>,
) -> Result<(), Failure> {
    let mut show = |value: Option<Value<'_>>| push(value).map_err(Failure::Value);
    let integer = |value: i64, unsigned: u64| match *meaning {
        Meaning::Unsigned => Value::Unsigned(unsigned),
        Meaning::Decimal(scale) => Value::Double(value as f64 / 10_f64.powi(scale)),
        Meaning::Day => Value::Day(value),
        Meaning::Moment(per_second, day) => Value::Moment { value, per_second, day },
        _ => Value::Integer(value),
    };
    let bytes = |bytes: &[u8]| match (meaning, bytes) {
        (Meaning::Decimal(scale), _) => Value::Double(big_endian(bytes) / 10_f64.powi(*scale)),
        (_, &[low, high]) => Value::Single(half::f16::from_le_bytes([low, high]).to_f32()),
        _ => Value::Double(f64::NAN),
    };
    match reader {
        ColumnReader::BoolColumnReader(r) => each(r, most, count, |v| show(v.map(|&v| Value::Bool(v)))),
        ColumnReader::Int32ColumnReader(r) => {
            each(r, most, count, |v| show(v.map(|&v| integer(i64::from(v), u64::from(v as u32)))))
        }
        ColumnReader::Int64ColumnReader(r) => each(r, most, count, |v| show(v.map(|&v| integer(v, v as u64)))),
        ColumnReader::FloatColumnReader(r) => each(r, most, count, |v| show(v.map(|&v| Value::Single(v)))),
        ColumnReader::DoubleColumnReader(r) => each(r, most, count, |v| show(v.map(|&v| Value::Double(v)))),
        ColumnReader::Int96ColumnReader(r) => each(r, most, count, |v| show(v.map(|v| moment(v.data())))),
        ColumnReader::ByteArrayColumnReader(r) if *meaning == Meaning::Text => {
            each(r, most, count, |v| show(v.map(|v| text(v.data())).transpose()?))
        }
        ColumnReader::ByteArrayColumnReader(r) => each(r, most, count, |v| show(v.map(|v| bytes(v.data())))),
        ColumnReader::FixedLenByteArrayColumnReader(r) => each(r, most, count, |v| show(v.map(|v| bytes(v.data())))),
    }
}

fn text(bytes: &[u8]) -> Result<Value<'_>, Failure> {
    std::str::from_utf8(bytes).map(Value::Text).map_err(|_| Failure::NotUtf8)
}

fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: i16,
    count: usize,
    mut show: impl FnMut(Option<&T::T>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(count, Some(&mut levels), None, &mut values).map_err(Failure::File)?;
    if most == 0 {
        return values.iter().try_for_each(|v| show(Some(v)));
    }
    let mut values = values.iter();
    levels.iter().try_for_each(|&level| show(if level == most { values.next() } else { None }))
}

/// The whole seconds of a moment in the old form: nanoseconds of the day, then the Julian day.
fn moment(parts: &[u32]) -> Value<'static> {
    const JULIAN_1970: i64 = 2_440_588;
    let &[low, high, day] = parts else { return Value::Integer(0) };
    let nanoseconds = (u64::from(high) << 32) | u64::from(low);
    let seconds = (nanoseconds / 1_000_000_000) as i64;
    Value::Moment { value: (i64::from(day) - JULIAN_1970) * 86_400 + seconds, per_second: 1, day: true }
}

/// A signed integer of any length.
fn big_endian(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|&b| b >= 0x80);
    let magnitude = bytes.iter().fold(0.0, |sum: f64, &b| sum * 256.0 + f64::from(if negative { !b } else { b }));
    if negative { -magnitude - 1.0 } else { magnitude }
}
