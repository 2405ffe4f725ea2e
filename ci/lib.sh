# Shared by the scripts in ci/: source it, do not run it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
cores=$(nproc)
python=/usr/bin/python3 # Debian's own, whatever else is on the PATH: it has pytest and yaml

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'
else
  bold='' dim='' plain=''
fi
say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 3; }

# --help prints the comment at the top of the script that sources this file.
help_if_asked() {
  case "${1:-}" in -h | --help)
    sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p;};}' "$0"
    exit 0
    ;;
  esac
}

# Before any work: a misspelt option must not be taken for a word, or reach a program further down.
unknown_option() {
  printf '%s: unknown option %s (see --help)\n' "${0##*/}" "$1" >&2
  exit 2
}
# takes_no_options "$@": for the scripts that have none; takes_words "$@": for those that have arguments, but no options.
takes_no_options() { [ $# -eq 0 ] || unknown_option "$1"; }
takes_words() {
  local word
  for word in "$@"; do case $word in -*) unknown_option "$word" ;; esac; done
}

# configure DIR [cmake options...]: once; build DIR [targets...]: always.
configure() {
  local dir=$1
  shift
  mkdir -p "$dir"
  [ -f "$dir/build.ninja" ] || cmake -S . -B "$dir" -G Ninja "$@" >"$dir/configure.log" 2>&1 ||
    { cat "$dir/configure.log"; die "cmake failed"; }
}
build() {
  local dir=$1
  shift
  ninja -C "$dir" "$@" >"$dir/build.log" 2>&1 || { tail -60 "$dir/build.log"; die "the build failed (whole output: $dir/build.log)"; }
}
