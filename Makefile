# The front door; `make help` lists what there is.

PREFIX ?= /usr/local
SWIFT ?= swift
# Builds of our own have the versions of their packages stated exactly. What differs in its packages has a folder of its own:
# .build for the command, .build-live for all three programs, .build-test and .build-all for the tests (scripts/test).
COMMAND = .build/release/hereabouts
RELEASE = .build-live/release/hereabouts
BUILD = HEREABOUTS_PINNED=1 $(SWIFT) build
BUILD_LIVE = HEREABOUTS_PINNED=1 HEREABOUTS_LIVE=1 $(SWIFT) build --scratch-path .build-live
SOURCES = .build/sources
POPULATION = data/population.surface
# Swift's own libraries go into the programs, so that they start at once and run where no Swift is installed; lld,
# which comes with Swift, does it faster and without the other linkers' warnings about code that is never called.
# On macOS those libraries are part of the system.
# Functions are bound at the start, so that their table is read-only; and no library is taken from the program's own folder
# (scripts/check-programs). They say which commit they are built from (`version --all`).
LINKING = $(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker -z -Xlinker now \
	--disable-local-rpath $(shell scripts/commit-options))

.PHONY: help demo demo-live docs examples library test-library install-library wheel databases test-databases test-reach test test-all test-weekly test-live lint goldens goldens-live fixtures fuzz sanitize command build manual notice install deb test-deb \
	uninstall atlas atlas-checksum sources bench bench-live bench-peers bench-reach bench-readme bench-build deps command-deps test-deps database-deps clean

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# What the command needs; deps adds what the atlas's program and the relay link, test-deps what only tests ask: oracles,
# and gpsbabel.
command-deps:
	@scripts/install-packages libarchive-dev libsimdjson-dev libxml2-dev libzstd-dev nettle-dev zlib1g-dev pkg-config

deps: command-deps
	@scripts/install-packages libgeos-dev libproj-dev libsqlite3-dev libtomlplusplus-dev

test-deps: deps
	@scripts/install-packages g++ gpsbabel libs2-dev shellcheck

# snap, convert and live.
command: command-deps ## build the command alone: two and a half minutes on two cores
	@echo "building hereabouts; on two cores, with nothing built before, it takes some two and a half minutes"
	$(BUILD) -c release $(LINKING) --product hereabouts

build: deps ## build all three programs: the command, the atlas's and the relay's
	@echo "building hereabouts, hereabouts-atlas and hereabouts-live; on two cores it takes some nine minutes"
	$(BUILD_LIVE) -c release $(LINKING) --product hereabouts
	$(BUILD_LIVE) -c release $(LINKING) --product hereabouts-atlas
	$(BUILD_LIVE) -c release $(LINKING) --product hereabouts-live

demo: command ## build the command and convert two sample drives
	@scripts/demo $(COMMAND)

# A drive played by gpsfake, and what two consumers get of it.
demo-live: build ## the relay on loopback for a minute
	@scripts/demo-live $(RELEASE)

# How many leftovers the committed atlas may have (contract C6), and how many of the smallest; scripts/test reads them here.
MOST_LEFTOVERS = 1600
MOST_SMALLEST_LEFTOVERS = 20

test: test-deps ## what a change of engine, formats, commands, atlas or builder needs: a quarter of an hour on two cores
	@SWIFT=$(SWIFT) scripts/test

# With the relay, real clients, all cases, fuzzing, and the atlas's sources, which it fetches.
test-all: test-deps ## every proof there is: what continuous integration runs
	@scripts/install-packages gpsd gpsd-clients gpsd-tools || echo "no gpsd: what needs it is skipped"
	@SWIFT=$(SWIFT) scripts/test --all

# What takes longest, or needs PyPI.
test-weekly: test-all test-reach sanitize ## that, all places that run us, and the sanitizers

# Real clients against the relay: phones' apps as they are documented, gpsd, Firefox, GeoClue, nginx, Caddy. NAME chooses.
test-live: build ## real clients against the relay: phones' apps, gpsd, Firefox, GeoClue, nginx, Caddy
	scripts/test-live $(RELEASE) $(NAME)

