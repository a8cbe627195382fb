# The commands a person needs. `make help` lists them.
#
# The GPL encoders are package traits, off by default. `make demo` does without them; the other
# commands turn them on, so that the command line has every encoder and the tests see everything.
# `Display` is for `vtencode play`. `make TRAITS= build` builds without them.

TRAITS ?= default,Display,X265,X264
# SwiftPM names the traits to the compiler in the order of a hash: another order would build
# everything again.
export SWIFT_DETERMINISTIC_HASHING = 1
SWIFT ?= swift
# What `make bench` and `make compare` measure with is a release build.
BUILD = $(SWIFT) build $(if $(TRAITS),--traits $(TRAITS))
# All release builds share these, since a build with others would begin again: without what
# debuggers want, which takes an eighth of the time (`make DEBUG_INFO=dwarf build` keeps it), and
# with Swift's runtime inside, so that the programs run on machines without Swift (`make RUNTIME=
# build` links to its libraries).
DEBUG_INFO ?= none
RUNTIME ?= --static-swift-stdlib --disable-local-rpath
RELEASE = -c release -debug-info-format $(DEBUG_INFO) $(RUNTIME)
TEST = $(SWIFT) test $(if $(TRAITS),--traits $(TRAITS))
RELEASE_DIR = .build/release
# The engine as a package of its own: a short build.
ENGINE = -c release -Xswiftc -enable-testing --scratch-path .build-engine
SWIFT_SOURCES = Sources Tests Benchmarks/Sources Benchmarks/Package.swift Examples/Sources Fuzz/Sources Package.swift

.DEFAULT_GOAL := help
.PHONY: help measure lowlat-tables screens screen-bench build demo test test-timing lint format docs clients install install-c-interface c-interface permissive compare matrix bench engine-matrix kernel-bench rate-bench thread-bench decode-bench silo-bench count-allocations check-manifest check-neon sanitize fuzz sample need-swift dependencies test-dependencies uninstall deb deb-gpl deb-for check-deb quick

help: ## Lists these commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: dependencies ## Builds .build/release/vtencode with everything (TRAITS=default,Display: no GPL encoder).
	$(BUILD) $(RELEASE) --product vtencode

# Only the encoders are optimised: the first thing that a newcomer runs is built in half of the
# time, and encodes as fast.
demo: dependencies ## Encodes the sample movie with the package's own encoders: out/demo.mp4, out/demo-hevc.mp4.
	compiler=$$(SWIFT="$(SWIFT)" scripts/partial-toolchain .build-demo/toolchain encoders) \
	  && SWIFT_EXEC=$$compiler OVT_WITHOUT_LIVE=1 $(SWIFT) build $(RELEASE) --scratch-path .build-demo --product vtencode
	@mkdir -p out
	.build-demo/release/vtencode transcoding Assets/video.m4v --bitrate 1500k --psnr --overwrite --out out/demo.mp4
	.build-demo/release/vtencode transcoding Assets/video.m4v --codec hevc --bitrate 1000k --effort 3 --psnr \
	  --overwrite --out out/demo-hevc.mp4
	@echo "Written: out/demo.mp4 (H.264) and out/demo-hevc.mp4, by the package's own encoders."
	@echo "'make build' adds send and receive, windows, and libx265 and libx264, which are under the GPL."

# Optimised file by file: a changed file is compiled again, and of the modules above it only what
# its interface reaches. In a release build each module is optimised as a whole, and so are all
# modules above a change.
quick: dependencies ## Builds vtencode for work on it: .build-quick/debug/vtencode, seconds after a change in one file.
	$(BUILD) --product vtencode --scratch-path .build-quick -Xswiftc -O -Xcc -O2 -debug-info-format $(DEBUG_INFO)

# Where `make install` puts it; DESTDIR stands in for the root directory when a package is made.
PREFIX ?= /usr/local
DESTDIR ?=

# What is there is installed, so that root needs no Swift: `make build && sudo make install`.
install: ## Installs vtencode, completions, manual pages and licences (PREFIX=/usr/local DESTDIR=...).
	@test -x $(RELEASE_DIR)/vtencode || $(MAKE) build
	@scripts/install-dependencies.sh --packaging
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-program $(RELEASE_DIR)/vtencode .build/checkouts

