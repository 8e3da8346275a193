#!/bin/sh
# Takes the atlas that the new one is like out of the project's history, to .build/sources/old.atlas. See SOURCES.md.
set -eu

data=$(cd "$(dirname "$0")" && pwd)
out=$(dirname "$data")/.build/sources
commit=c2f765547a069b7081926bf696e0587ea813d64c

mkdir -p "$out"
cd "$out"
has_old() { grep ' old\.atlas$' "$data/SOURCES.sha256" | sha256sum --check --status - 2>/dev/null; }
has_old && exit 0
git -C "$data" show "$commit:data/world.atlas" >old.atlas 2>/dev/null || {
    rm -f old.atlas
    echo "old.atlas: commit $commit is not in this clone; fetch it: git fetch --unshallow" >&2
    exit 1
}
has_old || { echo "old.atlas: wrong checksum" >&2; exit 1; }
