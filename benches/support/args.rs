//! The command line of a benchmark: `cargo bench --bench NAME -- [--json] [--quick] [--filter TEXT]`.

/// Options shared by all benchmarks.
#[derive(Clone, Debug)]
pub struct Args {
    /// One JSON line a figure on standard output instead of a table.
    pub json: bool,
    /// Fewer rounds: all fixtures in well under a minute.
    pub quick: bool,
    /// Only figures whose label contains this text.
    pub filter: Option<String>,
    /// Measured rounds a variant; the default depends on `quick`.
    pub rounds: Option<usize>,
}

impl Args {
    /// Reads the process's arguments. `--bench` and `--test`, which cargo adds, are accepted; an
    /// unknown argument ends the process with code 2, so that a typing error is not a full run.
    pub fn from_env() -> Self {
        let mut parsed = Self {
            json: false,
            quick: false,
            filter: None,
            rounds: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--json" => parsed.json = true,
                "--quick" | "--test" => parsed.quick = true,
                "--bench" => {}
                "--filter" => parsed.filter = arguments.next(),
                "--rounds" => parsed.rounds = arguments.next().and_then(|text| text.parse().ok()),
                other => usage_error(other),
            }
        }
        parsed
    }

    /// Measured rounds for each variant of a fixture.
    pub fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 5 } else { 15 })
    }

    /// Whether the figure with this label is wanted.
    pub fn wants(&self, label: &str) -> bool {
        self.filter.as_deref().is_none_or(|text| label.contains(text))
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a benchmark speaks to the person who started it"
)]
fn usage_error(argument: &str) -> ! {
    eprintln!("unknown argument {argument:?}; known: --json, --quick, --filter TEXT, --rounds N");
    std::process::exit(2);
}
