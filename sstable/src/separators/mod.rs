//! First version: whole separators, searched by halves.
mod builder;
mod view;

pub(crate) use builder::SeparatorsBuilder;
pub(crate) use view::Separators;
