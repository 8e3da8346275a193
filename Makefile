# The front door: `make demo`, `make demo-live`, `make test`, `make install`, `make atlas`, `make bench`. For who changes
# the code: `make test-live`, `make lint`, `make goldens`, `make fixtures`, `make fuzz`, `make sanitize`.

PREFIX ?= /usr/local
SWIFT ?= swift
RELEASE = .build/release/hereabouts
SOURCES = .build/sources
POPULATION = data/population.surface
# Swift's own libraries go into the programs, so that they start at once and run where no Swift is installed; lld,
# which comes with Swift, does it faster and without the other linkers' warnings about code that is never called.
# On macOS those libraries are part of the system.
LINKING = $(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib -Xswiftc -use-ld=lld)

.PHONY: demo demo-live docs test test-live lint goldens fixtures fuzz sanitize build manual install uninstall atlas sources command command-deps \
	bench bench-live bench-peers bench-readme bench-build deps test-deps clean

# What the command needs; deps adds what the atlas's program and the relay link, test-deps what only tests ask: oracles,
# and gpsbabel.
command-deps:
	@scripts/install-packages libarchive-dev libsimdjson-dev libxml2-dev libzstd-dev nettle-dev zlib1g-dev pkg-config

deps: command-deps
	@scripts/install-packages libgeos-dev libproj-dev libsqlite3-dev libtomlplusplus-dev

test-deps: deps
	@scripts/install-packages gpsbabel libs2-dev

# The command alone: snap and convert.
command: command-deps
	@echo "building hereabouts; with two cores and nothing built before it takes two minutes"
	$(SWIFT) build -c release $(LINKING) --product hereabouts

# The three programs.
build: command deps
	@echo "building hereabouts-atlas and hereabouts-live, for atlases and for the relay: some four minutes more"
	$(SWIFT) build -c release $(LINKING) --product hereabouts-atlas
	$(SWIFT) build -c release $(LINKING) --product hereabouts-live

demo: command
	@scripts/demo $(RELEASE)

# The relay on loopback for a minute: a drive played by gpsfake, and what two consumers get of it.
demo-live: build
	@scripts/demo-live $(RELEASE)

# Every test, in debug and with the release build of the command, and the proof of the committed atlas, against the
# sources it was built from. Where those cannot be fetched, the tests that need them say so and are skipped.
test: lint test-deps build bench-build
	$(MAKE) sources || echo "no sources: what needs them is skipped"
	$(SWIFT) build --build-tests
	HEREABOUTS_COMMAND=$(CURDIR)/$(RELEASE) $(SWIFT) test --skip-build --skip OwnershipTests
	@# These measure the process's memory, so nothing else may run beside them.
	$(SWIFT) test --skip-build --filter OwnershipTests --no-parallel
	sources="--population $(POPULATION)"; \
	if [ -f $(SOURCES)/borders.geojsonl ]; then \
		sources="$$sources --borders $(SOURCES)/borders.geojsonl --land $(SOURCES)/land.geojsonl \
			--places $(SOURCES)/places.csv"; \
	fi; \
	$(RELEASE) atlas verify data/world.atlas $$sources >.build/verified.txt; status=$$?; \
	cat .build/verified.txt; exit $$status
	@# Atlases may have such fragments where nothing helped. This one has none.
	! grep 'are told apart by' .build/verified.txt
	scripts/check-readers $(RELEASE)
	SEED=1 $(MAKE) fuzz MINUTES=2

# Real clients against the relay: phones' apps as they are documented, gpsd, Firefox, GeoClue, nginx, Caddy. NAME chooses.
test-live: build
	scripts/test-live $(RELEASE) $(NAME)

# Load on the relay, on loopback: posts, streams, memory. Needs wrk. LOAD has its options, such as --soak 3600.
bench-live: build
	HEREABOUTS_COMMAND=$(CURDIR)/$(RELEASE) python3 -B Benchmarks/live/load.py $(LOAD)

# The format of Swift, and shell and Python scripts; warnings of compilers are errors in every build.
lint:
	@scripts/install-packages shellcheck || echo "no shellcheck: scripts in shell are only parsed"
	SWIFT=$(SWIFT) scripts/lint

# Writes the expected outputs of Tests/Goldens anew, or the files of Tests/Fixtures: look at the difference.
goldens: build
	HEREABOUTS_WRITE_GOLDENS=1 HEREABOUTS_COMMAND=$(CURDIR)/$(RELEASE) $(SWIFT) test --filter GoldenTests

fixtures:
	HEREABOUTS_WRITE_FIXTURES=1 $(SWIFT) test --filter FixtureFileTests

