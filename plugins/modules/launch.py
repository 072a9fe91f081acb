#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: launch
short_description: Render launch scripts for a cluster from what its hosts told
version_added: 0.1.0
description:
  - Runs on the controller and starts nothing. Before it, M(ibready.cluster.node_facts) and
    M(ibready.cluster.ncclverify) have looked at the hosts, and their results are registered as
    C(ibready_node) and C(ibready_launch_looked), as C(playbooks/launch.yml) does.
  - The processes meet at the address of the first host that the others reach, which is the one that
    the checks fabric.tcp.* connect to. Each is bound to the NUMA node of its GPU.
  - NCCL's variables are set only where a host needs them and its C(/etc/nccl.conf) does not set
    them.
  - Every script says at its top what it was rendered from. What could not be known is a comment
    there, or the script is refused with the reason; nothing is guessed.
options:
  hosts:
    description:
      - The names of the hosts that the job may run on, reached or not.
      - The first that was reached is where the processes meet.
    type: list
    elements: str
    required: true
  kind:
    description:
      - Which launcher. C(all) renders every one that can be rendered, and names the others with the
        reason.
      - C(docker) and C(podman) run torchrun in a container, C(sbatch) a Slurm batch job with Pyxis
        and Enroot.
    type: str
    choices: [all, torchrun, docker, podman, deepspeed, accelerate, megatron, horovod, oneflow,
      mpirun, srun, sbatch]
    default: all
  dest:
    description:
      - A folder on the controller that the scripts are written to. Without it they are only
        returned.
      - Scripts of an earlier run that this one does not render are taken away; others' files stay.
    type: path
  show:
    description: Show the script of one launcher whole, and of all what there is.
    type: bool
    default: true
  image:
    description: The container image that C(docker), C(podman) and C(sbatch) need.
    type: str
  program:
    description:
      - What every process runs; Python runs a name that ends with C(.py).
      - C(train.py) where it is left out, and C(pretrain_gpt.py) of C(megatron).
    type: str
  arguments:
    description: The program's arguments, one by one; they are quoted for the shell.
    type: list
    elements: str
    default: []
  nodes:
    description: How many of the hosts, the first ones. All where it is left out.
    type: int
  processes:
    description: How many processes on each host. One a GPU where it is left out.
    type: int
  port:
    description: The port of the first host that the processes meet at, 29500 where it is left out.
    type: int
  mounts:
    description: Folders of the hosts that containers see at the same place.
    type: list
    elements: str
    default: []
  bucket_mb:
    description: >-
      How many MiB of gradients go in a single all-reduce, where the launcher has a word for it (horovodrun,
      Megatron-LM). The other scripts say in a C(NOTE:) whose word it is.
    type: int
  accumulation:
    description: >-
      After how many batches gradients are summed, where the launcher has a word for it (Accelerate). The other
      scripts say in a C(NOTE:) whose word it is.
    type: int
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes nothing in check mode, and tells what it would write.
    support: full
"""

EXAMPLES = r"""
- name: Render every launch script for the hosts of this run
  ibready.cluster.launch:
    hosts: "{{ ansible_play_hosts_all }}"
    dest: reports/launch

- name: Render torchrun alone
  ibready.cluster.launch:
    hosts: "{{ ansible_play_hosts_all }}"
    kind: torchrun
    program: train.py
    arguments: [--batch-size, "32"]
"""

RETURN = r"""
scripts:
  description: Each kind that was rendered, and the name of its script.
  type: dict
  returned: success
  sample: {"torchrun": "torchrun.sh"}
files: {type: dict, returned: success, description: "Every file by its name, with its text."}
refused:
  description: Each kind that was not rendered, and why not.
  type: dict
  returned: success
  sample: {"docker": "it needs a container image, and none is named; next: set launch_image"}
dest: {type: str, returned: success, description: The folder that holds them; empty where they were only returned.}
written:
  description: The names of the files that were not there, or not so.
  type: list
  elements: str
  returned: success
removed:
  description: The names of an earlier run's scripts that this one did not render.
  type: list
  elements: str
  returned: success
hosts:
  description: The hosts that the scripts are for; the others meet at the first.
  type: list
  elements: str
  returned: success
addresses: {type: dict, returned: success, description: Where the other hosts reach each of them.}
processes: {type: int, returned: success, description: How many processes are started on each.}
left_out: {type: dict, returned: success, description: "The other hosts, and why."}
notes: {type: list, elements: str, returned: success, description: What could not be known.}
rails:
  description: Whether every one of the hosts has a rail, so that a job is expected to use RDMA.
  type: bool
  returned: success
rails_why:
  description: Why it is not known whether every one of the hosts has a rail; empty where it is.
  type: str
  returned: success
simulated: {type: str, returned: success, description: What of the hosts is simulated; empty where nothing is.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
