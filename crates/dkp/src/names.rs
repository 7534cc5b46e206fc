//! Names of kernels and likelihoods, as files and the command line write them: `sqexp`, `categorical(3)`, `sum(relu, scaled(linear))`.

/// A name with its arguments, or none if parentheses do not match.
pub(crate) fn parse(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim();
    let Some(open) = text.find('(') else { return (!text.contains([')', ','])).then_some((text, Vec::new())) };
    let inner = text[open + 1..].strip_suffix(')')?;
    let (mut arguments, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                arguments.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(inner[start..].trim());
    (depth == 0).then_some((text[..open].trim(), arguments))
}

/// The name of a type that has none of its own.
pub(crate) fn of_type<T: ?Sized>() -> String {
    let path = std::any::type_name::<T>();
    path.rsplit("::").next().unwrap_or(path).to_string()
}

/// A name that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} \"{name}\"; there are {known}")]
pub struct UnknownName {
    /// "kernel" or "likelihood".
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// Those that there are.
    pub known: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_at_the_outer_commas() {
        assert_eq!(parse(" sqexp "), Some(("sqexp", vec![])));
        assert_eq!(parse("sum(relu, sum(a,b))"), Some(("sum", vec!["relu", "sum(a,b)"])));
        for wrong in ["sum(a", "a)", "sum(a))b(", "a,b", "sum(a)b"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
