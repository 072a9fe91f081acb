# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gpu area reads of a simulated node: ``nvidia-smi -q -x`` above all.

`node.more` understands: library (version of the driver's libraries where it is not the module's),
unlisted (indexes of GPUs that nvidia-smi leaves out), smi (by index, or "all": texts by the tag
that holds them, like {2: {gpu_recovery_action: Reset}}, with the tags around it where several hold
one of its name, like {2: {max_clocks/mem_clock: 2619 MHz}}), fabric and fabric_health (the same for the
elements below <fabric>), after_smi (lines after the XML) and smi_status.
"""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils._expect import profiles
from tests.gauntlet.node import Card, Node
from tests.gauntlet.tree import Tree

_ECC = ["Ampere", "Hopper", "Blackwell"]
_NO_UUID = "00000000-0000-0000-0000-000000000000"
_CLUSTER = "6f1d9a52-7d30-4c1e-9b1d-2f6a5a0c9e11"
_EVENTS = (
    *("gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown"),
    *("hw_thermal_slowdown", "hw_power_brake_slowdown", "sync_boost", "sw_thermal_slowdown"),
    "display_clocks_setting",
)


def add(tree: Tree, node: Node) -> None:
    """What nvidia-smi prints; a node without GPUs has none."""
    if not node.cards:
        return
    more = node.more
    cards = [one for one in node.cards if one.index not in more.get("unlisted", [])]
    body = "".join(_gpu(node, card) for card in cards)
    xml = f"""<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log>
\t<timestamp>Wed Nov 18 09:12:31 2026</timestamp>
\t<driver_version>{more.get("library", node.driver)}</driver_version>
\t<cuda_version>{node.cuda}</cuda_version>
\t<attached_gpus>{len(cards)}</attached_gpus>
{body}
</nvidia_smi_log>
"""
    tree.command("nvsmi_xml", xml + more.get("after_smi", ""), rc=more.get("smi_status", 0))
    for name in (*(str(card.index) for card in node.cards), "ctl", "-uvm"):
        mode = more.get("modes", {}).get(f"nvidia{name}", "0666")
        tree.file(f"/dev/nvidia{name}", b"", mode=int(mode, 8))
    tree.file("/proc/driver/nvidia/params", "DeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\n")


def bus_id(card: Card) -> str:
    """As nvidia-smi writes it."""
    return f"0000{card.address}".upper()


def _gpu(node: Node, card: Card) -> str:
    texts = {**node.more.get("smi", {}).get("all", {}), **_own(node, "smi", card)}
    xml = _render(node, card)
    for tag, text in texts.items():
        *around, tag = tag.split("/")
        inside = "".join(f"<{outer}>(?:(?!</{outer}>).)*?" for outer in around)
        xml, count = re.subn(f"({inside})<{tag}>[^<]*</{tag}>", rf"\g<1><{tag}>{text}</{tag}>", xml, flags=re.DOTALL)
        if not count:
            raise KeyError(tag)
    return xml


def _own(node: Node, key: str, card: Card) -> dict[str, str]:
    found: dict[str, str] = node.more.get(key, {}).get(card.index, {})
    return found


def _render(node: Node, card: Card) -> str:
    model = profiles.gpu_model(node.gpu)
    rows = model.architecture in _ECC and not node.mig
    bus, device = card.address[5:7].upper(), card.address[8:10]
    events = "".join(
        f"\t\t\t<clocks_event_reason_{name}>"
        f"{'Active' if name == 'gpu_idle' else 'Not Active'}</clocks_event_reason_{name}>\n"
        for name in _EVENTS
    )
    no = "No" if rows else "N/A"
    zero = "0" if rows else "N/A"
    pages = "0" if model.architecture == "Volta" else "N/A"
    mig = "N/A" if model.architecture in ("Volta", "Ada") else "Disabled"
    mig = "Enabled" if node.mig else mig
    gsp = "N/A" if model.architecture == "Volta" else node.driver
    virtual = "Pass-Through" if node.virtual else "None"
    return f"""\t<gpu id="{bus_id(card)}">
