#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubernetes_manifests
short_description: Render what NVIDIA's operators and jobs with RDMA need in Kubernetes
version_added: 0.1.0
description:
  - From the plan of every host (C(ibready_plan)), M(ibready.cluster.node_facts) (C(ibready_node))
    and M(ibready.cluster.nccl_host) (C(__kubernetes_rdma_host)) it renders Helm values of the GPU
    Operator and the Network Operator, a NicClusterPolicy, the networks of the rails, labels of the
    nodes, a test pod, a PyTorchJob and an MPIJob that agree with the plan and with each other.
    docs/kubernetes.md tells how.
  - Driver, container toolkit and RDMA drivers come from the host or from an operator, never from
    both; what contradicts the plan, or what is installed on a host, is refused with the reason.
  - Runs on the controller and writes files. No cluster is touched.
options:
  hosts:
    description: The hosts that are nodes. One that told nothing has no part in the manifests, and
      is warned of.
    type: list
    elements: str
    required: true
  dest:
    description: The folder, relative to the working directory. Files of an earlier run that are no
      longer rendered go.
    type: str
    required: true
  plugin:
    description: The RDMA shared device plugin, where all pods of a node share its rails, SR-IOV, or
      host devices, where one pod has all rails of its node.
    type: str
    choices: [shared, sriov, hostdev]
    default: shared
  interfaces:
    description:
      - The network interfaces of the rails, IPoIB ones too, with the shared plugin. Needed where
        nothing else tells the rails from other HCAs.
    type: list
    elements: str
    default: []
  network:
    description:
      - Whose network pods live in. V(auto) is the pod's own, over RoCE with the shared plugin the
        node's.
      - With V(pod) pods over RoCE join a network for each rail, with addresses by O(ipam).
    type: str
    choices: [auto, host, pod]
    default: auto
  ipam:
    description: The address management of the rails' networks; C({rail}) stands for the rail's
      number.
    type: dict
    default: {}
  driver:
    description: Who brings the NVIDIA driver. V(auto) is the host if it has one, or gets one by the
      plan.
    type: str
    choices: [auto, host, operator]
    default: auto
  toolkit:
    description: Who brings the container toolkit, in the same words.
    type: str
    choices: [auto, host, operator]
    default: auto
  ofed:
    description:
      - Who brings the RDMA drivers, in the same words. V(operator) needs a plan with the
        distribution's own, which the operator's DOCA driver replaces.
    type: str
    choices: [auto, host, operator]
    default: auto
  peer_memory:
    description: The way of GPUDirect RDMA with the operator's driver; V(auto) is V(dmabuf) where
      the host can do it.
    type: str
    choices: [auto, dmabuf, peermem]
    default: auto
  gpu_operator:
    description: The release of the GPU Operator, V(auto) for the youngest that goes with everything
      else.
    type: str
    default: auto
  network_operator:
    description: The release of the Network Operator, V(auto) for the youngest that goes with
      everything else.
    type: str
    default: auto
  kubernetes_version:
    description: The cluster's release; operators that are not made for it are refused. Empty asks
      for none.
    type: str
    default: ""
  registry:
    description: The repository of the Network Operator's images. Without it nothing is rendered.
    type: str
    default: ""
  nfd:
    description: Who labels nodes by Node Feature Discovery. With V(none) the labels that operators
      wait for are ours.
    type: str
    choices: [operator, site, none]
    default: operator
  operator_namespace:
    description: The namespace of the Network Operator.
    type: str
    default: nvidia-network-operator
  namespace:
    description: The namespace of the jobs.
    type: str
    default: default
  image:
    description: The image of test pod and jobs. Without it there are none.
    type: str
    default: ""
  job_nodes:
    description: How many nodes a job takes.
    type: int
    default: 2
  shm:
    description: The size of C(/dev/shm) in a pod.
    type: str
    default: 16Gi
  pods_per_node:
    description: How many pods may share the rails of a node, with the shared plugin.
    type: int
    default: 63
  vfs:
    description: How many virtual functions each rail gets, with SR-IOV.
    type: int
    default: 8
  torch_command:
    description: What the PyTorchJob runs instead of a few all-reduces.
    type: list
    elements: str
    default: []
  mpi_command:
    description: What the MPIJob runs instead of C(all_reduce_perf) of nccl-tests.
    type: list
    elements: str
    default: []
  nccl_conf:
    description: Whether pods in the node's network, or with its RDMA devices, get the node's
      C(/etc/nccl.conf).
    type: bool
    default: true
  dra:
    description:
      - What pods claim of NVIDIA's DRA driver in place of asking a device plugin for it.
      - V(gpus) needs Kubernetes 1.34 and switches the GPU Operator's device plugin off.
        V(compute_domains) gives the jobs of classes whose nodes all tell of an NVLink domain a
        ComputeDomain, and needs C(nvidia_driver_imex=job) on them.
    type: list
    elements: str
    choices: [gpus, compute_domains]
    default: []
attributes:
  check_mode:
    description: Renders everything and writes nothing.
    support: full
  diff_mode:
    description: Shows every file that differs.
    support: full
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Look at the host
  ibready.cluster.nccl_host:
  register: __kubernetes_rdma_host

- name: Render
  ibready.cluster.kubernetes_manifests:
    hosts: "{{ ansible_play_hosts_all }}"
    dest: reports/kubernetes
    registry: registry.example.com/rdma
    image: registry.example.com/torch:2.9
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
dest: {type: str, returned: success, description: The folder.}
files:
  description: The files below it.
  returned: success
  type: list
  elements: str
  sample: [README.md, gpu-operator-values.yaml, nic-cluster-policy.yaml]
remarks:
  description: What the site has to know and what stops nothing, also as warnings.
  returned: success
  type: list
  elements: str
absent:
  description: Hosts that told nothing, or nothing that can be used, and that no manifest is about.
  returned: success
  type: list
  elements: str
idle:
  description: Hosts without an RDMA rail, which no manifest is about either.
  returned: success
  type: list
  elements: str
sources:
  description: Who brings driver, toolkit and RDMA drivers; empty where no node has any use for it.
  returned: success
  type: dict
  sample: {"driver": "host", "toolkit": "host", "ofed": "host"}
operators:
  description: The releases that the values are for.
  returned: success
  type: dict
  sample: {"gpu_operator": "26.7.0", "network_operator": "26.4.1"}
resources:
  description: What a pod asks for to get the rails, by the class of its node.
  returned: success
  type: dict
  sample: {"ubuntu24.04-6.8-x86-64_hgx-h100-8_connectx-7": {"rdma/hca_ib": 1}}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
