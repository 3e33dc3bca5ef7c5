# A thin front: every target is one call of a preset or a script. `make` builds
# build/release/bin/slurm-shim with its links (srun, sbatch, ...) beside it.
.PHONY: release bootstrap test demo bench docs dist lint tidy cluster-up cluster-down install
PREFIX ?= /usr/local

release:
	scripts/bootstrap build
	cmake --preset release --log-level=WARNING
	cmake --build --preset release

bootstrap:
	scripts/bootstrap

test:
	scripts/test

demo:
	scripts/demo

# COMPARE=<another slurm-shim>; with a cluster up (make cluster-up) it is measured as well.
bench: bootstrap release
	cmake --build --preset release --target bench-parse-xml
	bench/bench.py --bin build/release/bin --cluster $(if $(COMPARE),--compare $(COMPARE)) $(if $(RESULTS),--results $(RESULTS))

# The one page that is made from the option tables and kept in the tree.
docs: release
	cp build/release/share/compatibility.md docs/compatibility.md

# tar archive, .deb and .rpm, in dist/.
dist: release
	scripts/dist

lint: bootstrap
	scripts/lint

# clang-tidy over the tree, minutes; scripts/tidy MODULE for one module.
tidy: bootstrap
	scripts/tidy

cluster-up: bootstrap release
	docker/cluster up
	docker/cluster install

cluster-down:
	docker/cluster down

install: release
	scripts/install-files "$(DESTDIR)$(PREFIX)"
