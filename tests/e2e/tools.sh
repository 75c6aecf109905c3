# shellcheck shell=bash
# Finds or makes what the suite needs; sourced by `run`. Everything lands in $cache, each under a
# hash of what it is made from, so that a second run finds it ready.

go_version=1.26.8

say() { printf '%s\n' "${suite:-e2e}: $*" >&2; }

# The first part of a hash over the files given.
digest() { cat "$@" | sha256sum | cut -c1-16; }

apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "apt-get install $*"
  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# Puts the command $1 of cargo, in version $2, into PATH. It runs for seconds, so it is built quickly.
need_cargo_tool() {
  local place=${XDG_CACHE_HOME:-$HOME/.cache}/podinit-e2e/$1-$2
  [ -x "$place/bin/$1" ] ||
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
      cargo install --quiet --locked --root "$place" "$1@$2"
  PATH=$place/bin:$PATH
}

# Sets $python to an interpreter that has requirements.txt.
need_python() {
  local venv
  command -v python3 >/dev/null || apt_install python3 python3-venv || { say "python3 is missing"; return 1; }
  venv=$cache/python-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$(digest "$here/requirements.txt")
  python=$venv/bin/python
  [ -e "$venv/complete" ] && return
  rm -rf "$venv"
  python3 -m venv "$venv" >/dev/null 2>&1 || { rm -rf "$venv"; apt_install python3-venv && python3 -m venv "$venv"; }
  "$python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt" || return
  touch "$venv/complete"
}

# Is there a Chromium, which CHROMIUM may name? Installs one where that is possible.
need_browser() {
  local name
  [ -z "${CHROMIUM:-}" ] || { [ -x "$CHROMIUM" ]; return; }
  for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if command -v "$name" >/dev/null; then return; fi
  done
  apt_install chromium fonts-dejavu-core && command -v chromium >/dev/null
}

# Sets $go to a Go that can build the tools; fails where none can be had.
need_go() {
  local found toolchain arch
  for found in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
    if [ -x "$found" ] && go_suffices "$found"; then go=$found; return; fi
  done
  toolchain=$cache/go$go_version
  go=$toolchain/bin/go
  [ -e "$toolchain/complete" ] && return
  found=$(command -v go || true)
  [ -n "$found" ] || { apt_install golang-go ca-certificates && found=$(command -v go); } || return 1
  # Releases of Go are modules too. A Go before 1.21 can fetch one, though not switch to it.
  arch=$(dpkg --print-architecture 2>/dev/null || echo amd64)
  say "fetching Go $go_version through the module proxy"
  rm -rf "$toolchain" "$cache/go-modules"
  (cd "$cache" && GOFLAGS=-modcacherw GOMODCACHE=$cache/go-modules "$found" mod download \
    "golang.org/toolchain@v0.0.1-go$go_version.linux-$arch") || return 1
  mv "$cache/go-modules/golang.org/toolchain@v0.0.1-go$go_version.linux-$arch" "$toolchain"
  rm -rf "$cache/go-modules"
  chmod -R u+w "$toolchain"
  chmod +x "$toolchain"/bin/* "$toolchain"/pkg/tool/*/*
  touch "$toolchain/complete"
}

# Is this Go at least the minor version wanted?
go_suffices() {
  local have
  have=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null | sed 's/^go//')
  [ "$(printf '%s\n' "${go_version%.*}" "$have" | sort -V | head -1)" = "${go_version%.*}" ] &&
    [ "${have#1.27}" = "$have" ] # an API server built with 1.27 serves no /openapi/v2
}

