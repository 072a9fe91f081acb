#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the machines' root while it is built: boot loader, first start, and nothing that slows a boot.
# $1: the archive of security updates, where mmdebstrap has not added it. Beside it: the parts that base.py names.
set -eu
parts=$(dirname "$0")

# Newer kernels than the installed one come from there.
. /etc/os-release
[ -z "$1" ] || echo "deb $1 $VERSION_CODENAME-security main" >> /etc/apt/sources.list
apt-get -q update
rm -f /var/cache/apt/archives/*.deb
# The kernel that the machines are upgraded to, and its headers: fetched here, installed there.
apt-get -qy --no-install-recommends --download-only install linux-image-amd64 linux-headers-amd64

useradd --create-home --shell /bin/bash --uid 1000 ops
install -d -m 0700 -o ops -g ops /home/ops/.ssh
echo 'ops ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ops
chmod 0440 /etc/sudoers.d/ops

rm -f /etc/ssh/ssh_host_*
# One port for all, and the one by which qemu lets this computer in.
cat > /etc/ssh/sshd_config.d/ibready-machines.conf <<'CONF'
Port 22
Port 2222
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UseDNS no
MaxStartups 100
CONF

# Jobs share memory; half of so little is not enough for them.
cat > /etc/fstab <<'FSTAB'
/dev/vda1 / ext4 errors=remount-ro 0 1
tmpfs /dev/shm tmpfs nosuid,nodev,size=1100M 0 0
FSTAB
echo 'nameserver 10.0.2.3' > /etc/resolv.conf

# What is in the seed (an archive that the second disk is) is laid over the root, once.
cat > /etc/systemd/system/ibready-seed.service <<'UNIT'
[Unit]
Description=Take name, address and keys from the second disk, once
DefaultDependencies=no
ConditionPathExists=!/etc/ibready-machine.json
After=systemd-remount-fs.service systemd-tmpfiles-setup-dev-early.service
Before=sysinit.target systemd-networkd.service nftables.service
Requires=systemd-remount-fs.service

[Service]
Type=oneshot
ExecStart=/bin/tar --extract --file=/dev/vdb --directory=/ --no-same-owner
ExecStart=/bin/hostname --file /etc/hostname

[Install]
WantedBy=sysinit.target
UNIT
systemctl enable ibready-seed.service nftables.service ssh.service systemd-networkd.service >/dev/null 2>&1
systemctl disable systemd-networkd-wait-online.service >/dev/null 2>&1

# Timers that would hold apt's lock at a bad moment, and consoles that nobody looks at.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
    e2scrub_reap.service grub-common.service fstrim.timer systemd-pstore.service getty.target serial-getty@ttyS0.service; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done

# Ansible's libraries come as sources, and an emulated processor compiles them for nearly half of a small task.
python=$(python3 -c 'import site; print(site.getsitepackages()[0])')
install -D -m 0644 "$parts/compiled.py" "$python/ibready_compiled.py"
echo 'import ibready_compiled; ibready_compiled.install()' > "$python/ibready_compiled.pth"
echo 'd /run/ibready-compiled 0755 root root' > /etc/tmpfiles.d/ibready-compiled.conf

# A site's own kernel module, in the place of a vendor's: built for the kernel that is here, and loaded by nobody yet.
stand_in=ibready-vendor-stand-in
cp -r "$parts/$stand_in-1.0" /usr/src/
for kernel in /usr/lib/modules/*; do
    dkms install "$stand_in/1.0" -k "${kernel##*/}"
done

# Debian's kernels leave out iWARP in software (siw): of the same release's source, and loaded by nobody yet.
kernel=$(basename -a /usr/lib/modules/* | sort -V | tail -n 1)
source=linux-source-$(echo "$kernel" | cut -d . -f 1-2)
(
    cd /tmp
    apt-get -q download "$source=$(dpkg-query -W -f '${source:Version}' "linux-headers-$kernel")"
    dpkg-deb --fsys-tarfile "$source"_*.deb | tar -x --to-stdout "./usr/src/$source.tar.xz" |
        tar -xJ "$source/drivers/infiniband/sw/siw"
    siw=/tmp/$source/drivers/infiniband/sw/siw
    make -s -C "/usr/lib/modules/$kernel/build" "M=$siw" CONFIG_RDMA_SIW=m modules
    install -D -m 0644 "$siw/siw.ko" "/usr/lib/modules/$kernel/updates/siw.ko"
    depmod "$kernel"
    rm -rf "/tmp/$source"*
)

# There is no AF_VSOCK here, and its generator fails aloud.
mkdir -p /etc/systemd/system-generators
ln -sf /dev/null /etc/systemd/system-generators/systemd-ssh-generator

# The initial ram disk holds the drivers of this hardware only: it is read by the BIOS, sector by sector. The disk has a
# name that needs no udev there, nor anything else of what takes an emulated processor long to gather.
for part in dmsetup fsck keymap thermal udev; do
    find /usr/share/initramfs-tools/hooks /usr/share/initramfs-tools/scripts -name "$part" -delete
done
sed -i 's/^MODULES=.*/MODULES=list/' /etc/initramfs-tools/initramfs.conf
echo COMPRESSLEVEL=1 >> /etc/initramfs-tools/initramfs.conf
printf '%s\n' virtio_pci virtio_blk ext4 >> /etc/initramfs-tools/modules
update-initramfs -u -k all

mkdir -p /etc/default /boot/grub/i386-pc
cat > /etc/default/grub <<'CONF'
GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=`( . /etc/os-release; echo ${NAME} )`
GRUB_CMDLINE_LINUX_DEFAULT="quiet"
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0 mitigations=off panic=10"
GRUB_TERMINAL=console
GRUB_DISABLE_OS_PROBER=true
GRUB_DISABLE_LINUX_UUID=true
CONF
grub-mkimage --format=i386-pc --output=/boot/grub/i386-pc/core.img --prefix='(hd0,msdos1)/boot/grub' \
    biosdisk part_msdos ext2 normal linux gzio echo test search search_label search_fs_uuid configfile
cp -r /usr/lib/grub/i386-pc/. /boot/grub/i386-pc/
# update-grub of the running machine writes it anew whenever it is asked to.
newest() { printf '%s\n' /boot/vmlinuz-* | sort -V | tail -n 1; }
kernel=$(newest)
cat > /boot/grub/grub.cfg <<CONF
linux $kernel root=/dev/vda1 ro console=ttyS0 net.ifnames=0 mitigations=off panic=10 quiet
initrd /boot/initrd.img-${kernel#/boot/vmlinuz-}
boot
CONF
