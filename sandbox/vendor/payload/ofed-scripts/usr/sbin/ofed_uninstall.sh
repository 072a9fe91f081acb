#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# SIMULATED ofed_uninstall.sh: removes the stand-in packages of this release, asks unless --force.
force=no
for word in "$@"; do
    case "$word" in
    --force) force=yes ;;
    -q | --unload-modules | --keep-mft) ;;
    -h | --help) echo "Usage: $0 [--force]  (SIMULATED by ibready's sandbox)"; exit 0 ;;
    *) echo "Unknown option: $word" >&2; exit 1 ;;
    esac
done
packages="$(/usr/bin/ofed_info | sed -e '1,/^-----/d' -e '/^$/d')"
if [ "$force" = no ]; then
    echo "This program will uninstall all @OFED_NAME@-@NIC_DRIVER@ packages on your machine."
    printf 'Do you want to continue?[y/N]:'
    read -r answer
    case "$answer" in y | Y | yes) ;; *) exit 1 ;; esac
fi
# A copy of this script is read by the shell while the package that brings it goes.
# shellcheck disable=SC2086 # They are words.
set -- $packages
[ "$#" -gt 0 ] || exit 0
if command -v apt-get >/dev/null; then
    exec env DEBIAN_FRONTEND=noninteractive apt-get -q -y --allow-change-held-packages purge "$@"
fi
exec dnf -q -y --setopt=clean_requirements_on_remove=False remove "$@"
