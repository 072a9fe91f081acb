# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what containers get (container.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_PROBE = "container_probe"
_DEVICES = "/dev/infiniband"
_PCI = "/sys/bus/pci/devices"
_ROLE = "role container_runtime"

ENTRIES = declare(
    error(
        "container.engine.usable",
        "A container engine is installed and answers",
        "docker, podman or containerd, whichever the site names or the host has. Without it "
        "nothing else of this area can be looked at.",
        (
            "its service does not run, or was not started by the one who asks",
            "it is not installed",
        ),
        f"start its service, or install it ({_ROLE})",
        (_PROBE,),
    ),
    error(
        "container.image.runs",
        "A container of the image starts, as root and as another user",
        "A real one, with what the site's jobs are started with, removed at once. Where no image "
        "is named, it is made of the host's own files; one that is named is fetched only where "
        "ibready_expect.container says pull: true.",
        (
            "the image is not on this host",
            "the engine cannot start it: a device that is gone, a limit above the host's own, a broken runtime",
        ),
        "start one by hand with the same words, and read what the engine says",
        (_PROBE,),
    ),
    error(
        "container.device.uverbs",
        "The container has every uverbs device of the host",
        "RDMA goes through /dev/infiniband/uverbsN. With --privileged or a volume of /dev they may "
        "be there and still not open.",
        (
            "the launch has no --device=/dev/infiniband/uverbsN, or not all of them",
            "the CDI file was written before an HCA was added",
        ),
        "give the job every /dev/infiniband/uverbsN with --device, or the CDI device of the role: docs/containers.md",
        (_PROBE, _DEVICES),
    ),
    warning(
        "container.device.rdma_cm",
        "The container has /dev/infiniband/rdma_cm",
        "NCCL does without it; UCX, MPI and storage that connect by the RDMA connection manager do not.",
        ("the launch gives only uverbs devices",),
        "add --device=/dev/infiniband/rdma_cm",
        (_PROBE, _DEVICES),
    ),
    error(
        "container.device.opens",
        "The container's users can open its RDMA devices",
        "Tried, for root and for another user. A file that was mounted as a volume is refused by "
        "the control group of devices, whatever its permissions.",
        (
            "the devices were mounted as a volume and not given with --device",
            "a rule of the host makes the files root's alone",
        ),
        "give them with --device (not --volume), and keep their mode at 0666: host.rdma.devices",
        (_PROBE,),
    ),
    error(
        "container.verbs.library",
        "The image has libibverbs",
        "NCCL loads libibverbs.so.1 when it starts, and without it goes on over TCP without an error.",
        ("the image was built without RDMA user space",),
        "add libibverbs1, ibverbs-providers and librdmacm1 (Debian, Ubuntu) or libibverbs and "
        "librdmacm (EL) to the image",
        (_PROBE,),
    ),
    error(
        "container.verbs.provider",
        "The image has the provider for the host's HCAs",
        "libibverbs finds a device only by a provider (libmlx5 for ConnectX), of its own release, "
        "named in /etc/libibverbs.d.",
        (
            "libibverbs was installed without its providers",
            "library and provider come from two sources",
        ),
        "install ibverbs-providers (Debian, Ubuntu) or libibverbs (EL) from where libibverbs is",
        (_PROBE, _PCI),
    ),
    error(
        "container.verbs.opens",
        "libibverbs opens every device in the container",
        "By ibv_devinfo where the image has it, by its Python else; for root and for another user.",
        (
            "the provider is missing or too old",
            "the devices of the container are not those of its /sys",
        ),
        "run ibv_devinfo -v in the container, and do what its first line says",
        (_PROBE,),
    ),
    error(
        "container.limit.memlock",
        "Every user of a container may lock as much memory as RDMA needs",
        "Registered memory is locked. CAP_IPC_LOCK lifts the limit for root only: docker and "
        "containerd do not hand it to other users, whose limit then counts (8 MiB, say).",
        ("the engine gives containers its own limit",),
        f"raise the engine's default, not each job's ({_ROLE})",
        (_PROBE,),
    ),
    warning(
        "container.limit.nofile",
        "A container may open enough files",
        "A rank holds several sockets for each peer, a data loader its own files.",
        ("the engine gives containers its own limit",),
        f"raise the engine's default, not each job's ({_ROLE})",
        (_PROBE,),
    ),
    error(
        "container.shm.size",
        "/dev/shm is large enough for NCCL",
        "Ranks of one host share memory there; engines give 64 MiB unless told otherwise, which "
        "ends in `unhandled system error`.",
        ("the container has the engine's own 64 MiB",),
        "start jobs with --ipc=host or --shm-size=16g",
        (_PROBE,),
    ),
    error(
        "container.network.path",
        "The container's network leads to the other hosts",
        "NCCL's ranks meet by TCP at addresses that every rank has to reach, and RoCE needs the "
        "rail's own interface. Behind a bridge of the engine neither is so.",
        ("the container has a network of its own, behind the host's address",),
        "start jobs with --network=host; in Kubernetes give the pod an RDMA network and name it in "
        "ibready_expect.container.network",
        (_PROBE, "ip_addr"),
    ),
    error(
        "container.gpu.visible",
        "nvidia-smi works in the container",
        "The container toolkit puts device files, libraries and nvidia-smi of the host's driver "
        "into a container, by CDI or by its own runtime. Tried, for root and for another user.",
        (
            "no CDI file names the GPUs, or the engine does not read it",
            "the CDI file is of another driver than the one that is loaded",
            "the device files are for a group that the job's user is not in",
        ),
        "have the toolkit write its CDI file anew where its release keeps it: `systemctl restart "
        "nvidia-cdi-refresh`, or before 1.18 `nvidia-ctk cdi generate "
        f"--output=/etc/cdi/nvidia.yaml` ({_ROLE}); then `nvidia-ctk cdi list`",
        (_PROBE,),
    ),
    error(
        "container.gpu.count",
        "The container sees as many GPUs as the host has",
        "Counted with nvidia-smi inside, and on the host's PCI bus.",
        ("the CDI file was written while a GPU was missing",),
        f"write the CDI file anew ({_ROLE})",
        (_PROBE,),
    ),
    error(
        "container.cuda.driver",
        "The host's driver runs the CUDA that the image was built for",
        "A driver runs the CUDA that it brings, any release of the same major from a least driver on "
        "(minor version compatibility), and newer ones where a compatibility package of the image is what "
        "the loader takes, on GPUs and driver branches of NVIDIA's table. The image tells by CUDA_VERSION, "
        "version.json and libcudart; the newest of them counts. A framework that carries CUDA inside its "
        "own library is not seen.",
        (
            "the image was built for a newer major release of CUDA than the driver knows",
            "its compatibility libraries are not in the loader's way, or are older than the driver",
        ),
        "take an image of a CUDA that the driver runs, or give the host a newer driver (stack_driver)",
        (_PROBE, "/proc/driver/nvidia/version"),
    ),
    warning(
        "container.nccl.library",
        "The image has NCCL's library",
        "Looked for where the linker looks and in Python environments. A framework that carries "
        "NCCL inside its own library is not seen.",
        ("the image has no NCCL of its own",),
        "install libnccl2, or take a framework's image; nothing, where the framework carries NCCL inside",
        (_PROBE,),
    ),
    error(
        "container.nccl.conf",
        "The host's /etc/nccl.conf reaches the container's users",
        "What the host derived (rails, interface, GID index) holds in a container only if the file "
        "is put there and the job's user may read it.",
        (
            "the file is not mounted into the container",
            "its mode keeps users out who are not root",
        ),
        "start jobs with --volume=/etc/nccl.conf:/etc/nccl.conf:ro",
        (_PROBE, "/etc/nccl.conf"),
    ),
    error(
        "container.nccl.env",
        "The image's environment switches off nothing that the host has",
        "An image's ENV goes before every nccl.conf. Judged like nccl.conf.harm.",
        ("left in the image from a machine without RDMA",),
        "take the variable out of the image's ENV",
        (_PROBE,),
    ),
    warning(
        "container.rdma.version",
        "The image's rdma-core is new enough for the host's HCAs",
        "The kernel's interface is stable, but user space has to know the HCA. Only what was seen "
        "to fail is held against it.",
        ("the distribution of the image is older than the HCA",),
        "take RDMA user space from DOCA (doca-ofed-userspace), or a younger distribution",
        (_PROBE, _PCI),
    ),
)
