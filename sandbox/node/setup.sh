#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the node image while it is built: the ordinary user, ssh, and what a container cannot do.
set -eu

useradd --create-home --shell /bin/bash --uid 1000 ops
install -d -m 0700 -o ops -g ops /home/ops/.ssh
echo 'ops ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ops
chmod 0440 /etc/sudoers.d/ops

rm -f /etc/ssh/ssh_host_*
cat > /etc/ssh/sshd_config.d/ibready-sandbox.conf <<'CONF'
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UseDNS no
MaxStartups 100
CONF

# Without CAP_SYS_RESOURCE nobody can raise memlock in a container; were pam_limits required,
# a limits.d file with "memlock unlimited" would lock everybody out.
sed -i -E 's/^(session\s+)required(\s+pam_limits\.so)/\1optional\2/' /etc/pam.d/*

# Units that need the machine itself, and timers that would hold apt's lock at a bad moment.
for unit in systemd-modules-load.service proc-sys-fs-binfmt_misc.automount systemd-pstore.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
    console-getty.service getty.target; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done
systemctl enable ssh.service >/dev/null 2>&1