\t\t<product_name>{node.gpu_name}</product_name>
\t\t<product_brand>NVIDIA</product_brand>
\t\t<product_architecture>{model.architecture}</product_architecture>
\t\t<persistence_mode>Enabled</persistence_mode>
\t\t<addressing_mode>None</addressing_mode>
\t\t<mig_mode>
\t\t\t<current_mig>{mig}</current_mig>
\t\t\t<pending_mig>{mig}</pending_mig>
\t\t</mig_mode>
\t\t<mig_devices>
\t\t\tNone
\t\t</mig_devices>
\t\t<driver_model>
\t\t\t<current_dm>N/A</current_dm>
\t\t\t<pending_dm>N/A</pending_dm>
\t\t</driver_model>
\t\t<serial>16530230{card.index:05d}</serial>
\t\t<uuid>{card.uuid}</uuid>
\t\t<minor_number>{card.index}</minor_number>
\t\t<vbios_version>96.00.A5.00.01</vbios_version>
\t\t<board_part_number>692-2G520-0200-000</board_part_number>
\t\t<inforom_version>
\t\t\t<img_version>G520.0200.00.05</img_version>
\t\t</inforom_version>
\t\t<gpu_virtualization_mode>
\t\t\t<virtualization_mode>{virtual}</virtualization_mode>
\t\t\t<host_vgpu_mode>N/A</host_vgpu_mode>
\t\t</gpu_virtualization_mode>
\t\t<gpu_recovery_action>None</gpu_recovery_action>
\t\t<gsp_firmware_version>{gsp}</gsp_firmware_version>
\t\t<pci>
\t\t\t<pci_bus>{bus}</pci_bus>
\t\t\t<pci_device>{device}</pci_device>
\t\t\t<pci_domain>{card.address[:4]}</pci_domain>
\t\t\t<pci_device_id>{node.gpu_device.upper()}10DE</pci_device_id>
\t\t\t<pci_bus_id>{bus_id(card)}</pci_bus_id>
\t\t\t<pci_sub_system_id>16C110DE</pci_sub_system_id>
\t\t\t<pci_gpu_link_info>
\t\t\t\t<pcie_gen>
\t\t\t\t\t<max_link_gen>{card.generation}</max_link_gen>
\t\t\t\t\t<current_link_gen>{card.generation}</current_link_gen>
\t\t\t\t\t<device_current_link_gen>{card.generation}</device_current_link_gen>
\t\t\t\t\t<max_device_link_gen>{card.generation}</max_device_link_gen>
\t\t\t\t\t<max_host_link_gen>N/A</max_host_link_gen>
\t\t\t\t</pcie_gen>
\t\t\t\t<link_widths>
\t\t\t\t\t<max_link_width>16x</max_link_width>
\t\t\t\t\t<current_link_width>{card.width}x</current_link_width>
\t\t\t\t</link_widths>
\t\t\t</pci_gpu_link_info>
\t\t\t<replay_counter>0</replay_counter>
\t\t</pci>
\t\t<performance_state>P0</performance_state>
\t\t<clocks_event_reasons>
{events}\t\t</clocks_event_reasons>
\t\t<fb_memory_usage>
\t\t\t<total>{node.memory_mib} MiB</total>
\t\t\t<used>0 MiB</used>
\t\t</fb_memory_usage>
\t\t<bar1_memory_usage>
\t\t\t<total>{_bar1(node)} MiB</total>
\t\t\t<used>1 MiB</used>
\t\t</bar1_memory_usage>
\t\t<compute_mode>Default</compute_mode>
\t\t<ecc_mode>
\t\t\t<current_ecc>Enabled</current_ecc>
\t\t\t<pending_ecc>Enabled</pending_ecc>
\t\t</ecc_mode>
{_bits() if model.architecture == "Volta" else _errors(no)}
\t\t<utilization>
\t\t\t<gpu_util>0 %</gpu_util>
\t\t</utilization>
\t\t<retired_pages>
\t\t\t<multiple_single_bit_retirement>
\t\t\t\t<retired_count>{pages}</retired_count>
\t\t\t</multiple_single_bit_retirement>
\t\t\t<double_bit_retirement>
\t\t\t\t<retired_count>{pages}</retired_count>
\t\t\t</double_bit_retirement>
\t\t\t<pending_retirement>{"No" if pages == "0" else pages}</pending_retirement>
\t\t</retired_pages>
\t\t<remapped_rows>
\t\t\t<remapped_row_corr>{zero}</remapped_row_corr>
\t\t\t<remapped_row_unc>{zero}</remapped_row_unc>
\t\t\t<remapped_row_pending>{no}</remapped_row_pending>
\t\t\t<remapped_row_failure>{no}</remapped_row_failure>
\t\t\t<row_remapper_histogram>
\t\t\t\t<row_remapper_histogram_max>{zero} bank(s)</row_remapper_histogram_max>
\t\t\t\t<row_remapper_histogram_none>{zero}</row_remapper_histogram_none>
\t\t\t</row_remapper_histogram>
\t\t</remapped_rows>
{_temperature(model.architecture)}
\t\t<gpu_power_readings>
\t\t\t<current_power_limit>700.00 W</current_power_limit>
\t\t\t<default_power_limit>700.00 W</default_power_limit>
\t\t</gpu_power_readings>
{_clocks()}
{_fabric(node, card)}\t\t<processes>
\t\t</processes>
\t</gpu>
"""


def _errors(no: str) -> str:
    return f"""\t\t<ecc_errors>
