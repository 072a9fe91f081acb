#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# SIMULATED: lsmod and dmesg, by the name it is called by, of the kernel that simulated-kmod plays and that writes
# down what they print. As cheap as the real programs, for a verify asks them on every node.
home=${IBREADY_SIMULATED_KERNEL:-/run/ibready-sandbox/kernel}
case ${0##*/} in
  lsmod)
    echo 'Module                  Size  Used by'
    [ -e "$home/lsmod" ] || exit 0
    while read -r name size count users; do
      # Who holds a module's devices open may have ended since.
      for holder in "$home/holders/$name"/*; do
        if [ -d "/proc/${holder##*/}" ]; then count=$((count + 1)); fi
      done
      printf '%-19s %8s  %s%s\n' "$name" "$size" "$count" "${users:+ $users}"
    done <"$home/lsmod"
    ;;
  dmesg) [ ! -e "$home/log" ] || exec cat "$home/log" ;;
  *)
    echo "${0##*/}: called as lsmod or dmesg alone" >&2
    exit 64
    ;;
esac
