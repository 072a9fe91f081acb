# SPDX-License-Identifier: GPL-3.0-or-later
"""What BeeGFS' client and daemons log of their connections, and what each message means. Data only.

Source: the message texts of ThinkParQ/beegfs, by the file that is named beside each (client_module/source for the
client, common/source for the daemons), releases 7 and 8, and the release notes of BeeGFS 8.0.0. Confidence: medium
(read in the source), confirmed where ``seen`` is true (a log of the field has the message).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """``means``: what is wrong. ``remedy``: the next step. ``mount``: it keeps a client from mounting, so that a mount
    that came about later ends it."""

    means: str
    remedy: str
    mount: bool = False


@dataclass(frozen=True)
class Message:
    """``step``: what is said besides the reason, and counts only where no reason is told."""

    cause: str
    pattern: str
    source: str
    step: bool = False
    seen: bool = False


FALLBACK, TCP, RAILS, SERVER = "fallback", "tcp", "rails", "server"
MEMORY, BUFFERS, BROKEN, DEVICE = "memory", "buffers", "broken", "device"
AUTHENTICATION, INTERFACES, SETTINGS = "authentication", "interfaces", "settings"
VERSION, MODULE, MANAGEMENT, MOUNT, HELPER = "version", "module", "management", "mount", "helper"

_NICS = (
    "`beegfs-ctl --listnodes --nodetype=storage --details` (BeeGFS 8: `beegfs node list --with-nics`) shows which "
    "interfaces the servers offer"
)

CAUSES = {
    FALLBACK: Cause(
        "RDMA to a server failed, and its data goes another way",
        "ping the address that failed from this rail, and read the server's own beegfs-storage.log or beegfs-meta.log "
        "of that time: it tells whether it refused",
    ),
    TCP: Cause(
        "a server was reached by TCP at the first try: it offers no RDMA interface, or one that this client leaves out",
        f"{_NICS}; on the server install libbeegfs-ib and give the rail an IP address, on the client see connTcpOnly"
        "FilterFile and connInterfacesFile",
    ),
    RAILS: Cause(
        "BeeGFS found no RDMA interface here: its rail has no IP address, the interfaces file leaves it out, or it was "
        "built or installed without RDMA",
        "`ip -br addr` and `rdma link` show the rails; name them in connInterfacesFile; rebuild the client's module, "
        "or install libbeegfs-ib on a server",
    ),
    SERVER: Cause(
        "a server was not reached on any of its addresses",
        "see that its daemon runs, and that its ports (8003 storage, 8005 metadata, 8008 management) are open "
        "from here",
    ),
    MEMORY: Cause(
        "the daemon could not register memory with its HCA, and refuses RDMA: its limit of locked memory, or no memory",
        "give the daemon's unit LimitMEMLOCK=infinity and restart it; where it has that, lower connRDMABufNum",
    ),
    BUFFERS: Cause(
        "an RDMA connection could not be set up: its buffers are too many or too large for the HCA or for memory",
        "lower connRDMABufNum or connRDMABufSize in beegfs-client.conf (servers take what the client asks for), and "
        "mount anew",
    ),
    BROKEN: Cause(
        "an RDMA connection broke: the other end stopped answering, or the link lost what was sent",
        "look at the rail's counters (ib.counter.*), at the server's, and at what the server logged at that time",
    ),
    DEVICE: Cause(
        "an HCA went away while BeeGFS used it",
        "look for its reset or fault in dmesg (host.dmesg.mlx5), then mount anew, or restart the daemon",
    ),
    AUTHENTICATION: Cause(
        "the file of the connections' secret is missing, unreadable or another than the servers'",
        "connAuthFile has to name the same file, byte by byte, on the host and on every server: compare `sha256sum`; "
        "BeeGFS 8 makes another hash of it than 7, so that client and servers have to be of one series",
        mount=True,
    ),
    INTERFACES: Cause(
        "the interfaces file cannot be read, or names no interface that this host has",
        "compare connInterfacesFile, one name a line, with `ip -br addr`",
        mount=True,
    ),
    SETTINGS: Cause(
        "a line of the configuration is of another release, or asks for what this kernel's RDMA does not offer",
        "take the named setting out, or change it, in the configuration that belongs to the installed release",
        mount=True,
    ),
    VERSION: Cause(
        "client and server do not understand each other's RDMA handshake: they are of releases that do not go together",
        "compare the client's release with the servers', by their packages or the lines `Version:` of their logs, and "
        "install one release on all",
    ),
    MODULE: Cause(
        "the client's module was built against another kernel or RDMA stack",
        "set OFED_INCLUDE_PATH as role ibready.cluster.beegfs_client does, run `beegfs-client rebuild`, and mount anew",
        mount=True,
    ),
    MANAGEMENT: Cause(
        "the management server does not answer",
        "see sysMgmtdHost, whether beegfs-mgmtd runs there, and whether TCP and UDP 8008 are open from here",
        mount=True,
    ),
    MOUNT: Cause(
        "a mount was given up",
        "read the lines before it in dmesg and in /var/log/beegfs-client.log",
        mount=True,
    ),
    HELPER: Cause(
        "the client cannot tell its log to beegfs-helperd, so that what it says is lost",
        "start beegfs-helperd on this host; `systemctl status beegfs-helperd`",
        mount=True,
    ),
}

# Where a newer ibready told a cause that this one does not know.
OTHER = Cause("BeeGFS says so", "read the lines around it in the log")

_IBV, _APP, _CONFIG = "client IBVSocket.c", "client App.c", "client Config.c"
_SERVER = "common IBVSocket.cpp (libbeegfs-ib)"

# The first that matches counts.
MESSAGES = (
    Message(MEMORY, r"Couldn't allocate MR\.", _SERVER),
    Message(BUFFERS, r"bufSize\*bufNum too large!", _SERVER),
    Message(BUFFERS, r"buf(?:Num|Size) too small!", _SERVER),
    Message(BUFFERS, r"[Cc]ouldn't create (?:recv CQ|send CQ|QP|comp channel)\.(?: ErrCode: -?\d{1,6})?", _IBV),
    Message(BUFFERS, r"couldn't prepare (?:recvBuf|sendBuf) #\d{1,6}", _IBV),
    Message(BUFFERS, r"couldn't prepare (?:receive|send) buffer list", _IBV),
    Message(BUFFERS, r"couldn't alloc dma control memory region", _IBV),
    Message(BUFFERS, r"Couldn't allocate PD\.(?: ErrCode: -?\d{1,6})?", _IBV),
    Message(BUFFERS, r"Couldn't prepare (?:recv|send)Buf\.|Couldn't register control memory", _SERVER, step=True),
    Message(BUFFERS, r"[Cc]reation of CommContext failed", _IBV, step=True),
    Message(SETTINGS, r"Unsafe global rkey not supported on this platform", _IBV),
    Message(SETTINGS, r"RDMA keyType is dma and ib_get_dma_mr\(\) not supported", _IBV),
    Message(SETTINGS, r"The config argument '[^']{1,80}' is invalid", _CONFIG, seen=True),
    Message(VERSION, r"[Bb]ad private data (?:received|size)\.", _IBV),
    Message(BROKEN, r"Connection error \(wc_status: \d{1,3}; msg: [^()]{1,60}\)", _IBV),
    Message(BROKEN, r"Giving up after \d{1,6} stale connection retries", _IBV),
    Message(DEVICE, r"Device (?:has been )?removed\b", _IBV),
    Message(AUTHENTICATION, r"No connAuthFile configured", _CONFIG, seen=True),
    Message(AUTHENTICATION, r"Failed to open auth file: '[^']{0,200}'", _CONFIG),
    Message(AUTHENTICATION, r"Unable to read auth file: '[^']{0,200}'", _CONFIG),
    Message(AUTHENTICATION, r"Auth file is empty or too small: '[^']{0,200}'", _CONFIG),
    Message(AUTHENTICATION, r"Peer sent wrong authentication: \S{1,80}", "common AuthenticateChannelMsgEx.cpp"),
    Message(
        AUTHENTICATION,
        r"Rejecting message from unauthenticated peer: \S{1,80}",
        "common IncomingPreprocessedMessageWork.cpp",
    ),
    Message(INTERFACES, r"Unable to load configured interfaces file: \S{1,200}", _APP),
    Message(INTERFACES, r"Couldn't find any usable NIC", _APP),
    Message(MODULE, r"(?:disagrees about version of symbol|Unknown symbol) \w{1,60}", "Linux kernel/module/version.c"),
    Message(MANAGEMENT, r"Waiting for management server initialization timed out", _APP),
    Message(MOUNT, r"Retrieval of (?:root directory entry|storage server free space info) failed", _APP),
    Message(HELPER, r"Communication with user-space helper daemon failed", _APP),
    Message(HELPER, r"External logger \(provided by beegfs-helperd\) is unreachable", "client Logger.c"),
    Message(MOUNT, r"Mount sanity check failed\. Canceling mount", _APP, step=True),
    Message(MOUNT, r"Configuration error: Initialization of common objects failed", _APP, step=True, seen=True),
    Message(MOUNT, r"Component initialization error\.", _APP, step=True),
)

# Which reasons a step, or another way, follows from.
FOLLOWS = {
    FALLBACK: (BUFFERS, VERSION, SETTINGS, MODULE),
    BUFFERS: (MEMORY, BUFFERS, SETTINGS),
    MOUNT: (AUTHENTICATION, INTERFACES, SETTINGS, MANAGEMENT, MOUNT, HELPER),
}

# What the client says once a mount came about; what ends HELPER; and when a client began and ended.
READY = "BeeGFS mount ready"
HEARD_AGAIN = "External logger (provided by beegfs-helperd) is reachable now"
BEGUN, STOPPED = "BeeGFS Client Version: ", "All components stopped"
# What a daemon says besides; a client says STOPPED as well of a mount that it gave up. Source: App.cpp of each daemon,
# App.c of the client (App_stop).
EXITS = "Exiting now"
