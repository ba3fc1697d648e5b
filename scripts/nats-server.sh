#!/usr/bin/env bash
# Brings the nats-server that the tests of an inbox on a cluster need: from a newer suite of the Debian mirror that apt is configured with, into a
# folder of its own. apt verifies signatures and hashes; packages and settings of the machine stay as they are. Prints the path of the program;
# tests look in the default folder and at SOTRA_NATS_SERVER.
set -euo pipefail

suite=forky
folder=$(realpath -m "${1:-$(dirname "$0")/../node_modules/.cache/nats-server}")
program=$folder/usr/sbin/nats-server
if [ ! -x "$program" ]; then
  if ! { command -v apt-get && command -v dpkg-deb; } >/dev/null; then
    echo 'nats-server needs apt-get and dpkg-deb; set SOTRA_NATS_SERVER to one of 2.11 or later' >&2
    exit 1
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{parts,lists/partial,cache/archives/partial}
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

  # The sources of this release once more, for the newer suite: stanzas (deb822), and lines.
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || awk -v suite="$suite" -v code="$codename" 'BEGIN { RS = ""; ORS = "\n\n" }
      $0 ~ "(^|\n)Suites:([^\n]* )?" code "( |\n|$)" { sub(/Suites:[^\n]*/, "Suites: " suite); print }' "$file"
  done > "$work/parts/newer.sources"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -nE "s/^(deb (\[[^]]*\] )?[^ ]+ )$codename( .*)$/\1$suite\3/p" "$file"
  done > "$work/parts/newer.list"

  own=(-qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" -o Dir::State::Lists="$work/lists")
  own+=(-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
  cd "$work"
  apt-get "${own[@]}" update >&2
  apt-get "${own[@]}" download nats-server >&2
  mkdir -p "$folder"
  dpkg-deb -x nats-server_*.deb "$folder"
fi
echo "$program"