install-c-interface: dependencies ## Builds the C interface and installs it (PREFIX=/usr/local DESTDIR=..., docs/from-c.md).
	@TRAITS="$(TRAITS)" PREFIX="$(abspath $(PREFIX))" DESTDIR="$(DESTDIR)" scripts/install-c-interface

uninstall: ## Removes what `make install` has installed (PREFIX=/usr/local DESTDIR=...).
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/uninstall-program

deb: ## Makes Debian packages in out/deb: vtencode, and the libraries with their headers; no GPL encoder.
	$(MAKE) build TRAITS=default,Display
	@scripts/install-dependencies.sh --packaging
	@scripts/install-dependencies.sh --package-checks
	scripts/build-deb --libraries --out out/deb $(RELEASE_DIR)/vtencode .build/checkouts

deb-gpl: ## Makes the Debian package vtencode-gpl, with libx264 and libx265, in out/deb.
	$(MAKE) build TRAITS=default,Display,X265,X264
	@scripts/install-dependencies.sh --packaging
	@scripts/install-dependencies.sh --package-checks
	scripts/build-deb --gpl --out out/deb $(RELEASE_DIR)/vtencode .build/checkouts

check-deb: ## Installs out/deb's packages in a fresh system without Swift (debootstrap, root) and encodes there.
	@scripts/install-dependencies.sh --package-checks
	scripts/check-deb out/deb/vtencode*.deb

deb-for: ## Makes vtencode's package for another distribution in a fresh system of it (SUITE=trixie, root).
	@test -n "$(SUITE)" || { echo "Say which: make deb-for SUITE=trixie (Debian 13) or SUITE=noble (Ubuntu 24.04)." >&2; exit 64; }
	@scripts/install-dependencies.sh --package-checks
	scripts/build-deb-for $(SUITE) --out out/deb

test: test-dependencies ## Runs all tests but those that watch the clock (TARGETS="CoreMediaTests ...").
	@TRAITS=$(TRAITS) scripts/test $(TARGETS)

test-timing: test-dependencies ## Runs the tests that watch the real clock, one after the other, on an idle machine.
	@TRAITS=$(TRAITS) scripts/test --timing $(TARGETS)

lint: test-dependencies ## Checks documents, formatting, that tests watch no clock, and that nothing compiles with a warning.
	scripts/check-docs
	scripts/check-tests
	scripts/check-public-names
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	OVT_WARNINGS_AS_ERRORS=1 $(BUILD) --build-tests

format: need-swift ## Formats the sources.
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

docs: dependencies ## Builds the documentation of all modules into out/docs.
	scripts/build-docs out/docs

c-interface: test-dependencies ## Builds the C interface and tests it with C programs, the examples and valgrind.
	@scripts/install-dependencies.sh --c-interface
	TRAITS="$(TRAITS)" scripts/test-c-interface

clients: test-dependencies ## Builds and runs the client programs, in Swift 5 and in Swift 6 mode.
	scripts/test-clients

permissive: test-dependencies ## Builds vtencode without the GPL encoders, and checks that neither is linked.
	scripts/test-permissive-build

compare: test-dependencies ## Measures vtencode against ffmpeg with the same encoder settings.
	$(BUILD) $(RELEASE) --product vtencode
	scripts/compare-ffmpeg

matrix: test-dependencies ## Encodes every clip of a folder (CLIPS=...) every way, prints a table.
	$(BUILD) $(RELEASE) --product vtencode
	scripts/matrix $(CLIPS)

measure: ## Makes the pages and charts of docs/measurements from the results in JSON.
	scripts/measurements

# The measuring tools are a package of their own. TOOL_BUILD names a build folder to share.
TOOL_BUILD ?= Benchmarks/.build
TOOL = $(SWIFT) build $(RELEASE) --package-path Benchmarks --scratch-path $(TOOL_BUILD) --product
TOOLS_DIR = $(TOOL_BUILD)/release

# What they measure on: CLIPS, or the clips that developers share, or the sample.
BENCH_CLIPS = $(or $(CLIPS),$(wildcard ../shared/media/clips),Assets/video.m4v)

bench: test-dependencies ## Measures H264Encoder against libx264 and libopenh264 (CLIPS=..., BENCH_OPTIONS="--quick ...").
	$(TOOL) bench
	@$(TOOLS_DIR)/bench $(BENCH_OPTIONS) $(BENCH_CLIPS)

