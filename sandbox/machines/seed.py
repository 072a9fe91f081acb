# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes one machine out of the base image: an archive that its second disk is."""

from __future__ import annotations

import json

from sandbox.keys import KeyPair
from sandbox.machines.config import MACHINES, SSH_PORT, Pair
from sandbox.parcel import pack

# qemu's own network: this address is the machine's, whichever machine it is.
MANAGEMENT = """\
[Match]
Name=eth0

[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
LinkLocalAddressing=no
"""
_DATA = """\
[Match]
Name=eth1

[Network]
Address={address}/24
LinkLocalAddressing=ipv6
"""
# A site's own firewall: what a role has to open, and what has to stay shut.
_FIREWALL = """\
#!/usr/sbin/nft -f
flush ruleset
table inet site {{
  chain input {{
    type filter hook input priority filter; policy drop;
    iif "lo" accept
    ct state established,related accept
    iifname "eth0" tcp dport {{ 22, {port} }} accept
    meta l4proto {{ icmp, ipv6-icmp }} accept
  }}
}}
"""


def seed(box: Pair, machine: str, operator_key: str, host_key: KeyPair) -> bytes:
    """Return a machine's own files as a tar."""
    names = "".join(f"{box.address(each)} {each}\n" for each in MACHINES)
    # As machine.json says, this is no simulation: nothing that a check looks at is made up.
    settings = {"machine": machine, "pair": box.name, "emulated": "CPU, disk and network card"}
    return pack(
        {
            "etc/hostname": (machine + "\n", 0o644),
            "etc/hosts": (f"127.0.0.1 localhost\n::1 localhost\n{names}", 0o644),
            "etc/systemd/network/10-management.network": (MANAGEMENT, 0o644),
            "etc/systemd/network/20-data.network": (
                _DATA.format(address=box.address(machine)),
                0o644,
            ),
            "etc/nftables.conf": (_FIREWALL.format(port=SSH_PORT), 0o755),
            "etc/ssh/ssh_host_ed25519_key": (host_key.private, 0o600),
            "etc/ssh/ssh_host_ed25519_key.pub": (host_key.public, 0o644),
            "home/ops/.ssh/authorized_keys": (operator_key, 0o644),
            "etc/ibready-machine.json": (json.dumps(settings) + "\n", 0o644),
        }
    )
