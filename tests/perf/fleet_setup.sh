#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the node image while the benchmark's image is built upon it.
set -eu
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends infiniband-diags >/dev/null
