# Shortcuts for contributors: plain cargo and scripts underneath.

.PHONY: help demo test lint golden fuzz manifests e2e image ci

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name what; do printf '%-10s %s\n' "$$name" "$$what"; done

demo: ## a simulated cluster, and the exporter in front of it
	cargo run --locked -- demo

test: ## all tests that need no cluster
	cargo test --locked

lint: ## format, clippy, documentation, licences
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked
	.ci/deny

golden: ## rewrite golden and generated files; review the difference
	cargo test --locked --test dashboards -- --write
	INSTA_UPDATE=always UPDATE_GOLDEN=1 cargo test --locked
	tests/deploy/run --update

fuzz: ## each fuzz target for 20 seconds
	fuzz/run

manifests: ## kustomize and Helm: render, compare, validate
	tests/deploy/run

e2e: ## a real control plane, real kubelets and a real Prometheus, on loopback
	tests/e2e/run

image: ## the container image, into target/image
	deploy/image/build

ci: ## every check that a change has to pass
	.ci/run
