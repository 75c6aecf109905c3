# What a contributor types. Everything is plain cargo and scripts underneath.

.PHONY: help demo test lint golden fuzz manifests e2e image ci

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name what; do printf '%-10s %s\n' "$$name" "$$what"; done

demo: ## a simulated cluster, and the exporter in front of it
	cargo run --release --locked -- demo

test: ## everything that can be checked without a cluster
	cargo test --locked

lint: ## format, clippy, documentation, licences
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked
	.ci/deny

golden: ## write golden and generated files anew; look at the difference
	INSTA_UPDATE=always PODINIT_UPDATE=1 UPDATE_DASHBOARDS=1 cargo test --locked
	tests/deploy/run --update

fuzz: ## each fuzz target for 20 seconds
	fuzz/run

manifests: ## kustomize and Helm: render, compare, validate
	tests/deploy/run

e2e: ## a real control plane, real kubelets and a real Prometheus, on loopback
	tests/e2e/run

image: ## the container image, into target/image
	deploy/image/build

ci: ## all that has to hold of a change
	.ci/run
