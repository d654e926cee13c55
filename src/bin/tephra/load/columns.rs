//! Columns by name or number, and which of a row's are key and value.

use std::str::FromStr;

/// A column among the arguments: digits are a number, from 1; everything else is a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Number(usize),
    Name(String),
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Column, String> {
        match text.parse() {
            Ok(0) => Err("columns are numbered from 1".to_owned()),
            Ok(number) => Ok(Column::Number(number)),
            Err(_) if text.is_empty() => Err("a column has a name or a number".to_owned()),
            Err(_) => Ok(Column::Name(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Column::Number(number) => write!(f, "column {number}"),
            Column::Name(name) => write!(f, "column {name:?}"),
        }
    }
}

impl Column {
    /// Its index among the columns, if there is a header that names it or it has a number.
    pub(super) fn index(&self, header: Option<&[String]>) -> Result<usize, String> {
        match (self, header) {
            (Column::Number(number), _) => Ok(number - 1),
            (Column::Name(name), Some(header)) => header
                .iter()
                .position(|column| column == name)
                .ok_or_else(|| format!("no {self}; the columns are {}", header.join(", "))),
            (Column::Name(_), None) => Err(format!(
                "{self} is named, but there is no header; number columns from 1"
            )),
        }
    }
}

/// Where in a row the value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueAt {
    Column(usize),
    /// The whole row, as JSON.
    Row,
}

/// Where in rows of `width` columns key and value are.
pub(super) fn places(
    key: Option<&Column>,
    value: Option<&Column>,
    header: Option<&[String]>,
    width: usize,
) -> Result<(usize, ValueAt), String> {
    let key = key.map_or(Ok(0), |column| column.index(header))?;
    let value = match value {
        Some(column) => ValueAt::Column(column.index(header)?),
        None if width == 2 => ValueAt::Column(1 - key.min(1)),
        None => ValueAt::Row,
    };
    Ok((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_numbers_from_one() {
        assert_eq!("3".parse(), Ok(Column::Number(3)));
        assert_eq!("id".parse(), Ok(Column::Name("id".into())));
        assert!("0".parse::<Column>().is_err());
        assert!("".parse::<Column>().is_err());
    }

    #[test]
    fn the_value_is_the_other_of_two_columns_or_the_row() {
        let header = ["a".to_owned(), "b".to_owned()];
        let b = Column::Name("b".into());
        assert_eq!(places(None, None, None, 2), Ok((0, ValueAt::Column(1))));
        assert_eq!(
            places(Some(&b), None, Some(&header), 2),
            Ok((1, ValueAt::Column(0)))
        );
        assert_eq!(places(None, None, None, 3), Ok((0, ValueAt::Row)));
        assert_eq!(
            places(None, Some(&b), Some(&header), 2),
            Ok((0, ValueAt::Column(1)))
        );
        assert!(places(Some(&b), None, None, 2).is_err(), "no header");
        let c = Column::Name("c".into());
        assert!(
            places(Some(&c), None, Some(&header), 2)
                .unwrap_err()
                .contains("a, b")
        );
    }
}
