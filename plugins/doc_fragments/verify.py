# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that every module which judges a host has."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  expect:
    description:
      - What the inventory expects of this host.
      - When left out, the inventory's variable C(ibready_expect) is taken, also in ad hoc use. Where
        that says nothing, a bundle is judged by what was expected when it was collected.
      - Where it says nothing, the recognised hardware profile does; a value that nobody expects
        makes its check C(unknown).
    type: dict
    suboptions:
      profile: {type: str, description: "The hardware profile, where it is not to be recognised (docs/profiles.md)."}
      hcas: {type: int, description: "How many HCAs of the expected link layer the host has, exactly."}
      hcas_min: {type: int, description: How many of them it has at least.}
      link_layer: {type: str, choices: [InfiniBand, Ethernet], description: The link layer of the fabric's ports.}
      rate_gbps: {type: float, description: "The rate of every rail, exactly, in Gb/s."}
      rate_min_gbps: {type: float, description: "The rate of every rail, at least, in Gb/s."}
      mtu:
        description: The active InfiniBand MTU of every rail, in bytes.
        type: int
        choices: [256, 512, 1024, 2048, 4096]
      pkeys: {type: list, elements: str, description: "P_Keys that every rail must hold, like V(0xffff)."}
      firmware: {type: str, description: The firmware version of every HCA.}
      firmware_images:
        description: "The firmware version of the HCAs of a board id, like C({MT_0000000838: 28.43.2026})."
        type: dict
      soft_roce:
        description: "Soft RoCE devices and the interfaces that they are on, like C({rxe0: eth1})."
        type: dict
      roce_mode: {type: str, choices: [v2, v1], description: RDMA CM's default mode of every RoCE rail.}
      roce_gid_index: {type: int, description: The GID index that holds a RoCE v2 address on every RoCE rail.}
      roce_trust: {type: str, choices: [dscp, pcp], description: What the RoCE rails take the priority from.}
      roce_pfc: {type: list, elements: int, description: The priorities with priority flow control on the RoCE rails.}
      roce_tos: {type: int, description: The traffic class (ToS byte) of the RoCE rails.}
      roce_mtu: {type: int, description: "The MTU of the RoCE rails' network interfaces, in bytes."}
      spectrum_x:
        description: The release of Spectrum-X's reference architecture that the site has.
        type: str
        choices: [RA1.3, RA2.0, RA2.1, RA2.2, RA3.0]
      spectrum_x_planes:
        description: How Spectrum-X spreads a port over planes of switches; C(none) where nobody says it.
        type: str
        choices: [none, swplb, hwplb, uniplane]
      gpus: {type: int, description: How many GPUs the host has.}
      gpu_model: {type: str, description: "The GPUs' model, as in docs/profiles.md or as C(nvidia-smi) prints it."}
      driver: {type: str, description: The version of the NVIDIA driver.}
      imex:
        description: Who says which hosts of a rack share memory by IMEX, the role or a scheduler for each job.
        type: str
        choices: [domain, job]
      mig: {type: bool, description: Whether MIG is meant to be on.}
      ecc: {type: bool, description: Whether ECC is meant to be on.}
      gds:
        description:
          - By which way jobs are to read storage into GPU memory (GPUDirect Storage).
          - C(nvidia-fs), C(p2pdma) or C(compat), which copies through host memory.
        type: str
        choices: [nvidia-fs, p2pdma, compat]
      gds_mounts:
        description: Mount points of the file systems that jobs read by GPUDirect Storage.
        type: list
        elements: str
      sharp: {type: bool, description: Whether NCCL's jobs on this host are meant to use SHARP.}
      sharp_manager: {type: bool, description: Whether this host is to run SHARP's aggregation manager.}
      stack: {type: dict, description: The C(stack) section of the host's platform class in C(stack.lock.yml).}
      lock:
        description:
          - What C(stack.lock.yml) says of the host, with C(class), C(stack), C(matrix) (the matrix
            that it was made with) and C(current) (today's).
          - Taken from the lock beside the inventory where the site gives none.
        type: dict
      nccl:
        description:
          - C(policy), the variables of role nccl by their names, and C(peers), addresses or names
            of other nodes.
          - Taken from the inventory where it is left out.
        type: dict
      container:
        description:
          - How jobs run in containers. C(engine) (C(docker), C(podman) or C(containerd); the one
            that is found), C(image) (a tiny one that is made of the host's own files), C(pull)
            (whether the image may be fetched; false), C(network) (C(host), or the engine's name of
            the jobs' network), C(devices) (paths or CDI names in place of all RDMA devices and
            GPUs), C(options) (more words of the engine's command line) and C(user) (the number of
            the user beside root; 65534).
          - Containers are started only where it is given, even if empty, and always by
            M(ibready.cluster.containerverify).
        type: dict
      differs:
        description:
          - In what equal GPUs and ports of the host are meant to differ, in the words of the finding
            that tells it (V(mlxlink/Loopback Mode)).
        type: list
        elements: str
      ignore:
        description: Devices (V(mlx5_2)) or ports (V(mlx5_1/2)) that are not part of the fabric.
        type: list
        elements: str
        default: []
  waivers:
    description:
      - Failures that are known and accepted until a day. They are shown as waived and do not count;
        a waiver that has expired counts again and is told in the check's evidence.
      - When left out, the inventory's variable C(ibready_waivers) is taken, also in ad hoc use.
    type: list
    elements: dict
    suboptions:
      check: {type: str, required: true, description: The check's id.}
      host: {type: str, required: true, description: The host's name in the inventory.}
      subject: {type: str, description: "What of the host, like V(mlx5_3/1). Without it, every subject of this check."}
      until: {type: str, required: true, description: "The last day on which it holds, like V(2026-12-31)."}
      reason: {type: str, required: true, description: "Why, for the report."}
  host:
    description:
      - The host's name in the result and for waivers.
      - When left out, its name in the inventory; with O(bundle), the name of that directory.
    type: str
  bundle:
    description:
      - Judge the evidence bundle in this directory of the host instead of the live host.
      - It is refused where it says that it is of another host than O(host).
    type: path
  pause:
    description:
      - Seconds between the two looks at the error counters of ports.
      - When left out, the inventory's variable C(ibready_counter_pause), else 5.
    type: float
  report_only:
    description: Return the same result without failing on it.
    type: bool
    default: false
  answer:
    description:
      - V(all) returns C(checks) and C(facts).
      - V(findings) returns them as one text, C(packed), without the facts that no report is made
        of, and with what M(ibready.cluster.node_facts) tells. The playbooks ask for it, since the
        controller keeps the answers of all hosts.
      - V(short) returns C(counts) and C(findings), as sentences, in place of both. Where the command C(ansible) asks
        by itself, without C(-v), that is the default.
    type: str
    choices: [all, findings, short]
    default: all
notes:
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
"""