# Every parser against libFuzzer, for MINUTES in all, or those that TARGETS names. What they find is kept
# in .build-fuzz/findings. `make test` takes two minutes of it, with the same seed every time; else each run seeks anew.
MINUTES ?= 10
fuzz: deps
	SWIFT=$(SWIFT) scripts/fuzz $(MINUTES) $(TARGETS)

# The tests with the address sanitizer, then with the thread sanitizer; SANITIZERS names one of them.
SANITIZERS ?= address thread
sanitize: test-deps
	SWIFT=$(SWIFT) scripts/sanitize $(SANITIZERS)

# Man pages and completions, as the programs describe themselves; hereabouts-atlas knows all subcommands.
MANUAL = .build/manual
COMPLETIONS = share/bash-completion/completions/hereabouts share/zsh/site-functions/_hereabouts \
	share/fish/vendor_completions.d/hereabouts.fish

manual: build
	rm -rf $(MANUAL)
	python3 scripts/make-manual.py $(MANUAL) $(RELEASE) $(RELEASE)-atlas
	for shell in bash zsh fish; do \
		$(RELEASE)-atlas --generate-completion-script $$shell > $(MANUAL)/hereabouts.$$shell || exit 1; done

install: build manual
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin libexec/hereabouts share/hereabouts share/man/man1 lib/systemd/system \
		share/doc/hereabouts $(dir $(COMPLETIONS)))
	install -m 755 $(RELEASE) $(DESTDIR)$(PREFIX)/bin/hereabouts
	install -m 755 $(RELEASE)-atlas $(DESTDIR)$(PREFIX)/libexec/hereabouts/hereabouts-atlas
	install -m 755 $(RELEASE)-live $(DESTDIR)$(PREFIX)/libexec/hereabouts/hereabouts-live
	install -m 644 data/world.atlas $(DESTDIR)$(PREFIX)/share/hereabouts/world.atlas
	sed 's|/usr/local/|$(PREFIX)/|' packaging/hereabouts-relay.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/hereabouts-relay.service
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/hereabouts-relay.service
	install -m 644 packaging/relay.toml packaging/nginx.conf packaging/Caddyfile $(DESTDIR)$(PREFIX)/share/doc/hereabouts/
	install -m 644 $(MANUAL)/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(MANUAL)/hereabouts.bash $(DESTDIR)$(PREFIX)/$(word 1,$(COMPLETIONS))
	install -m 644 $(MANUAL)/hereabouts.zsh $(DESTDIR)$(PREFIX)/$(word 2,$(COMPLETIONS))
	install -m 644 $(MANUAL)/hereabouts.fish $(DESTDIR)$(PREFIX)/$(word 3,$(COMPLETIONS))

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/hereabouts libexec/hereabouts/hereabouts-atlas \
		libexec/hereabouts/hereabouts-live share/hereabouts/world.atlas lib/systemd/system/hereabouts-relay.service \
		share/doc/hereabouts/relay.toml share/doc/hereabouts/nginx.conf share/doc/hereabouts/Caddyfile $(COMPLETIONS))
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/hereabouts.1 $(DESTDIR)$(PREFIX)/share/man/man1/hereabouts-*.1
	@rmdir $(addprefix $(DESTDIR)$(PREFIX)/,libexec/hereabouts share/hereabouts share/doc/hereabouts) 2>/dev/null || true

# The sources, from the registries' packages, checked against data/SOURCES.sha256.
sources:
	@scripts/install-packages python3-venv
	data/fetch-sources.sh

atlas: build sources
	$(RELEASE) atlas build -o data/world.atlas \
		--borders $(SOURCES)/borders.geojsonl --land $(SOURCES)/land.geojsonl \
		--places $(SOURCES)/places.csv --population $(POPULATION) \
		--credits data/credits.json

# The library's documentation, with DocC, which comes with Swift.
docs:
	@SWIFT="$(SWIFT)" scripts/build-docs

# The library's and the command's own figures; `--scale` gives them for one point, fix or row.
bench: build
	$(SWIFT) package -c release --package-path Benchmarks --disable-sandbox benchmark --scale $(BENCH)

# Ours and the peers', side by side, into Benchmarks/results/. The peers are fetched into Benchmarks/.build/peers; the
# borders for GEOS are the atlas's sources. ROWS, ROUNDS and LARGEST say how much; COMPARE takes other options.
ROWS ?= 1000000
ROUNDS ?= 7
LARGEST ?= 10000000
bench-peers: build bench-build sources
	python3 Benchmarks/peers/compare.py --rows $(ROWS) --rounds $(ROUNDS) --largest $(LARGEST) $(COMPARE)

bench-build:
	$(SWIFT) build -c release --package-path Benchmarks --product points

# The README's ten rows and results/peers.md, anew from the last bench-peers.
bench-readme:
	python3 Benchmarks/peers/report.py README.md

clean:
	rm -rf .build .build-* Benchmarks/.build
