#!/usr/bin/env bash
# Renders the report of a database with some history in a real browser, and fails on what a person would notice:
# an error on the console, something fetched, a page wider than its window on a telephone, an empty drawing.
#
#   tests/browser/check-report.sh [TEPHRA] [HISTORY] [DIRECTORY FOR PICTURES]
#
# TEPHRA is the command, HISTORY the example of that name, both built. Needs chromium. Pictures: wide and narrow, light and dark.
set -euo pipefail
cd "$(dirname "$0")/../.."
tephra=${1:-target/release/tephra}
history=${2:-target/ci/examples/history}
work=$(mktemp -d)
pictures=${3:-$work/pictures}
mkdir -p "$pictures"
pictures=$(realpath "$pictures")
trap 'rm -rf "$work"' EXIT

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "there is no chromium to look with"; exit 2; }

# A history: keyspaces, range deletes, look-ups, an ingest, compactions on several levels; then the log of a few more deletes.
db="$work/observatory"
"$history" "$db"
for key in one two three; do
  "$tephra" put --db "$db" "$key" 'a value'
  "$tephra" delete --db "$db" "$key"
done
before=$(cd "$db" && sha256sum -- * | sort)
tephra=$(realpath "$tephra")
(cd "$work" && "$tephra" report observatory -o report.html)
after=$(cd "$db" && sha256sum -- * | sort)
[ "$before" = "$after" ] || { echo "the report changed the database"; exit 1; }

# Nothing is fetched and no script is needed.
if grep -E -o '(src|href)="[^"#]*"|<script|@import|url\(' "$work/report.html" | grep -v 'href="data:,"'; then
  echo "the page refers to something outside, or runs a script"
  exit 1
fi

# look NAME WIDTH HEIGHT FLAGS...: a picture, and what the browser says on its console.
look() {
  local name=$1 width=$2 height=$3 status=0
  shift 3
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr --v=0 \
    --user-data-dir="$work/profile.$name" --window-size="$width,$height" "$@" >"$work/$name.out" 2>"$work/$name.err" || status=$?
  [ "$status" -eq 0 ] || { echo "the browser failed on $name ($status)"; tail -20 "$work/$name.err"; return 1; }
  if grep -E 'CONSOLE' "$work/$name.err"; then
    echo "the page $name says something on the console"
    return 1
  fi
}

# A page around the report that measures it at the width of a telephone, since windows are not made that narrow. It alone has a script.
cat >"$work/measure.html" <<'HTML'
<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
<iframe id="page" src="report.html" style="width:390px;height:800px;border:0"></iframe>
<pre id="answer">nothing</pre>
<script>
document.getElementById("page").addEventListener("load", () => {
  const page = document.getElementById("page").contentDocument;
  const widest = [...page.querySelectorAll("main *")].filter(e => !e.closest("svg")).map(e => e.getBoundingClientRect().right);
  const drawings = [...page.querySelectorAll("section svg[role=img]")];
  const seen = {
    scroll: page.documentElement.scrollWidth, client: page.documentElement.clientWidth, right: Math.max(...widest),
    drawings: drawings.length, empty: drawings.filter(e => e.querySelectorAll("rect").length < 2).length,
    titles: page.querySelectorAll("svg title").length, cards: page.querySelectorAll("section").length,
  };
  const fine = seen.client === 390 && seen.scroll <= 390 && seen.right <= 390 && seen.cards === 9 && seen.drawings >= 6
    && seen.empty === 0 && seen.titles > 20;
  document.getElementById("answer").textContent = (fine ? "fine " : "wrong ") + JSON.stringify(seen);
});
</script>
HTML
look measure 600 900 --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom "file://$work/measure.html"
sed -n 's|.*<pre id="answer">\(.*\)</pre>.*|\1|p' "$work/measure.out" | tee "$work/answer"
grep -q '^fine' "$work/answer" || { echo "the page is not as it should be at 390 pixels"; exit 1; }

light=--blink-settings=preferredColorScheme=1
dark=--blink-settings=preferredColorScheme=0
look wide-light 1120 2060 $light --screenshot="$pictures/report.png" "file://$work/report.html"
look wide-dark 1120 2060 $dark --screenshot="$pictures/report-dark.png" "file://$work/report.html"
# Narrow pictures are taken of a window in which the page has the width of a telephone.
for scheme in light dark; do
  printf '<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><style>body{margin:0}iframe{width:390px;height:4200px;border:0}</style><iframe src="report.html"></iframe>' >"$work/narrow.html"
  look "narrow-$scheme" 500 4200 "${!scheme}" --screenshot="$pictures/report-narrow-$scheme.png" "file://$work/narrow.html"
done
for picture in report report-dark report-narrow-light report-narrow-dark; do
  [ "$(wc -c <"$pictures/$picture.png")" -gt 20000 ] || { echo "$picture.png is empty"; exit 1; }
done
cmp -s "$pictures/report.png" "$pictures/report-dark.png" && { echo "dark looks like light"; exit 1; }
echo "the report is fine; pictures: report, report-dark, report-narrow-light, report-narrow-dark"