# Load on the relay, on loopback: posts, streams, memory. Needs wrk. LOAD has its options, such as --soak 3600.
bench-live: build ## load on the relay
	HEREABOUTS_COMMAND=$(CURDIR)/$(RELEASE) python3 -B Benchmarks/live/load.py $(LOAD)

# The format of Swift, and shell and Python scripts; warnings of compilers are errors in every build.
lint: ## the format of Swift, shell and Python
	@scripts/install-packages shellcheck || echo "no shellcheck: scripts in shell are only parsed"
	SWIFT=$(SWIFT) scripts/lint

# Look at the difference.
goldens: test-deps ## write the expected outputs of Tests/Goldens anew
	HEREABOUTS_WRITE_GOLDENS=1 SWIFT=$(SWIFT) scripts/test --filter GoldenTests

goldens-live: test-deps ## the same, with those of the relay's program
	HEREABOUTS_WRITE_GOLDENS=1 SWIFT=$(SWIFT) scripts/test --all --filter GoldenTests

fixtures: test-deps ## write the files of Tests/Fixtures anew
	HEREABOUTS_WRITE_FIXTURES=1 SWIFT=$(SWIFT) scripts/test --filter FixtureFileTests

# Every parser against libFuzzer, for MINUTES in all, or those that TARGETS names. What they find is kept in
# .build-fuzz/findings. `make test-all` takes two minutes of it, with the same seed every time; else each run seeks anew.
MINUTES ?= 10
fuzz: deps ## libFuzzer on every parser, for MINUTES=10 in all
	SWIFT=$(SWIFT) scripts/fuzz $(MINUTES) $(TARGETS)

# The tests with the address sanitizer, then with the thread sanitizer; SANITIZERS names one of them.
SANITIZERS ?= address thread
sanitize: test-deps ## the tests with the address and the thread sanitizer
	SWIFT=$(SWIFT) scripts/sanitize $(SANITIZERS)

# Man pages and completions, as the programs describe themselves; hereabouts-atlas knows all subcommands.
MANUAL = .build/manual
COMPLETIONS = share/bash-completion/completions/hereabouts share/zsh/site-functions/_hereabouts \
	share/fish/vendor_completions.d/hereabouts.fish

manual: build ## man pages and completions
	rm -rf $(MANUAL)
	python3 scripts/make-manual.py $(MANUAL) $(RELEASE) $(RELEASE)-atlas
	for shell in bash zsh fish; do \
		$(RELEASE)-atlas --generate-completion-script $$shell > $(MANUAL)/hereabouts.$$shell || exit 1; done
	sed -i '1{/^#!/d}' $(MANUAL)/hereabouts.bash

# The licenses of what is linked in; scripts/check-programs holds it to the programs.
notice: build ## write NOTICE anew
	scripts/make-notice.py .build-live/checkouts "$(dir $(shell readlink -f "$$(command -v $(SWIFT))"))/../.." >NOTICE

# The atlas is that of its checksum.
atlas-checksum:
	cd data && sha256sum --check --quiet world.atlas.sha256

# Copies what is built and builds nothing, so that root needs no compiler. `STRIP=` leaves symbols and debug information in the
# programs; `UNITS` is where systemd reads units.
STRIP ?= -s
UNITS ?= $(PREFIX)/lib/systemd/system
DOCUMENTS = LICENSE NOTICE packaging/relay.toml packaging/nginx.conf packaging/Caddyfile
ATLAS = data/world.atlas data/world.atlas.sha256 data/world.atlas.license
# Below a home, which the unit hides, it shows itself the prefix.
AT_HOME = $(if $(filter /home/% /root/%,$(PREFIX)),-e 's|^ProtectHome=yes|ProtectHome=tmpfs\nBindReadOnlyPaths=$(PREFIX)|')
# built(FILES,TARGETS)
built = @for file in $(1); do [ -f "$$file" ] || { echo "$$file is missing: run 'make $(2)' first" >&2; exit 1; }; done