\t\t\t<volatile>
\t\t\t\t<sram_correctable>0</sram_correctable>
\t\t\t\t<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
\t\t\t\t<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
\t\t\t\t<dram_correctable>0</dram_correctable>
\t\t\t\t<dram_uncorrectable>0</dram_uncorrectable>
\t\t\t</volatile>
\t\t\t<aggregate>
\t\t\t\t<sram_correctable>0</sram_correctable>
\t\t\t\t<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
\t\t\t\t<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
\t\t\t\t<dram_correctable>0</dram_correctable>
\t\t\t\t<dram_uncorrectable>0</dram_uncorrectable>
\t\t\t\t<sram_threshold_exceeded>{no}</sram_threshold_exceeded>
\t\t\t</aggregate>
\t\t\t<channel_repair_pending>{no}</channel_repair_pending>
\t\t\t<tpc_repair_pending>{no}</tpc_repair_pending>
\t\t\t<unrepairable_memory>{no}</unrepairable_memory>
\t\t</ecc_errors>"""


def _temperature(architecture: str) -> str:
    """Since Ada and Hopper as the way that is left to the limit, before as degrees."""
    if architecture in ("Volta", "Ampere"):
        limits = {"gpu_temp_max": 92, "gpu_temp_slow": 89, "gpu_temp_max_gpu": 85, "gpu_temp_max_mem": 95}
        lines = [f"\t\t\t<{name}_threshold>{limit} C</{name}_threshold>\n" for name, limit in limits.items()]
    else:
        limits = {"gpu_temp_max": -8, "gpu_temp_slow": -2, "gpu_temp_max_gpu": 0, "gpu_temp_max_mem": 0}
        lines = ["\t\t\t<gpu_temp_tlimit>53 C</gpu_temp_tlimit>\n"]
        lines += [
            f"\t\t\t<{name}_tlimit_threshold>{limit} C</{name}_tlimit_threshold>\n" for name, limit in limits.items()
        ]
    now = "\t\t\t<gpu_temp>34 C</gpu_temp>\n\t\t\t<memory_temp>40 C</memory_temp>\n"
    return f"\t\t<temperature>\n{now}{''.join(lines)}\t\t</temperature>"


def _clocks() -> str:
    """As an idle GPU has them; nobody changed them."""
    clocks = {
        "clocks": ("345 MHz", "2619 MHz"),
        "applications_clocks": ("1980 MHz", "2619 MHz"),
        "default_applications_clocks": ("1980 MHz", "2619 MHz"),
        "max_clocks": ("1980 MHz", "2619 MHz"),
    }
    return "\n".join(
        f"\t\t<{kind}>\n\t\t\t<graphics_clock>{graphics}</graphics_clock>\n"
        f"\t\t\t<mem_clock>{memory}</mem_clock>\n\t\t</{kind}>"
        for kind, (graphics, memory) in clocks.items()
    )


def _bits() -> str:
    """GPUs before Turing count by bits and not by kind of memory."""
    counts = "".join(
        f"\t\t\t\t<{bits}>\n\t\t\t\t\t<device_memory>0</device_memory>\n\t\t\t\t\t<total>0</total>\n\t\t\t\t</{bits}>\n"
        for bits in ("single_bit", "double_bit")
    )
    kinds = "".join(f"\t\t\t<{kind}>\n{counts}\t\t\t</{kind}>\n" for kind in ("volatile", "aggregate"))
    return f"\t\t<ecc_errors>\n{kinds}\t\t</ecc_errors>"


def _bar1(node: Node) -> int:
    """The next power of two: as large as the memory where the BAR can be resized."""
    size = 256
    while size < node.memory_mib:
        size *= 2
    return size


def _fabric(node: Node, card: Card) -> str:
    """Joined by NVSwitches or not; health as GPUs of that generation tell it."""
    joined = node.fabric_manager or node.imex
    texts = {
        "state": "Completed" if joined else "N/A",
        "status": "Success" if joined else "N/A",
        "cliqueId": ("1" if node.imex else "0") if joined else "N/A",
        "clusterUuid": (_CLUSTER if node.imex else _NO_UUID) if joined else "N/A",
        **_own(node, "fabric", card),
    }
    reported = joined and profiles.gpu_model(node.gpu).architecture == "Blackwell"
    health = {
        "summary": "Healthy" if reported else "N/A",
        "bandwidth": "Full" if reported and node.imex else "N/A",
        "route_recovery_in_progress": "False" if reported else "N/A",
        "route_unhealthy": "False" if reported else "N/A",
        "access_timeout_recovery": "False" if reported else "N/A",
        "incorrect_configuration": "None" if reported else "N/A",
        **_own(node, "fabric_health", card),
    }
    lines = [f"\t\t\t<{tag}>{text}</{tag}>\n" for tag, text in texts.items()]
    lines += ["\t\t\t<health>\n"]
    lines += [f"\t\t\t\t<{tag}>{text}</{tag}>\n" for tag, text in health.items()]
    lines += ["\t\t\t</health>\n"]
    return "\t\t<fabric>\n" + "".join(lines) + "\t\t</fabric>\n"
