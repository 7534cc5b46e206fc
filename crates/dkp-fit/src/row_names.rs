//! What held-out rows are called: their numbers in their table, and the columns that name them.

use dkp_table::{Column, Kind, Table};

/// What held-out rows are called; nothing where that is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowNames {
    /// Numbers in the table, from 1.
    rows: Vec<usize>,
    /// Columns that name rows, and what they hold for these.
    ids: Vec<(String, Vec<Option<String>>)>,
}

impl RowNames {
    /// Of some rows of a table, from 0; a column that it does not have names none.
    pub(crate) fn of(table: &Table, ids: &[String], rows: &[usize]) -> RowNames {
        let texts = |id: &String| {
            // arrays hold numbers only
            let kinds = [Kind::Text, Kind::Number].into_iter();
            let frame = kinds.filter_map(|kind| table.read(&[(id.clone(), kind)]).ok()).next()?;
            let text = |row: &usize| match frame.column(id).ok()? {
                Column::Texts(texts) => texts.get(*row).map(str::to_string),
                Column::Numbers(numbers) => numbers.get(*row).filter(|v| !v.is_nan()).map(f64::to_string),
            };
            Some((id.clone(), rows.iter().map(text).collect()))
        };
        RowNames { rows: rows.iter().map(|row| row + 1).collect(), ids: ids.iter().filter_map(texts).collect() }
    }

    /// Of some of them.
    pub(crate) fn of_some(&self, places: &[usize]) -> RowNames {
        let pick = |texts: &Vec<Option<String>>| places.iter().map(|&i| texts.get(i).cloned().flatten()).collect();
        RowNames {
            rows: places.iter().filter_map(|&i| self.row(i)).collect(),
            ids: self.ids.iter().map(|(id, texts)| (id.clone(), pick(texts))).collect(),
        }
    }

    /// The number of one of them, from 1.
    pub(crate) fn row(&self, i: usize) -> Option<usize> {
        self.rows.get(i).copied()
    }

    /// Columns that name one of them, with their texts.
    pub(crate) fn id(&self, i: usize) -> Vec<(String, String)> {
        let text = |(id, texts): &(String, Vec<Option<String>>)| Some((id.clone(), texts.get(i)?.clone()?));
        self.ids.iter().filter_map(text).collect()
    }
}