# build MODULE PACKAGE...: build packages of a tools module into $binaries. MODULE is a directory of
# tools/, or another go.mod in one (`kubernetes/kubelet-1.35.mod`).
build() {
  local module=$here/tools/$1 modfile name target sources version
  shift
  modfile=$module/go.mod
  name=${module##*/}
  case $module in
    *.mod)
      modfile=$module
      module=${modfile%/*}
      name=$(basename "$modfile" .mod)
      ;;
  esac
  mapfile -t sources < <(find "$module" -name '*.go' | sort)
  target=$cache/$name-$(digest "$modfile" "${modfile%.mod}.sum" "${sources[@]}")
  if [ ! -e "$target/complete" ]; then
    say "building $name: $(basename -a "$@" | tr '\n' ' ')"
    rm -rf "$target"
    mkdir -p "$target"
    version=$(sed -n 's|^.*k8s.io/kubernetes v|v|p' "$modfile" | head -1)
    if [ -d "$module/_overlay" ]; then
      overlay "$modfile" "$module/_overlay" "$target"
      modfile=$target.mod
    fi
    # In the background, so that a signal to this shell is heeded at once.
    (cd "$module" && exec env CGO_ENABLED="${cgo:-0}" GOTOOLCHAIN=local GOFLAGS=-buildvcs=false "$go" build -trimpath \
      -modfile "$modfile" \
      -tags remove_all_sd -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=${version:-v0.0.0}" \
      -o "$target/" "$@" 2> >(grep -v '^go: downloading' >&2)) &
    child=$!
    wait "$child"
    rm -rf "$target.mod" "$target.sum" "$target.sources"
    # The command of etcd's server module is named after the module's version.
    [ ! -e "$target/v3" ] || mv "$target/v3" "$target/etcd"
    [ ! -e "$target/server" ] || mv "$target/server" "$target/etcd"
    # Kubelets of other versions stand beside the one of the control plane.
    case $name in kubelet-*) mv "$target/hollow-node" "$target/hollow-node-${name#kubelet-}" ;; esac
    touch "$target/complete"
  fi
  ln -sf "$target"/* "$binaries/"
}

# overlay MODFILE FILES TARGET: make TARGET.mod, which is MODFILE with sources of Kubernetes in which
# those of the directory FILES replace the ones of the same path. Go forbids it in its module cache.
overlay() {
  cp -r "$(source_directory "$1" k8s.io/kubernetes)" "$3.sources"
  chmod -R u+w "$3.sources"
  cp -r "$2/." "$3.sources/"
  cp "$1" "$3.mod"
  cp "${1%.mod}.sum" "$3.sum"
  GOTOOLCHAIN=local "$go" mod edit -replace "k8s.io/kubernetes=$3.sources" "$3.mod"
}

# The programs that render and check manifests.
need_deploy_tools() {
  build deploy helm.sh/helm/v3/cmd/helm sigs.k8s.io/kustomize/kustomize/v5 github.com/yannh/kubeconform/cmd/kubeconform \
    github.com/rhysd/actionlint/cmd/actionlint github.com/helm-unittest/helm-unittest/cmd/helm-unittest \
    github.com/google/go-jsonnet/cmd/jsonnet
}

# module_directory TOOLS MODULE: where the sources of a module of tools/TOOLS are.
module_directory() { source_directory "$here/tools/$1/go.mod" "$2"; }

# source_directory MODFILE MODULE: where the sources of a module are that MODFILE names.
source_directory() {
  (cd "${1%/*}" && GOTOOLCHAIN=local "$go" mod download -modfile "$1" -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
}

# Sets $crds to the directory of the CRDs of the Prometheus operator.
need_crds() {
  crds=$(module_directory crds github.com/prometheus-operator/prometheus-operator)/example/prometheus-operator-crd
  [ -d "$crds" ] || { say "no CRDs in $crds"; return 1; }
}

# Sets $schemas to JSON schemas of what podinit's manifests consist of, derived from those modules.
need_schemas() {
  local maker=$here/../deploy/schemas.py
  schemas=$cache/schemas-$(digest "$maker" "$here/tools/kubernetes/go.mod" "$here/tools/crds/go.mod")
  [ -e "$schemas/complete" ] && return
  rm -rf "$schemas"
  need_crds
  "$suite_python" "$maker" "$(module_directory kubernetes k8s.io/kubernetes)/api/openapi-spec/swagger.json" "$crds" "$schemas"
  touch "$schemas/complete"
}
