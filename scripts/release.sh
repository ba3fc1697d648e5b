#!/usr/bin/env bash
# Makes the files of a release in release/: the npm package, the executables, install.sh, SHA256SUMS and the notes.
# `--sums`: only SHA256SUMS, after the executables for macOS were signed.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --sums ]; then
  rm -rf release
  mkdir release
  npm pack --silent --pack-destination release >/dev/null
  npm run --silent executables
  cp install.sh release/
  version=$(node -p 'require("./package.json").version')
  awk -v version="$version" '$1 == "##" { found = $2 == version; next } found' CHANGELOG.md > release/NOTES.md
fi

cd release
if command -v sha256sum >/dev/null; then sha256sum sotra-* install.sh; else shasum -a 256 sotra-* install.sh; fi > SHA256SUMS
