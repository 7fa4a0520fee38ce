# SPDX-License-Identifier: Apache-2.0
#
# A thin front for the presets of CMakePresets.json. Every target installs the Debian packages that
# are missing, configures, builds and runs; a second run only does what changed.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
# Tests wait more than they compute: two more than there are processors.
export CTEST_PARALLEL_LEVEL ?= $(shell expr $(JOBS) + 2)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
export JOBS FUZZ_SECONDS
# Clones share what a compiler cache holds: what differs between them is only where they lie.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Tests have a precompiled header, which a compiler cache takes only if it may.
export CCACHE_SLOPPINESS := pch_defines,time_macros
# What is not in the cache is not preprocessed for it.
export CCACHE_DEPEND := 1
# gcc 12's ThreadSanitizer wants the address space where it was; kernels that randomise more break it.
STEADY := $(shell setarch -R true 2>/dev/null && echo setarch -R)

.DEFAULT_GOAL := help
.PHONY: help demo test check bench fuzz asan tsan packages packages-test format changelog release clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' $(firstword $(MAKEFILE_LIST)) | \
	    while read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

demo: ## build the release, measure what matters, show it; every table and picture in out/
	@tools/install-packages.sh build test
	@tools/demo.sh

test: ## build and run every test
	@tools/install-packages.sh build test
	@cmake --workflow --preset dev

check: ## verify format, tidy rules, layers, self-contained headers, clang-tidy
	@tools/install-packages.sh build test check
	@tools/check.sh

bench: ## run the full experiments, show what matters; every table and picture in out/
	@tools/install-packages.sh build test
	@tools/demo.sh --full

fuzz: ## fuzz every target, FUZZ_SECONDS (600) shared between them
	@tools/install-packages.sh build fuzz
	@cmake --workflow --preset fuzz
	@fuzz/run.py --build build/fuzz --seconds $(FUZZ_SECONDS)

asan: ## run every test under AddressSanitizer and UndefinedBehaviorSanitizer, built by clang
	@tools/install-packages.sh build test fuzz
	@cmake --workflow --preset asan

tsan: ## run the concurrent tests under ThreadSanitizer, built by clang
	@tools/install-packages.sh build test fuzz
	@$(STEADY) cmake --workflow --preset tsan

packages: ## make Debian packages in build/packages/packages (docs/packages.md)
	@tools/install-packages.sh build packages
	@rm -rf build/packages/packages
	@cmake --workflow --preset packages
	@lintian --allow-root --fail-on error,warning build/packages/packages/*.deb

packages-test: packages ## install them into a pristine Debian and use them there; minutes, as root
	@packaging/test.sh

format: ## apply clang-format to every C++ file of the tree
	@tools/install-packages.sh check
	@tools/check.sh --format

changelog: ## gather changelog.d/ into CHANGELOG.md
	@tools/changelog.py

release: ## make the source archive of this commit and its SHA-256, in dist/
	@tools/release.py

clean: ## remove everything that was built, measured or packed
	@rm -rf build out dist
