//! Colours of an anatomy, where `colour.rs` shows any.

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Control,
    Retained,
    Literal,
    Value,
    Heading,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Control => "control",
            Role::Retained => "retained",
            Role::Literal => "literal",
            Role::Value => "value",
            Role::Heading => "",
        }
    }
}

/// Paints, or does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    is_on: bool,
}

impl Paint {
    /// Colours if standard output shows them.
    pub(super) fn of_stdout() -> Paint {
        Paint {
            is_on: crate::colour::are_on_output(),
        }
    }

    /// Text in the colour of its role.
    pub(super) fn text(self, role: Role, text: &str) -> String {
        if !self.is_on {
            return text.to_owned();
        }
        let code = match role {
            Role::Control => "33",
            Role::Retained => "2",
            Role::Literal => "36",
            Role::Value => "32",
            Role::Heading => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
