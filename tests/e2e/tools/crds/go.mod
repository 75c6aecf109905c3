// Only read: the CRDs stand in example/prometheus-operator-crd. `go mod tidy` would drop them.
module podinit.test/tools/crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
