#!/bin/sh
# Installs sotra as one file, without root and without Node, on Linux with glibc and on macOS:
#   curl -fsSL https://github.com/sotra/sotra/releases/latest/download/install.sh | sh -s -- --dir ~/bin
# Nothing is changed but <dir>/sotra, and that last, by one rename.
set -eu

repository=sotra/sotra
releases=${SOTRA_RELEASES:-https://github.com/$repository/releases}
dir=${HOME:+$HOME/.local/bin}
version=latest
npm='with Node 20.19 or newer: npm install --global sotra'
usage='usage: install.sh [--dir <folder, default: ~/.local/bin>] [--version <default: the latest>]'

fail() {
  printf 'install.sh: %s\n' "$@" >&2
  exit 1
}

read_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --help) echo "$usage" && exit 0 ;;
      --dir | --version) [ -n "${2:-}" ] || fail "$1 needs a value" "$usage" ;;
      *) fail "unknown argument: $1" "$usage" ;;
    esac
    if [ "$1" = --dir ]; then dir=$2; else version=$2; fi
    shift 2
  done
  version=${version#v}
  case $version in latest) ;; *[!0-9A-Za-z.-]* | [!0-9]*) fail "not a version: $version" ;; esac
  case $releases in
    https://*) https=1 ;;
    *)
      https=
      is_loopback "$releases" || fail "SOTRA_RELEASES must be https (http only for this machine): $releases"
      ;;
  esac
}

# Whether the URL is plain http to this machine. In http://127.0.0.1:x@other/ the host is `other`.
is_loopback() {
  case $1 in http://*) authority=${1#http://} ;; *) return 1 ;; esac
  authority=${authority%%[/?#]*}
  case $authority in 127.0.0.1 | localhost) return 0 ;; 127.0.0.1:* | localhost:*) ;; *) return 1 ;; esac
  case ${authority#*:} in *[!0-9]*) return 1 ;; esac
}

find_platform() {
  case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) os= ;; esac
  case $(uname -m) in x86_64 | amd64) cpu=x64 ;; aarch64 | arm64) cpu=arm64 ;; *) cpu= ;; esac
  # A shell that macOS translates from Intel calls an Apple processor x86_64.
  case $os$(sysctl -n sysctl.proc_translated 2>/dev/null || :) in darwin1) cpu=arm64 ;; esac
  if [ -z "$os" ] || [ -z "$cpu" ]; then fail "there is no file for $(uname -s) on $(uname -m)" "$npm"; fi
  case $(ldd --version 2>&1 || :) in *musl*) fail 'the file needs glibc; this system has musl (Alpine?)' "$npm" ;; esac
  platform=$os-$cpu
}

check_dir() {
  [ -n "$dir" ] || fail 'HOME is not set; give the folder with --dir'
  case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
  [ ! -d "$dir/sotra" ] || fail "$dir/sotra is a folder; choose another place with --dir"
  [ ! -h "$dir/sotra" ] || fail "$dir/sotra is a link (of npm? npm uninstall --global sotra); remove it first"
  above=$dir
  until [ -e "$above" ]; do above=$(dirname "$above"); done
  if [ ! -d "$above" ] || [ ! -w "$above" ]; then fail "$above cannot be written to; choose another place with --dir"; fi
}

# In the background, so that a signal ends it at once.
download() {
  case $client in
    *curl) curl -fsSL ${https:+--proto =https} --connect-timeout 20 --speed-time 60 --speed-limit 1 -o "$2" "$1" & ;;
    *) wget -q -t 2 -T 60 -O "$2" "$1" & ;;
  esac
  child=$!
  wait "$child" || fail "cannot download $1; nothing was installed"
  child=
}

clean_up() {
  [ -z "$child" ] || kill "$child" 2>/dev/null || :
  rm -rf "$work" "$staged"
}

main() {
  # Nobody else may write to what this makes, whatever umask it is run with.
  umask go-w
  read_arguments "$@"
  find_platform
  client=$(command -v curl || command -v wget) || fail 'curl or wget is needed'
  sum=$(command -v sha256sum || command -v shasum) || fail 'sha256sum or shasum is needed'
  check_dir
  staged=$dir/.sotra-install.$$ child=
  work=$(mktemp -d "${TMPDIR:-/tmp}/sotra-install.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM

  [ "$version" = latest ] && from=$releases/latest/download || from=$releases/download/v$version
  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  name=$(sed -n "s/^[0-9a-f]\{64\}  \(sotra-[0-9][0-9A-Za-z.-]*-$platform\)\.tar\.xz\$/\1/p" "$work/SHA256SUMS")
  [ "$version" != latest ] || version=${name#sotra-}
  version=${version%"-$platform"}
  [ "$name" = "sotra-$version-$platform" ] || fail "no file for $platform in $from/SHA256SUMS" "$npm"
  from=$releases/download/v$version

  echo "downloading $from/$name.tar.xz"
  download "$from/$name.tar.xz" "$work/archive"
  case $sum in *shasum) sum='shasum -a 256' ;; esac
  actual=$($sum "$work/archive" | cut -d ' ' -f 1)
  grep -q "^$actual  $name\.tar\.xz\$" "$work/SHA256SUMS" || fail "wrong SHA-256 of $name.tar.xz; nothing was installed"
  tar -xJf "$work/archive" -C "$work" || fail "tar cannot unpack $name.tar.xz (Debian: apt install xz-utils)"
  mkdir -p "$dir"
  cp "$work/$name/sotra" "$staged"
  chmod 755 "$staged"
  "$staged" --version >"$work/said" 2>&1 || fail "sotra $version does not run here: $(cat "$work/said")" "Debian: apt install libatomic1; or $npm"
  mv -f "$staged" "$dir/sotra"

  quoted=$(printf %s "$dir" | sed "s/'/'\\\\''/g")
  echo "installed sotra $version as $dir/sotra; its checksum is right"
  case :$PATH: in *":$dir:"*) ;; *) echo "to find it by name: export PATH='$quoted':\"\$PATH\"" ;; esac
  echo "to undo: rm '$quoted/sotra'"
}

main "$@"
