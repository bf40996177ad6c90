#!/bin/bash
# Installs what nicloop needs on Debian 12 from Debian's own packages, and only
# what is missing, and installs nicloop into Go's bin folder, so that the first command
# starts with its own work. Safe to run again. Needs root, or sudo.
# With --slurm also what scripts/slurm-test needs, with --vm what nicloop vm does: QEMU,
# and the image that it boots, with --ice40 what scripts/bitstream does, with --mpi what nicloop mpi
# does and the MPI programs of its tests, with --waves the viewer of waveforms, GTKWave.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/versions.env

packages=(
  verilator g++ make zlib1g-dev     # the RTL simulator and what builds its models
  ccache                            # second builds in under a second
  yosys z3 boolector python3-click  # synthesis and formal proofs (yosys-smtbmc is Python)
  tshark                            # tests of the packet captures
  shellcheck tcl                    # scripts/check
  iverilog                          # scripts/four-state, a simulator that knows X
)

image=
for option; do
  case $option in
    --slurm) packages+=(slurmctld slurmd slurm-client munge) ;;
    --mpi)
      packages+=(
        libfabric-dev libfabric-bin openmpi-bin libopenmpi-dev # provider, mpirun, mpicc
        netpipe-openmpi hpcc python3-mpi4py                   # programs of tests
      )
      ;;
    --waves) packages+=(gtkwave) ;;
    --ice40) packages+=(nextpnr-ice40 fpga-icestorm) ;;
    --vm)
      packages+=(qemu-system-x86 cpio xz-utils libelf1)
      image=1
      ;;
    *)
      echo "setup: unknown option $option; known: --slurm --vm --ice40 --mpi --waves" >&2
      exit 2
      ;;
  esac
done

die() {
  echo "setup: $*" >&2
  exit 3
}

missing() {
  local p
  for p in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || echo "$p"
  done
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "expected root or sudo; as root run: apt-get install -y $*"
    as_root=(sudo)
  fi
  echo "setup: installing $*"
  # tshark asks whether users may capture from interfaces; nicloop only reads files.
  echo 'wireshark-common wireshark-common/install-setuid boolean false' |
    "${as_root[@]}" debconf-set-selections
  # Package scripts are chatty; what they say matters only when they fail.
  local log
  log=$(mktemp)
  if ! {
    "${as_root[@]}" apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"
  } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "apt-get failed; its output is above"
  fi
  rm -f "$log"
}

check_go() {
  local found
  found=$(go env GOVERSION 2>/dev/null) ||
    die "expected Go $GO_VERSION, found none: see https://go.dev/doc/install"
  found=${found#go}
  [ "$(printf '%s\n' "$GO_VERSION" "$found" | sort -V | head -n 1)" = "$GO_VERSION" ] ||
    die "expected Go $GO_VERSION or newer, found $found: see https://go.dev/doc/install"
  echo "setup: Go $found"
}

# A different simulator gives different numbers, so it is said, not refused.
note_version() { # NAME EXPECTED FOUND
  if [ "$2" = "$3" ]; then
    echo "setup: $1 $3"
  else
    echo "setup: $1 $3 (results were made with $2)" >&2
  fi
}

command -v dpkg-query >/dev/null || die "expected Debian $DEBIAN_RELEASE: dpkg-query is missing"
mapfile -t need < <(missing)
if [ "${#need[@]}" -gt 0 ]; then
  install_packages "${need[@]}"
else
  echo "setup: all ${#packages[@]} packages are installed"
fi
if [ -n "$image" ]; then
  scripts/vm-image
  scripts/vm-module rtl/examples/eth/driver >/dev/null # downloads the headers of the guest's kernel
fi
check_go
note_version verilator "$VERILATOR_VERSION" "$(verilator --version | cut -d' ' -f2)"
note_version yosys "$YOSYS_VERSION" "$(yosys -V | cut -d' ' -f2)"
note_version g++ "$GXX_MAJOR" "$(g++ -dumpversion | cut -d. -f1)"
note_version tshark "$TSHARK_MINOR" "$(tshark --version 2>/dev/null | sed -nE '1s/.* ([0-9]+\.[0-9]+)\..*/\1/p')"
# After the packages: without a C compiler Go would compile something else.
echo "setup: compiling nicloop, half a minute on two cores, once"
go install ./cmd/nicloop || die "go install failed; its output is above"
bin=$(go env GOBIN)
bin=${bin:-$(go env GOPATH)/bin}
case :$PATH: in
  *:"$bin":*) echo "setup: nicloop is in $bin" ;;
  *) echo "setup: nicloop is in $bin; to find it: export PATH=\"\$PATH:$bin\"" ;;
esac
