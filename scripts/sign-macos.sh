#!/usr/bin/env bash
# Signs the executables for macOS ad hoc, without which an Apple processor runs none, in the archives of a release: scripts/sign-macos.sh <folder>
# Needs a Mac. What Node was signed with does not fit any more since the program is in it.
set -euo pipefail
cd "$1"
for archive in sotra-*-darwin-*.tar.xz; do
  name=${archive%.tar.xz}
  tar -xJf "$archive"
  codesign --force --sign - "$name/sotra"
  codesign --verify --strict "$name/sotra"
  tar -cJf "$archive" "$name"
  rm -rf "$name"
  echo "signed: $archive"
done
