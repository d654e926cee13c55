#!/usr/bin/env bash
# Makes unicode-names.tsv from the Unicode character database.
#
#   apt-get install unicode-data          # Debian 12: Unicode 15.0.0
#   data/make-unicode-names.sh            # writes unicode-names.tsv beside this script
#   data/make-unicode-names.sh --check    # compares the committed file instead; exit 1 if it differs
#
# The folder of the database may be given as last argument (default /usr/share/unicode).
#
# A line of UnicodeData.txt is "code point;name;...". Names in angle brackets (<control>,
# <CJK Ideograph, First>) name a class or the end of a range, not a character: they are left out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=15.0.0
check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
database=${1:-/usr/share/unicode}

if ! [ -r "$database/UnicodeData.txt" ]; then
  echo "no UnicodeData.txt in $database: apt-get install unicode-data, or name its folder" >&2
  exit 2
fi
if ! grep -q "Version $version of the Unicode Standard" "$database/ReadMe.txt"; then
  echo "$database is not Unicode $version: the committed file, its README and the tests speak of $version" >&2
  exit 2
fi

made=$(mktemp)
trap 'rm -f "$made"' EXIT
LC_ALL=C awk -F';' '$2 !~ /^</ { printf "%s\tU+%s\n", $2, $1 }' "$database/UnicodeData.txt" >"$made"

if [ "$check" = yes ]; then
  cmp "$made" "$here/unicode-names.tsv"
else
  cat "$made" >"$here/unicode-names.tsv"
fi
echo "$(wc -l <"$made") names of Unicode $version"