install: atlas-checksum ## install all of it under PREFIX, /usr/local by default, after `make build manual`
	$(call built,$(RELEASE) $(RELEASE)-atlas $(RELEASE)-live,build manual)
	$(call built,$(addprefix $(MANUAL)/hereabouts.,1 bash zsh fish),build manual)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin libexec/hereabouts share/hereabouts share/man/man1 \
		share/doc/hereabouts $(dir $(COMPLETIONS))) $(DESTDIR)$(UNITS)
	install -m 755 $(STRIP) $(RELEASE) $(DESTDIR)$(PREFIX)/bin/hereabouts
	install -m 755 $(STRIP) $(RELEASE)-atlas $(DESTDIR)$(PREFIX)/libexec/hereabouts/hereabouts-atlas
	install -m 755 $(STRIP) $(RELEASE)-live $(DESTDIR)$(PREFIX)/libexec/hereabouts/hereabouts-live
	install -m 644 $(ATLAS) $(DESTDIR)$(PREFIX)/share/hereabouts/
	sed -e 's|/usr/local/|$(PREFIX)/|' $(AT_HOME) packaging/hereabouts-relay.service >$(DESTDIR)$(UNITS)/hereabouts-relay.service
	chmod 644 $(DESTDIR)$(UNITS)/hereabouts-relay.service
	install -m 644 $(DOCUMENTS) $(DESTDIR)$(PREFIX)/share/doc/hereabouts/
	install -m 644 $(MANUAL)/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(MANUAL)/hereabouts.bash $(DESTDIR)$(PREFIX)/$(word 1,$(COMPLETIONS))
	install -m 644 $(MANUAL)/hereabouts.zsh $(DESTDIR)$(PREFIX)/$(word 2,$(COMPLETIONS))
	install -m 644 $(MANUAL)/hereabouts.fish $(DESTDIR)$(PREFIX)/$(word 3,$(COMPLETIONS))

# For C and what calls it; needs Swift 6.3. In .build/library, with a header and an archive.
LIBRARY = .build/library
library: ## build the C library
	SWIFT="$(SWIFT)" scripts/build-library $(LIBRARY)

test-library: command ## build the C library, hold it to its header, and compare it with the command
	SWIFT="$(SWIFT)" scripts/check-library $(COMMAND)
	SWIFT="$(SWIFT)" scripts/check-library --runtime $(COMMAND)

wheel: ## build the distributions for Python into dist/
	SWIFT="$(SWIFT)" scripts/build-wheels

databases: library database-deps ## build the extensions for PostgreSQL, DuckDB and SQLite
	scripts/build-databases

database-deps:
	@scripts/install-packages postgresql-15 postgresql-server-dev-15 postgresql-15-postgis-3 sqlite3 libsqlite3-dev || \
		echo "what needs a missing database is skipped"

test-databases: command library database-deps ## build the extensions for databases, and compare them with the command
	scripts/check-databases $(COMMAND)

# What runs elsewhere. Needs PyPI; ROWS_ON_SPARK=1000000 is a quicker batch for its cluster.
ROWS_ON_SPARK ?= 10000000
test-reach: test-library database-deps ## the C library, Python, databases and Spark, against the command
	@scripts/install-packages gcc-aarch64-linux-gnu qemu-user || echo "no cross compiler: 64-bit ARM is skipped"
	SWIFT="$(SWIFT)" scripts/check-library --arm64 $(COMMAND)
	SWIFT="$(SWIFT)" scripts/check-python $(COMMAND)
	SWIFT="$(SWIFT)" scripts/check-python-arm64 $(COMMAND)
	scripts/check-databases $(COMMAND)
	scripts/check-spark $(ROWS_ON_SPARK)

LIBDIR ?= $(PREFIX)/lib
install-library: ## install the C library under PREFIX, after `make library`
	$(call built,$(addprefix $(LIBRARY)/,hereabouts.h libhereabouts.a libhereabouts.so.0.2.0),library)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include share/man/man3) $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(LIBRARY)/hereabouts.h $(DESTDIR)$(PREFIX)/include/
	install -m 755 $(STRIP) $(LIBRARY)/libhereabouts.so.0.2.0 $(DESTDIR)$(LIBDIR)/
	install -m 644 $(LIBRARY)/libhereabouts.a $(DESTDIR)$(LIBDIR)/
	ln -sf libhereabouts.so.0.2.0 $(DESTDIR)$(LIBDIR)/libhereabouts.so.0
	ln -sf libhereabouts.so.0 $(DESTDIR)$(LIBDIR)/libhereabouts.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' packaging/hereabouts.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/hereabouts.pc
	install -m 644 packaging/hereabouts.3 $(DESTDIR)$(PREFIX)/share/man/man3/

