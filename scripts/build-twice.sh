#!/usr/bin/env bash
# Builds the committed source twice, in folders, homes, time zones, languages and rights that differ, and ends with 1 unless both give the same bytes.
# What it says of `scripts/release.sh` is said of its arguments: `scripts/build-twice.sh package` compares the npm package alone.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
  local source=$1
  shift
  git clone --quiet "$root" "$source"
  cp -al "$root/node_modules" "$source/node_modules" 2>/dev/null || cp -a "$root/node_modules" "$source/node_modules"
  find "$source/node_modules/.cache" -mindepth 1 -maxdepth 1 ! -name executables -exec rm -rf {} +
  (cd "$source" && scripts/release.sh "$@" >&2)
}

other="$work/another/folder, of a longer name"
(umask 022 && TZ=UTC LANG=C build "$work/one" "$@")
(umask 077 && TZ=Pacific/Auckland LANG=de_DE.UTF-8 HOME="$work" build "$other" "$@")

sums() { (cd "$1/release" && sha256sum -- *); }
diff <(sums "$work/one") <(sums "$other") || { echo 'two builds give other bytes' >&2; exit 1; }
echo 'two builds give the same bytes:'
sums "$work/one"
