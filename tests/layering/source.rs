//! Reads a Rust source as a list of *uses*: every path it names, imports spelled out.
//!
//! ```text
//! use std::{fs, thread::{self, spawn as go}};     std::fs   std::thread   std::thread::spawn
//! let a = fs::read(p)?;                           fs::read
//! // std::fs, "std::fs" in comments and strings   nothing
//! unsafe { *p }                                   unsafe
//! #[cfg(test)] mod tests { ... }                   nothing
//! ```
//!
//! A path behind a renaming (`use std::fs as files; files::read(p)`) is seen where it is imported. What a macro
//! makes is not seen; `clippy.toml` bans the same calls by what they resolve to.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path as written, segments joined by `::`, and its line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) path: String,
    pub(crate) line: usize,
}

/// Every use in `text`, in order. Panics, naming `file`, on text that is no Rust.
pub(crate) fn uses(file: &str, text: &str) -> Vec<Use> {
    let stream: TokenStream = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
    let mut found = Vec::new();
    collect(stream, &mut found);
    found
}

fn collect(stream: TokenStream, found: &mut Vec<Use>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = end_of_unit_tests(&tokens[at..]) {
            at += end;
            continue;
        }
        match &tokens[at] {
            TokenTree::Group(group) => {
                collect(group.stream(), found);
                at += 1;
            }
            TokenTree::Ident(word) if word == "use" => {
                let end = tokens[at..]
                    .iter()
                    .position(|t| is_punct(t, ';'))
                    .map_or(tokens.len(), |n| at + n);
                imports(&tokens[at + 1..end], "", found);
                at = end + 1;
            }
            TokenTree::Ident(_) => at = path(&tokens, at, "", found),
            _ => at += 1,
        }
    }
}

/// If `tokens` begin with `#[cfg(test)]` before a module, the number of tokens up to the module's end.
fn end_of_unit_tests(tokens: &[TokenTree]) -> Option<usize> {
    let [hash, TokenTree::Group(attribute), rest @ ..] = tokens else {
        return None;
    };
    if !is_punct(hash, '#') || attribute.stream().to_string().replace(' ', "") != "cfg(test)" {
        return None;
    }
    match rest {
        [TokenTree::Ident(word), TokenTree::Ident(_), _, ..] if word == "mod" => Some(5),
        _ => None,
    }
}

/// Reads the tokens between `use` and `;`, or of one `{...}` of them, below `prefix`.
fn imports(tokens: &[TokenTree], prefix: &str, found: &mut Vec<Use>) {
    for tree in tokens.split(|t| is_punct(t, ',')) {
        let start = tree
            .iter()
            .position(|t| matches!(t, TokenTree::Ident(_) | TokenTree::Group(_)));
        match start.map(|n| &tree[n]) {
            Some(TokenTree::Group(group)) => {
                imports(&group.stream().into_iter().collect::<Vec<_>>(), prefix, found)
            }
            Some(_) => {
                path(tree, start.unwrap(), prefix, found);
            }
            None => {}
        }
    }
}

/// Reads one path from `at` on and returns where it ended. A `{...}` at its end is read as imports below it.
fn path(tokens: &[TokenTree], mut at: usize, prefix: &str, found: &mut Vec<Use>) -> usize {
    let line = tokens[at].span().start().line;
    let mut whole = prefix.to_owned();
    loop {
        if let TokenTree::Ident(word) = &tokens[at]
            && (word != "self" || prefix.is_empty())
        {
            whole = if whole.is_empty() {
                word.to_string()
            } else {
                format!("{whole}::{word}")
            };
        }
        let double_colon = tokens.get(at + 1).is_some_and(|t| is_punct(t, ':'))
            && tokens.get(at + 2).is_some_and(|t| is_punct(t, ':'));
        match tokens.get(at + 3) {
            Some(TokenTree::Ident(_)) if double_colon => at += 3,
            Some(TokenTree::Group(group)) if double_colon && group.delimiter() == Delimiter::Brace => {
                imports(&group.stream().into_iter().collect::<Vec<_>>(), &whole, found);
                return at + 4;
            }
            _ => break,
        }
    }
    found.push(Use { path: whole, line });
    at + 1
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == wanted)
}

#[test]
fn paths_are_spelled_out_and_comments_and_strings_are_not_read() {
    let text = r#"
        use std::{fs, thread::{self, spawn as go}};
        //! std::net in a comment
        #[cfg(test)] mod tests { fn f() { std::net::g() } }
        fn f<'a>(p: &'a Path) { let a = fs::read(p); let s = "std::process"; unsafe { g('x') } }
    "#;
    let found = uses("test", text);
    let paths: Vec<_> = found.iter().map(|u| (u.path.as_str(), u.line)).collect();
    for wanted in [
        ("std::fs", 2),
        ("std::thread", 2),
        ("std::thread::spawn", 2),
        ("fs::read", 5),
        ("unsafe", 5),
    ] {
        assert!(paths.contains(&wanted), "{wanted:?} in {paths:?}");
    }
    assert!(
        !paths
            .iter()
            .any(|(p, _)| p.contains("net") || p.contains("process")),
        "{paths:?}"
    );
}
