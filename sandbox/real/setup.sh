#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the image while it is built, after node/setup.sh: the kernel's name, and apt's lists.
# $1: the archive of security updates, where mmdebstrap has not added it. Beside it: kernel_name.c.
set -eu
parts=$(cd "$(dirname "$0")" && pwd)

. /etc/os-release
[ -z "$1" ] || echo "deb $1 $VERSION_CODENAME-security main" >> /etc/apt/sources.list
apt-get -q update

# Ubuntu's driver comes built for each kernel; a mirror may have a kernel before it has what belongs to it.
modules=linux-modules-nvidia-580-server-open
if [ "$ID" = ubuntu ]; then
    cd /tmp
    found=
    for release in $(apt-cache pkgnames "$modules-" | sed -n "s/^$modules-\([0-9.]*-[0-9]*-generic\)$/\1/p" | sort -rV); do
        if apt-get -q download "$modules-$release"; then found=$release; break; fi
    done
    [ -n "$found" ] || { echo "the archive has $modules for no kernel" >&2; exit 1; }
    rm -f -- *.deb
    apt-get -qy --no-install-recommends install "linux-image-$found"
fi

# Of the kernel that is here; preloaded from the first start on.
kernel=$(basename -a /usr/lib/modules/* | sort -V | tail -n 1)
cc -shared -fPIC -O2 "-DKERNEL=\"$kernel\"" -o /usr/local/lib/ibready-kernel-name.so "$parts/kernel_name.c"

# Those who read it out of /proc find the same.
echo "$kernel" > /etc/ibready-kernel-name
cat > /etc/systemd/system/ibready-kernel-name.service <<'UNIT'
[Unit]
Description=Show the name of the kernel that the packages are for (simulated)
DefaultDependencies=no
Before=sysinit.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mount --bind /etc/ibready-kernel-name /proc/sys/kernel/osrelease

[Install]
WantedBy=sysinit.target
UNIT
systemctl enable ibready-kernel-name.service > /dev/null 2>&1

# No hardware is asked for, so that the ram disk, which is made anew with the driver, is a small one: what a machine's
# disk needs (disk.py).
sed -i 's/^MODULES=.*/MODULES=list/' /etc/initramfs-tools/initramfs.conf
printf '%s\n' virtio_pci virtio_blk ext4 >> /etc/initramfs-tools/modules
update-initramfs -u -k all
