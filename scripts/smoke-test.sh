#!/usr/bin/env bash
# Tries the executable of a platform on a machine of that platform, as somebody unpacks it: scripts/smoke-test.sh <folder of the release> <platform>
set -euo pipefail
cd "$1"
platform=$2
archive=$(echo sotra-*-"$platform".*)
version=${archive#sotra-} version=${version%%-"$platform".*}
grep " $archive\$" SHA256SUMS | if command -v sha256sum >/dev/null; then sha256sum -c -; else shasum -a 256 -c -; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $archive in *.zip) unzip -q "$archive" -d "$work" ;; *) tar -xJf "$archive" -C "$work" ;; esac
sotra=$(find "$work" -name sotra -type f -o -name sotra.exe -type f)
export SOTRA_DATA_DIR=$work/data SOTRA_CONFIG_DIR=$work/config HOME=$work
[ "$platform" = "${platform#darwin}" ] || codesign --verify --strict "$sotra"

said=$("$sotra" --version | tr -d '\r')
[ "$said" = "$version" ] || { echo "says it is $said, not $version" >&2; exit 1; }
"$sotra" --help >/dev/null
"$sotra" completion bash | grep -q sotra
board=$("$sotra" --sandbox leaderboard list --limit 3 --columns address --format csv)
[ "$(grep -c 0x <<<"$board")" = 3 ] || { echo "no board: $board" >&2; exit 1; }
"$sotra" --sandbox leaderboard list --limit 1 --jq '.traders | length' | grep -qx 1
"$sotra" sandbox start --port 0 --detach
"$sotra" sandbox stop
echo "$archive works"
