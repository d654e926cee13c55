//! `tephra completions`: what a shell needs to complete this command's line.

use std::io::Write;

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::Shell;

use crate::args::Args;
use crate::failure::{Failure, Result};

const EXAMPLES: &str = "\
Examples:
  tephra completions bash > ~/.local/share/bash-completion/completions/tephra
  tephra completions zsh  > ~/.zfunc/_tephra            (a directory of $fpath)
  tephra completions fish > ~/.config/fish/completions/tephra.fish";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(args: &Completions, out: &mut dyn Write) -> Result<()> {
    // Written to memory first: the generator cannot take a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "tephra", &mut script);
    out.write_all(&script).map_err(Failure::Output)
}