# Packages of what `make build manual library databases` has built, in dist/. The programs' debug information is apart, by build id.
deb: ## Debian's packages into dist/, after `make build manual library databases`
	@scripts/install-packages debhelper postgresql-server-dev-15
	$(call built,databases/postgresql/hereabouts.so,databases)
	mkdir -p dist
	rm -f dist/*.deb
	DEB_RULES_REQUIRES_ROOT=no debian/rules clean binary

test-deb: ## build the packages, install them into a fresh Debian and use them; needs root
	scripts/check-deb

uninstall: ## remove what install and install-library wrote
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/hereabouts libexec/hereabouts/hereabouts-atlas libexec/hereabouts/hereabouts-live \
		$(addprefix share/hereabouts/,$(notdir $(ATLAS))) $(addprefix share/doc/hereabouts/,$(notdir $(DOCUMENTS))) $(COMPLETIONS))
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/hereabouts.1 $(DESTDIR)$(PREFIX)/share/man/man1/hereabouts-*.1
	rm -f $(DESTDIR)$(UNITS)/hereabouts-relay.service $(DESTDIR)$(PREFIX)/include/hereabouts.h \
		$(DESTDIR)$(PREFIX)/share/man/man3/hereabouts.3
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(addprefix libhereabouts.,so so.0 so.0.2.0 a) pkgconfig/hereabouts.pc)
	@rmdir $(addprefix $(DESTDIR)$(PREFIX)/,libexec/hereabouts share/hereabouts share/doc/hereabouts) 2>/dev/null || true

# The sources, from the registries' packages, checked against data/SOURCES.sha256.
sources: ## fetch the atlas's sources
	@scripts/install-packages python3-venv
	data/fetch-sources.sh

atlas: build sources ## build the atlas anew, like the one before
	data/fetch-old-atlas.sh
	$(RELEASE) atlas build -o data/world.atlas \
		--borders $(SOURCES)/borders.geojsonl --land $(SOURCES)/land.geojsonl \
		--places $(SOURCES)/places.csv --population $(POPULATION) \
		--credits data/credits.json --like $(SOURCES)/old.atlas
	cd data && sha256sum world.atlas >world.atlas.sha256

# The library's documentation, with DocC, which comes with Swift.
docs: ## the libraries' documentation
	@SWIFT="$(SWIFT)" scripts/build-docs

examples: command ## build and run the programs of Examples/
	SWIFT="$(SWIFT)" scripts/check-examples $(COMMAND)

# The library's and the command's own figures; `--scale` gives them for one point, fix or row.
bench: command ## the library's and the command's own figures
	HEREABOUTS_PINNED=1 $(SWIFT) package -c release --package-path Benchmarks --disable-sandbox benchmark --scale $(BENCH)

# Ours and the peers', side by side, into Benchmarks/results/. The peers are fetched into Benchmarks/.build/peers; the
# borders for GEOS are the atlas's sources. ROWS, ROUNDS and LARGEST say how much; COMPARE takes other options.
ROWS ?= 1000000
ROUNDS ?= 7
LARGEST ?= 10000000
bench-peers: command bench-build sources ## ours beside others'
	python3 Benchmarks/peers/compare.py --rows $(ROWS) --rounds $(ROUNDS) --largest $(LARGEST) $(COMPARE)

bench-build:
	$(BUILD) -c release --package-path Benchmarks --product points

# In an environment of its own, for h3spark and others want another pyarrow.
REACH = .build/reach-bench
bench-reach: wheel databases database-deps ## Python, databases and Spark beside others, into Benchmarks/results/reach.md
	rm -rf $(REACH) && python3 -m venv $(REACH)
	$(REACH)/bin/pip install -q dist/*.whl -r python/requirements-spark.txt -r Benchmarks/reach/requirements.txt
	$(REACH)/bin/python -W ignore Benchmarks/reach/compare.py --rows $(ROWS) --rounds $(ROUNDS)

# And results/peers.md.
bench-readme: ## write the README's table from the last bench-peers
	python3 Benchmarks/peers/report.py README.md

clean: ## remove what was built
	rm -f databases/postgresql/*.o databases/postgresql/*.so
	rm -rf .build .build-* Benchmarks/.build
