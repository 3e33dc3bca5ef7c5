# A thin front: every target is one call of a preset or a script. `make` builds
# build/release/bin/slurm-shim with its links (srun, sbatch, ...) beside it.
.PHONY: release bootstrap test demo bench lint cluster-up cluster-down install
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
	bench/bench.py --bin build/release/bin --cluster $(if $(COMPARE),--compare $(COMPARE))

lint: bootstrap
	scripts/lint

cluster-up: bootstrap release
	docker/cluster up
	docker/cluster install

cluster-down:
	docker/cluster down

install: release
	scripts/install-files "$(DESTDIR)$(PREFIX)"
