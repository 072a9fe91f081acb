# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for GPUs and their driver (gpu.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_SMI = "nvsmi_xml|nvsmi_q"
_MODULE = "/proc/driver/nvidia/version|/sys/module/nvidia/version"

ENTRIES = declare(
    error(
        "gpu.driver.answers",
        "nvidia-smi reaches the driver, and its output is understood",
        "nvidia-smi is the first source of all that is known of GPUs. Where it gives no answer, "
        "the checks of what it would have shown are left out, and this one stands for them.",
        ("the nvidia kernel module is not loaded", "the driver is not installed"),
        "run `nvidia-smi` by hand; load the module with `modprobe nvidia` and look at dmesg",
        (_SMI,),
    ),
    error(
        "gpu.driver.versions",
        "The driver's libraries and its kernel module are of one version",
        "With two versions no program reaches a GPU. It happens when packages are updated and the "
        "old module stays in the kernel.",
        (
            "the packages were updated and the old module is still loaded",
            "modules or libraries of another driver are in the way",
        ),
        "drain and reboot the node, or stop all users of the GPUs and reload the nvidia modules",
        (_SMI, _MODULE),
    ),
    error(
        "gpu.driver.expected",
        "The expected driver version runs",
        "Compared with the inventory's ibready_expect.driver, which may leave out the last "
        "numbers. Without it the check is skipped.",
        ("the driver was not updated, or the node was not rebooted since",),
        "install the wanted driver version and reboot the node",
        (f"{_SMI}|{_MODULE}",),
    ),
    error(
        "gpu.driver.modules",
        "The kernel modules are of the kind that these GPUs need",
        "Blackwell and Grace need NVIDIA's open kernel modules, Volta and older the proprietary "
        "ones. The wrong kind does not start the GPU.",
        ("the other kind of driver package was installed",),
        "install the other kind (nvidia-open or cuda-drivers) in the same version and reboot",
        ("/proc/driver/nvidia/version",),
    ),
    warning(
        "gpu.driver.persistence",
        "Something keeps the driver's state between jobs",
        "Without persistence mode every first program initialises the GPU anew: seconds of "
        "waiting, lost settings, and nvidia-smi itself gets slow.",
        ("nvidia-persistenced does not run",),
        "`systemctl enable --now nvidia-persistenced` without --no-persistence-mode",
        (_SMI,),
    ),
    error(
        "gpu.device.count",
        "All GPUs are there",
        "Compared with the inventory, the hardware profile, or else the GPUs on the PCI bus.",
        ("a GPU fell off the bus", "the driver could not start a GPU"),
        "compare `lspci -d 10de:` with `nvidia-smi -L`; look at dmesg; power-cycle the node",
        (_SMI,),
    ),
    error(
        "gpu.device.answers",
        "Every GPU answers for all that nvidia-smi asks of it",
        "nvidia-smi writes `Unknown Error` or `ERR!` in place of a value that a GPU did not give. "
        "What all equal GPUs do not give is the driver's, and unknown.",
        ("the GPU, its infoROM or its system processor (GSP) begins to fail",),
        "drain the host; look for Xid and NVRM in dmesg; reset the GPU, power cycle the host, replace the GPU",
        (_SMI,),
    ),
    error(
        "gpu.device.model",
        "Every GPU is of the expected model",
        "Compared with the inventory's ibready_expect.gpu_model or the hardware profile.",
        ("a GPU was replaced by another model", "the inventory names the wrong model"),
        "compare `nvidia-smi -L` with what was ordered; correct the inventory or the hardware",
        (_SMI,),
    ),
    warning(
        "gpu.device.uniform",
        "All GPUs of the host are of one model",
        "A collective runs at the pace of its slowest GPU, and with the least memory.",
        ("GPUs of several models were put into this host",),
        "set ibready_expect.gpu_model, or leave the others out with ibready_expect.ignore",
        (_SMI,),
    ),
    error(
        "gpu.device.lost",
        "The driver reaches every GPU",
        "A GPU that is lost gives no values any more; no program can use it.",
        ("the GPU has fallen off the bus: PCIe link, power or heat",),
        "look for Xid 79 in dmesg; power-cycle the node; if it comes again reseat or replace it",
        (_SMI,),
    ),
    error(
        "gpu.device.files",
        "Jobs may open the device files of every GPU",
        "Programs open /dev/nvidia0 and the like as ordinary users. A site may give them to a group of its own by the "
        "driver's parameters NVreg_DeviceFileGID and NVreg_DeviceFileMode, or all of them by a rule of udev; in root's "
        "group nobody is.",
        ("a parameter of the driver, a rule of udev or somebody's chmod took the right away",),
        "`ls -l /dev/nvidia*`; `grep -rn -e DeviceFile -e nvidia /etc/modprobe.d /etc/udev/rules.d` shows who set the "
        "mode: take that out, then `chmod 0666` until the next boot",
        (_SMI, "/dev/nvidia*"),
    ),
    error(
        "gpu.device.reset",
        "No GPU waits for a reset or a reboot",
        "After some errors the driver takes no new work until the GPU was reset.",
        ("an error that only a reset clears; see gpu.xid.fatal",),
        "stop its programs, then `nvidia-smi --gpu-reset -i BUS-ID`, or reboot the node",
        (_SMI,),
    ),
    warning(
        "gpu.device.drain",
        "The driver recommends no draining of a GPU",
        "The GPU still works, but part of it is out of use until it was drained and reset.",
        ("an error that was contained; a reset restores the whole GPU",),
        "take no new jobs, let the running ones end, then reset the GPU",
        (_SMI,),
    ),
    warning(
        "gpu.device.inforom",
        "The infoROM of every GPU is sound",
        "It holds the record of bad memory and the serial number; the GPU computes without it.",
        ("the infoROM was damaged when the GPU lost power",),
        "keep the output of `nvidia-bug-report.sh` and ask the vendor for a repair",
        (_SMI,),
    ),
    error(
        "gpu.device.compute_mode",
        "Programs may compute on every GPU",
        "In compute mode Prohibited no CUDA program starts.",
        ("somebody set the compute mode to Prohibited",),
        "`nvidia-smi -c DEFAULT`",
        (_SMI,),
    ),
    error(
        "gpu.mig.mode",
        "MIG is on or off as the inventory expects",
        "Slices of a GPU have no NVLink. Without ibready_expect.mig the check is skipped.",
        ("MIG was switched after the node was set up",),
        "`nvidia-smi -mig 0` (or 1) on a drained node, then reset the GPUs",
        (_SMI,),
    ),
    warning(
        "gpu.mig.pending",
        "No change of the MIG mode is pending",
        "A pending change takes hold at the next reset, in the middle of somebody's work.",
        ("MIG was switched without a reset of the GPU",),
        "reset the GPU on a drained node, or take the change back with `nvidia-smi -mig`",
        (_SMI,),
    ),
    error(
        "gpu.clocks.throttle",
        "Neither heat nor power holds back the clocks",
        "One slow GPU slows the whole job. Idle GPUs and power caps by software are fine.",
        ("cooling or power supply do not suffice",),
        "`nvidia-smi -q -d PERFORMANCE,TEMPERATURE`; check fans, air flow and power supplies",
        (_SMI,),
    ),
    warning(
        "gpu.clocks.applications",
        "No GPU has application clocks below those that it comes with",
        "Lowered clocks cost speed. Of a GPU that has others than its equals gpu.equals.setting tells; newer "
        "drivers show none, and then the check is skipped.",
        ("somebody lowered the application clocks",),
        "`nvidia-smi -i BUS-ID -rac`, or waive it where the site wants it so",
        (_SMI,),
    ),
    error(
        "gpu.temperature.limit",
        "No GPU and no memory of one is as hot as it may be",
        "At its highest operating temperature a GPU slows itself down; a little above, the hardware does.",
        ("cooling does not suffice: a fan, a heat sink, the coolant or the air of the room",),
        "compare `nvidia-smi -q -d TEMPERATURE` with its neighbours; look at fans, air flow and coolant",
        (_SMI,),
    ),
    warning(
        "gpu.power.limit",
        "No GPU is limited to less power than it comes with",
        "A lower limit costs speed, and one limited GPU slows all others of a job.",
        ("somebody lowered the power limit",),
        "`nvidia-smi -pl WATTS -i BUS-ID`, or waive it where the site saves power on purpose",
        (_SMI,),
    ),
    error(
        "gpu.ecc.mode",
        "ECC is on where the GPU comes with it, or as the inventory expects",
        "Without ECC a flipped bit changes results without a word.",
        ("ECC was switched off by hand",),
        "`nvidia-smi -e 1` and reset the GPU; or set ibready_expect.ecc: false",
        (_SMI,),
    ),
    warning(
        "gpu.ecc.pending",
        "No change of the ECC mode is pending",
        "A pending change takes hold at the next reset.",
        ("ECC was switched without a reset of the GPU",),
        "reset the GPU on a drained node",
        (_SMI,),
    ),
    error(
        "gpu.ecc.volatile",
        "No uncorrectable memory error since the driver was loaded",
        "The program that met it died or computed wrongly; the memory may not be repaired yet. What was before "
        "is history: a pass shows it.",
        ("a cell of the GPU's memory is bad",),
        "reset the GPU, so that the row is remapped; replace the GPU if errors come again",
        (_SMI,),
    ),
    error(
        "gpu.ecc.threshold",
        "SRAM errors have not reached the threshold for replacement",
        "The GPU counts uncorrectable SRAM errors and says when there were too many.",
        ("the GPU's SRAM is failing",),
        "run the field diagnostics and ask the vendor to replace the GPU",
        (_SMI,),
    ),
    warning(
        "gpu.ecc.repair",
        "No repair of a memory channel or of a cluster of cores is pending",
        "The repair is done by the next reset; until then errors may come again.",
        ("a part of the GPU failed, and a spare takes its place at the next reset",),
        "reset the GPU on a drained node",
        (_SMI,),
    ),
    error(
        "gpu.ecc.unrepairable",
        "No memory of the GPU is beyond repair",
        "The GPU has no spare left for a part of its memory that failed.",
        ("the GPU's memory failed for good",),
        "ask the vendor to replace the GPU",
        (_SMI,),
    ),
    error(
        "gpu.rows.failure",
        "Every bad memory row could be remapped",
        "A row that could not be remapped gives errors again. NVIDIA replaces such a GPU.",
        ("no spare row was left where one was needed",),
        "ask the vendor to replace the GPU; keep `nvidia-smi -q -d ROW_REMAPPER`",
        (_SMI,),
    ),
    error(
        "gpu.rows.pending",
        "No memory row waits to be remapped",
        "The bad row stays in use until the GPU is reset. Remapped rows are repaired: a pass shows them.",
        ("an uncorrectable error since the last reset of the GPU",),
        "stop its programs, then `nvidia-smi --gpu-reset -i BUS-ID`, or reboot the node",
        (_SMI,),
    ),
    warning(
        "gpu.rows.spare",
        "Every bank of the memory has spare rows left",
        "The next bad row of a bank without spares cannot be remapped.",
        ("several rows of one bank went bad",),
        "plan the replacement of the GPU",
        (_SMI,),
    ),
    error(
        "gpu.pages.pending",
        "No memory page waits to be taken out of use",
        "GPUs before Ampere take bad pages out of use at the next reset.",
        ("a memory error since the last reset of the GPU",),
        "stop its programs, then reset the GPU or reboot the node",
        (_SMI,),
    ),
    warning(
        "gpu.pages.retired",
        "Few memory pages were taken out of use",
        "GPUs before Ampere have room for a limited number of retired pages.",
        ("the GPU's memory is failing",),
        "ask the vendor to replace the GPU; keep `nvidia-smi -q -d PAGE_RETIREMENT`",
        (_SMI,),
    ),
    warning(
        "gpu.memory.held",
        "No memory of a GPU is in use while no program runs on it",
        "The next program has less memory than it counts on, and ends where it wants all. Where programs run, the "
        "memory is theirs.",
        (
            "a program that was killed has not ended: it hangs in the driver",
            "a debugger or a monitor keeps a context open",
        ),
        "`fuser -v /dev/nvidia*` names who has the device open; end it, or reset the GPU on a drained node",
        (_SMI,),
    ),
    warning(
        "gpu.memory.bar1",
        "The window to a GPU's memory (BAR1) has room",
        "GPUDirect RDMA, GDRCopy and GPUDirect Storage map GPU memory into BAR1. Where it is full, registration fails "
        "(Cannot allocate memory), or NCCL goes through host memory.",
        ("a program that was killed, or that still runs, keeps its mappings",),
        "`fuser -v /dev/nvidia*` names who has the device open; end it, or reset the GPU on a drained node",
        (_SMI,),
    ),
    warning(
        "gpu.load.program",
        "No GPU is busy while no program runs on it",
        "The next program shares the GPU with it and is slow. It counts where two looks find it.",
        ("a program that was killed left work on the GPU, or the GPU hangs in a kernel",),
        "`fuser -v /dev/nvidia*` names who has the device open; end it, or reset the GPU on a drained node",
        (_SMI,),
    ),
    warning(
        "gpu.pcie.replays",
        "GPUs seldom have to send again on their PCIe link",
        "nvidia-smi counts replays since boot or reset. More than eight a minute, or many times what equal GPUs of "
        "the host have, is a bad link: it costs bandwidth and may end in a lost GPU.",
        ("the signal is bad: riser, cable, retimer or a dirty connector",),
        "reseat or swap riser and cable; look at `nvidia-smi -q | grep Replay` again a minute later",
        (_SMI, "/proc/uptime"),
    ),
    error(
        "gpu.equals.setting",
        "No GPU has other settings and limits than the equal GPUs of its host",
        "MIG, ECC and compute mode, power limit, clocks, BAR1 size and modes of the driver are held against what "
        "nearly all of at least four equal GPUs have. One GPU that is set otherwise slows every job, or keeps it away. "
        "What the inventory wants of all (ibready_expect.mig, ecc), and more than most have, is fine.",
        ("somebody set this GPU alone, or it was exchanged and never set like the others",),
        "compare `nvidia-smi -q` of this GPU with its neighbour's; set it as the others are",
        (_SMI,),
    ),
    warning(
        "gpu.equals.firmware",
        "No GPU has other firmware than the equal GPUs of its host",
        "VBIOS, infoROM image and GSP firmware of nearly all of at least four equal GPUs. Another has other limits "
        "and a different set of fixed bugs.",
        ("the GPU was exchanged, or a firmware bundle was not applied to all",),
        "update the baseboard's firmware with the machine maker's bundle, in a maintenance window",
        (_SMI,),
    ),
    warning(
        "gpu.equals.other",
        "No GPU differs from the equal GPUs of its host in anything else that nvidia-smi or its PCI registers tell",
        "All that is told of at least four equal GPUs is compared, but for who each is, what is measured, "
        "states of the moment and what other checks judge. What nearly all have alike and one has not is told in "
        "the words of its source. In what they are meant to differ, ibready_expect.differs says.",
        ("somebody set this GPU alone, or it broke",),
        "compare `nvidia-smi -q` of this GPU with its neighbour's; set it as the others are",
        (_SMI,),
    ),
    error(
        "gpu.xid.fatal",
        "The kernel's log has no GPU error that needs a reset, a reboot or a replacement",
        "The driver logs every GPU error with a number (Xid). Those of programs are told, and are "
        "no fault of the node.",
        ("the GPU, its memory or its links failed",),
        "look the Xid up with its lines in dmesg; reset the GPU or reboot the node",
        ("dmesg",),
    ),
    warning(
        "gpu.xid.early",
        "The kernel's log has no early sign of a failing GPU",
        "Errors that were corrected or contained, and unknown Xids.",
        ("the GPU's memory or one of its links begins to fail",),
        "watch whether it comes again; reset the GPU at the next service",
        ("dmesg",),
    ),
)
