//! Colours, where somebody sees them: on a terminal that is not told otherwise by `NO_COLOR`.

use std::env;
use std::io::IsTerminal;

/// A colour of text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
}

/// The text in a colour on standard output.
pub(crate) fn on_output(colour: Colour, text: &str) -> String {
    painted(std::io::stdout().is_terminal(), colour, text)
}

/// The text in a colour on standard error.
pub(crate) fn on_errors(colour: Colour, text: &str) -> String {
    painted(std::io::stderr().is_terminal(), colour, text)
}

/// Whether standard output shows colours.
pub(crate) fn are_on_output() -> bool {
    are_shown(std::io::stdout().is_terminal())
}

fn are_shown(is_terminal: bool) -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !is_dumb && !is_set("NO_COLOR")
}

fn painted(is_terminal: bool, colour: Colour, text: &str) -> String {
    if !are_shown(is_terminal) {
        return text.to_owned();
    }
    let code = match colour {
        Colour::Red => 31,
        Colour::Green => 32,
        Colour::Yellow => 33,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
