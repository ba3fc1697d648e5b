#!/usr/bin/env bash
# Names the actions of the workflows by the commits of their versions, which it asks GitHub for: `uses: actions/checkout@<commit> # v6`.
# Run again, it takes the newest commit of the version that stands behind. `--check`: ends with 1 where an action is named by a version.
set -euo pipefail
cd "$(dirname "$0")/.."

line='^ *-? *uses: *([^@ ]+)@([^ ]+)( # (v[^ ]+))?$'
code=0
for file in .github/workflows/*.yml; do
  while IFS= read -r text; do
    [[ $text =~ $line ]] || continue
    action=${BASH_REMATCH[1]} now=${BASH_REMATCH[2]} version=${BASH_REMATCH[4]:-${BASH_REMATCH[2]}}
    if [ "${1:-}" = --check ]; then
      [[ $now =~ ^[0-9a-f]{40}$ ]] || { echo "$file: $action is named by a version: $now" >&2; code=1; }
      continue
    fi
    # An annotated tag is followed by its commit, as `^{}`.
    tags=$(git ls-remote "https://github.com/$(cut -d / -f 1-2 <<<"$action")" "refs/tags/$version" "refs/tags/$version^{}")
    commit=$(awk 'END { print $1 }' <<<"$tags")
    [[ $commit =~ ^[0-9a-f]{40}$ ]] || { echo "$file: $action has no version $version" >&2; exit 1; }
    new=${text%%"$action"*}$action@$commit\ #\ $version
    awk -v old="$text" -v new="$new" '$0 == old { print new; next } { print }' "$file" > "$file.new"
    mv "$file.new" "$file"
  done < <(cat "$file")
done
exit "$code"
