# SPDX-License-Identifier: GPL-3.0-or-later
"""What opensm is told: its files, the values that it takes, and what it takes without a restart.

Source: opensm 3.3.23 (osm_opensm.c, osm_subnet.c, osm_prtn_config.c, osm_state_mgr.c, ib_types.h)
and the packages of Debian 12 and 13, read. Confidence: confirmed where nothing else is said.
"""

from __future__ import annotations

# One folder and one unit for each instance's name; the unit is a template.
FOLDER = "/etc/ibready/opensm"
UNIT = "ibready-opensm@{}.service"
UNIT_FILE = "/etc/systemd/system/ibready-opensm@.service"
LOGROTATE = "/etc/logrotate.d/ibready-opensm"
LOGS = "/var/log/ibready-opensm"
CACHE = "/var/lib/ibready-opensm"

# osm_opensm.c, static_routing_modules. opensm tries them in order, then minhop.
ROUTING_ENGINES = (
    "minhop",
    "updn",
    "dnup",
    "file",
    "ftree",
    "lash",
    "dor",
    "torus-2QoS",
    "nue",
    "dfsssp",
    "sssp",
)
NO_FALLBACK = "no_fallback"
# They read root_guid_file, at each heavy sweep.
ROOTED = ("updn", "dnup", "ftree")

# IBTA's codes, ib_types.h: bytes, and Gb/s of a path record.
MTU_CODES = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
RATE_CODES = {
    2.5: 2,
    5: 5,
    10: 3,
    14: 11,
    20: 6,
    25: 15,
    28: 19,
    30: 4,
    40: 7,
    50: 20,
    56: 12,
    60: 8,
    80: 9,
    100: 16,
    112: 13,
    120: 10,
    168: 14,
    200: 17,
    300: 18,
    400: 21,
    600: 22,
}

DEFAULT_PKEY = 0x7FFF
# Words for members. opensm takes a beginning of one as well ("A" is ALL), so only whole words pass.
KEYWORDS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF")

# osm_subnet.c, opt_tbl, can_update: what a heavy sweep, and so SIGHUP, takes up. A key that left
# the file keeps its value; what is not here waits for a restart.
LIVE = frozenset(
    (
        "m_key",
        "sm_key",
        "sa_key",
        "m_key_lease_period",
        "m_key_protection_level",
        "sweep_interval",
        "max_wire_smps",
        "max_wire_smps2",
        "max_smps_timeout",
        "max_msg_fifo_timeout",
        "sm_priority",
        "max_op_vls",
        "force_link_speed",
        "force_link_speed_ext",
        "force_link_width",
        "reassign_lids",
        "ignore_other_sm",
        "disable_multicast",
        "subnet_timeout",
        "packet_life_time",
        "vl_stall_count",
        "leaf_vl_stall_count",
        "head_of_queue_lifetime",
        "leaf_head_of_queue_lifetime",
        "local_phy_errors_threshold",
        "overrun_errors_threshold",
        "sminfo_polling_timeout",
        "polling_retry_number",
        "sweep_on_trap",
        "connect_roots",
        "log_max_size",
        "log_flags",
        "force_log_flush",
        "part_enforce",
        "keep_pkey_indexes",
        "qos",
        "port_shifting",
        "scatter_ports",
        "exit_on_fatal",
        "honor_guid2lid_file",
        "babbling_port_policy",
        "drop_event_subscriptions",
        "mcgroup_join_validation",
        "enable_quirks",
        "no_clients_rereg",
        "consolidate_ipv6_snm_req",
        "lash_start_vl",
        "sm_sl",
        "nue_max_num_vls",
        "log_prefix",
        "quasi_ftree_indexing",
    )
)
# What the role says itself, each with the variable that does.
OWN = {
    "guid": "port of subnet_manager_fabrics",
    "sm_priority": "subnet_manager_hosts or subnet_manager_priorities",
    "routing_engine": "subnet_manager_routing_engine",
    "root_guid_file": "subnet_manager_root_guids",
    "partition_config_file": "subnet_manager_partitions",
    "no_partition_enforcement": "part_enforce in subnet_manager_settings",
    "sminfo_polling_timeout": "subnet_manager_takeover_seconds",
    "polling_retry_number": "subnet_manager_takeover_seconds",
    "log_file": "nothing: it is /var/log/ibready-opensm/NAME.log",
    "log_max_size": "subnet_manager_log_mb",
    "force_log_flush": "nothing: it is TRUE, for the run reads the log",
    "dump_files_dir": "nothing: it is /var/lib/ibready-opensm/NAME",
    "daemon": "nothing: systemd runs it",
}
# How often a standby asks before it takes over (opensm's own number).
POLLS = 4