screens: ## Renders the screens that `bench --set screens` measures into .build/screens (python3-numpy, fonts-dejavu-core).
	scripts/render-screens .build/screens

screen-bench: test-dependencies ## Measures how soon a change of a desktop is sharp, beside libx264 and libopenh264 (python3-numpy, fonts-dejavu-core).
	scripts/render-desktops .build/desktops
	$(TOOL) screen-bench
	@$(TOOLS_DIR)/screen-bench $(TABLE_OPTIONS) $(BENCH_OPTIONS) .build/desktops

engine-matrix: test-dependencies ## Decodes 2,000 random streams of each encoder (STREAMS=...) with other decoders, bit for bit.
	OVT_ENGINE_ALONE=1 $(SWIFT) build --build-tests $(ENGINE)
	OVT_ENGINE_ALONE=1 OVT_MATRIX_STREAMS=$(or $(STREAMS),2000) OVT_MATRIX_SEED=$(or $(SEED),1) \
	  $(SWIFT) test --skip-build $(ENGINE) --filter "MatrixTests|RandomStreamTests"

kernel-bench: need-swift ## Prints the cycles per call of each SIMD kernel on each CPU path.
	$(TOOL) kernel-bench
	@$(TOOLS_DIR)/kernel-bench

rate-bench: test-dependencies ## Prints how the rate control keeps to rates, limits, steps, caps and shares (CLIPS=...).
	$(TOOL) rate-bench
	@$(TOOLS_DIR)/rate-bench --effort 2 $(TABLE_OPTIONS) $(BENCH_CLIPS)

thread-bench: test-dependencies ## Measures what two threads gain, and how long they wait (CLIPS=..., BENCH_OPTIONS="--cases qp:4:27 ...").
	$(TOOL) thread-bench
	@$(TOOLS_DIR)/thread-bench $(BENCH_OPTIONS) $(firstword $(BENCH_CLIPS))

decode-bench: test-dependencies ## Compares a decompression session with bare libavcodec (MOVIE=...).
	$(TOOL) decode-bench
	@$(TOOLS_DIR)/decode-bench $(TABLE_OPTIONS) $(or $(MOVIE),Assets/video.m4v)

silo-bench: test-dependencies ## Measures a frame silo with two hours of frames: time, memory (--svg in TABLE_OPTIONS draws it), size.
	$(TOOL) silo-bench
	@$(TOOLS_DIR)/silo-bench $(TABLE_OPTIONS)

count-allocations: test-dependencies ## Counts the allocations of each frame; fails above Benchmarks/Thresholds.
	$(TOOL) count-allocations
	@$(TOOLS_DIR)/count-allocations --thresholds Benchmarks/Thresholds/allocations.json $(TABLE_OPTIONS)

lowlat-tables: test-dependencies ## Measures the low-latency mode: latency, layers, caps, losses, steps (CLIPS=..., TABLE_OPTIONS=...).
	$(BUILD) $(RELEASE) --product vtencode
	$(TOOL) lowlat-tables
	@$(TOOLS_DIR)/lowlat-tables --vtencode $(RELEASE_DIR)/vtencode $(TABLE_OPTIONS) $(BENCH_CLIPS)

check-manifest: test-dependencies ## Checks that every product exists on every host and shadows no framework.
	scripts/check-manifest --build

check-neon: need-swift ## Compares the NEON kernels with the plain C, in an emulator of 64-bit ARM.
	@scripts/install-dependencies.sh --cross
	scripts/check-neon

sanitize: test-dependencies ## Runs the engine's and the media tests under AddressSanitizer and UBSan.
	scripts/sanitize address,undefined all

fuzz: test-dependencies ## Runs every fuzzer (SECONDS_EACH=600).
	SECONDS_EACH=$(or $(SECONDS_EACH),600) JOBS=$(shell nproc) scripts/fuzz

sample: ## Renders Assets/video.m4v again (needs python3-numpy, ffmpeg and fonts-dejavu-core).
	scripts/render-sample

need-swift:
	@command -v $(SWIFT) >/dev/null || { \
	  echo "make: Swift 6.2 or later is needed, and '$(SWIFT)' was not found. See https://www.swift.org/install" >&2; exit 1; }

dependencies: need-swift
	@scripts/install-dependencies.sh

test-dependencies: need-swift
	@scripts/install-dependencies.sh --tests
