# The front door: `make demo`, `make test`, `make install`, `make atlas`, `make bench`.

PREFIX ?= /usr/local
SWIFT ?= swift
RELEASE = .build/release/hereabouts

.PHONY: demo test build install uninstall atlas sources bench deps test-deps clean

# What building needs; test-deps adds the libraries that only tests ask (oracles).
deps:
	@scripts/install-packages libgeos-dev libproj-dev libxml2-dev pkg-config

test-deps: deps
	@scripts/install-packages libs2-dev

build: deps
	$(SWIFT) build -c release --product hereabouts

demo: build
	@scripts/demo $(RELEASE)

# Every test, in debug and with the release build of the command, and the proof of the committed atlas.
test: test-deps build
	$(SWIFT) build --build-tests
	HEREABOUTS_COMMAND=$(CURDIR)/$(RELEASE) $(SWIFT) test --skip-build --skip OwnershipTests
	@# These measure the process's memory, so nothing else may run beside them.
	$(SWIFT) test --skip-build --filter OwnershipTests --no-parallel
	$(RELEASE) atlas verify data/world.atlas

install: build
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/hereabouts
	install -m 755 $(RELEASE) $(DESTDIR)$(PREFIX)/bin/hereabouts
	install -m 644 data/world.atlas $(DESTDIR)$(PREFIX)/share/hereabouts/world.atlas

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/hereabouts $(DESTDIR)$(PREFIX)/share/hereabouts/world.atlas

# The sources, from the registries' packages, checked against data/SOURCES.sha256.
sources:
	data/fetch-sources.sh

atlas: build sources
	$(RELEASE) atlas build -o data/world.atlas \
		--borders .build/sources/borders.geojsonl --land .build/sources/land.geojsonl \
		--places .build/sources/places.csv --countries .build/sources/countries.csv \
		--credits data/credits.json

bench: build
	$(SWIFT) build -c release --package-path Benchmarks
	Benchmarks/.build/release/snap-benchmark data/world.atlas $(RELEASE)

clean:
	rm -rf .build Benchmarks/.build
