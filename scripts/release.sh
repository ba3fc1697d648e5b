#!/usr/bin/env bash
# Makes all files of a release from the committed source, in release/: the npm package, the executables, the list of what is in them (CycloneDX),
# install.sh, the files for Homebrew, Scoop and Docker, and SHA256SUMS. Names make these alone: `package`, or a platform such as `linux-x64`.
# `--sums`: only what is made from the other files, after those of macOS were signed.
set -euo pipefail
cd "$(dirname "$0")/.."

# What the bytes would depend on otherwise. Times in them are the commit's.
umask 022
git ls-files -z | xargs -0 chmod u+rw,go+rX,go-w
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C

version=$(node -p 'require("./package.json").version')
if [ "${1:-}" != --sums ]; then
  rm -rf release
  mkdir release
  platforms=()
  for name in "$@"; do [ "$name" = package ] || platforms+=("$name"); done
  if [ $# = 0 ] || [ ${#platforms[@]} -lt $# ]; then npm pack --silent --pack-destination release >/dev/null; fi
  if [ $# = 0 ] || [ ${#platforms[@]} -gt 0 ]; then npm run --silent executables -- ${platforms[@]+"${platforms[@]}"}; fi
  [ $# = 0 ] || exit 0
  node scripts/sbom.mjs > "release/sotra-$version.cdx.json"
  cp install.sh release/
fi

sum() { if command -v sha256sum >/dev/null; then sha256sum -- "$@"; else shasum -a 256 -- "$@"; fi; }
cd release
sum sotra-* install.sh > SHA256SUMS
node ../scripts/packaging.mjs SHA256SUMS .
sum sotra.rb sotra.json Dockerfile >> SHA256SUMS
awk -v version="$version" '$1 == "##" { found = $2 == version; next } found' ../CHANGELOG.md > NOTES.md
