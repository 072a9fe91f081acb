#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the fabric image while it is built, on top of the node image.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends \
    ibsim-utils libumad2sim0 opensm infiniband-diags nftables >/dev/null
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb
