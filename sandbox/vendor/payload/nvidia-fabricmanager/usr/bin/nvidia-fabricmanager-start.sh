#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# SIMULATED: starts the fabric manager; of NVLink 5 boards it would start NVLSM before.
exec /usr/bin/nv-fabricmanager -c "$1" --pid-file "$2"
