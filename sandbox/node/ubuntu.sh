#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the node image after setup.sh: the simulated umad, and what is not Ubuntu 24.04 is made to say that it is.
set -eu

# Only the library that stands in for the kernel's umad; the package itself is not installed,
# because a bare node has no InfiniBand software.
cd /tmp
apt-get download -qq libumad2sim0
dpkg-deb -x libumad2sim0_*.deb unpacked
library=$(find unpacked -name libumad2sim.so)
install -D -m 0644 "$library" /usr/local/lib/ibready-sandbox/libumad2sim.so
rm -rf unpacked libumad2sim0_*.deb

# What is built for this machine's kernel is simulated: the distribution's own builder would fail
# here. (Pinned below zero; the simulated archive's builder has another origin.)
cat > /etc/apt/preferences.d/ibready-sandbox <<'PINS'
Package: dkms linux-headers-* linux-image-* linux-modules-* nvidia-* libnvidia-*
Pin: release o=Debian
Pin-Priority: -1

Package: dkms linux-headers-* linux-image-* linux-modules-* nvidia-* libnvidia-*
Pin: release o=Ubuntu
Pin-Priority: -1
PINS

. /etc/os-release
if [ "$ID:${VERSION_ID:-}" = ubuntu:24.04 ]; then exit 0; fi

rm -f /etc/os-release
cat > /usr/lib/os-release <<'RELEASE'
PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.3 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=noble
RELEASE
ln -s ../usr/lib/os-release /etc/os-release
cat > /etc/lsb-release <<'RELEASE'
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE=24.04
DISTRIB_CODENAME=noble
DISTRIB_DESCRIPTION="Ubuntu 24.04.3 LTS"
RELEASE
echo trixie/sid > /etc/debian_version
