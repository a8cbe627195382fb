#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the system packages that are required to build and test OpenVideoToolbox on Debian and
# Ubuntu. It installs only missing packages. If none is missing, it does nothing and needs no
# privileges.
#
#   scripts/install-dependencies.sh            packages for building and running
#   scripts/install-dependencies.sh --tests    also packages for the tests and measurements
#   scripts/install-dependencies.sh --browser  also Chromium, for check-web and check-webcodecs
#   scripts/install-dependencies.sh --cross    also an emulator and a C library for 64-bit ARM,
#                                              for check-neon
#   scripts/install-dependencies.sh --c-interface
#                                              also compilers and tools for test-c-interface
#   scripts/install-dependencies.sh --packaging
#                                              instead, packages for installing and for making
#                                              packages
#   scripts/install-dependencies.sh --package-checks
#                                              instead, packages for checking packages
#   scripts/install-dependencies.sh --check    lists missing packages; exits with 1 if there are any
set -eu

# Headers and libraries, which are found through pkg-config, and git, which Swift's package manager
# requires. The static Foundation links to libcurl.
packages="make pkg-config git libcurl4-openssl-dev libavformat-dev libavcodec-dev libavfilter-dev libavutil-dev libswresample-dev libswscale-dev libsqlite3-dev libsrtp2-dev libssl-dev libx264-dev libx265-dev libsdl2-dev"
# ffmpeg and ffprobe check the files that this package writes. OpenH264 is a second decoder for the
# engine's streams and one of the encoders in the comparisons. python3 runs scripts/matrix and
# scripts/compare-ffmpeg. tshark analyzes the packets of `vtencode call`. openssl creates keys for
# tests. readelf and nm from binutils show what the permissive build links. xvfb provides a screen
# for windows on machines without one. nginx with its RTMP module is a server of live streams. The
# tools of libheif read the HEIC files that ImageIO writes, and write others. libde265's program is
# a second decoder for HEVC streams.
test_packages="ffmpeg libopenh264-dev python3 tshark openssl binutils xvfb nginx libnginx-mod-rtmp libheif-examples libde265-examples"
# Later than Debian 12, the codecs of libheif are packages of their own.
if ! grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
  test_packages="$test_packages libheif-plugin-libde265 libheif-plugin-x265"
fi
check_only=no
headers=yes
for argument in "$@"; do
  case "$argument" in
    --tests) packages="$packages $test_packages" ;;
    --browser)
      # Ubuntu's package only installs a launcher that requires snapd.
      if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1; then :
      elif grep -qs '^ID=ubuntu' /etc/os-release; then
        echo "install-dependencies: Ubuntu has Chromium as a snap alone: snap install chromium, then try again." >&2
        exit 1
      else packages="$packages chromium"; fi ;;
    --cross) packages="$packages qemu-user libc6-dev-arm64-cross libgcc-12-dev-arm64-cross" ;;
    --c-interface) packages="$packages gcc g++ cmake rustc valgrind" ;;
    --packaging) packages="python3 gzip xz-utils binutils dpkg-dev" headers=no ;;
    --package-checks) packages="lintian debootstrap" headers=no ;;
    --check) check_only=yes ;;
    *)
      echo "install-dependencies: unknown argument '$argument' (known: --tests, --browser, --cross, --c-interface, --packaging, --package-checks, --check)" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "install-dependencies: this script knows Debian and Ubuntu (apt) only." >&2
  echo "On another system install these libraries with their headers, then build: FFmpeg 5.1 or later" >&2
  echo "(libavformat, libavcodec, libavfilter, libavutil, libswresample, libswscale), libcurl, SQLite, libsrtp 2, OpenSSL 3, libx264, libx265, SDL 2, and pkg-config." >&2
  exit 1
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  # Tools may have been installed in other ways. On Debian, pkg-config is also provided by pkgconf.
  case "$package" in make | pkg-config | git | ffmpeg | python3 | lintian | debootstrap | gcc | g++ | cmake | rustc | valgrind)
    if command -v "$package" >/dev/null 2>&1; then continue; fi ;;
  esac
  # One of three flavours of it, which exclude each other.
  if [ "$package" = libcurl4-openssl-dev ] && pkg-config --exists libcurl 2>/dev/null; then continue; fi
  case "$state" in
    *" installed") ;;
    *) missing="$missing $package" ;;
  esac
done
missing=${missing# }

# FFmpeg 5.1 is required, because it is the first version whose channel layouts have an order.
check_ffmpeg() {
  [ "$headers" = yes ] || return 0
  if pkg-config --atleast-version=59.27.100 libavformat 2>/dev/null; then return 0; fi
  echo "install-dependencies: FFmpeg's libraries are older than 5.1 here (libavformat $(pkg-config --modversion libavformat 2>/dev/null || echo "not found"), needed: 59.27)." >&2
  echo "Debian 12 and Ubuntu 24.04 have them new enough." >&2
  return 1
}

if [ -z "$missing" ]; then check_ffmpeg; exit; fi
if [ "$check_only" = yes ]; then
  echo "missing: $missing"
  exit 1
fi

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root="sudo"
else
  echo "install-dependencies: missing: $missing" >&2
  echo "Installing needs root. Run this as an administrator, then try again:" >&2
  echo "    apt-get update && apt-get install -y $missing" >&2
  exit 1
fi

echo "Installing with apt: $missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# DPkg::Lock::Timeout waits for another apt process, for example just after the machine has started.
run_apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" \
    >>"$log" 2>&1 </dev/null
}
if ! { run_apt update && run_apt install --no-install-recommends $missing; }; then
  tail -n 20 "$log" >&2
  echo "install-dependencies: apt could not install: $missing (its last lines are above)." >&2
  echo "Check the network and the package sources, then try again." >&2
  exit 1
fi
check_ffmpeg
