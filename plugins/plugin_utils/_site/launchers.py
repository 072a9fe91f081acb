# SPDX-License-Identifier: GPL-3.0-or-later
"""The launchers that scripts are rendered for, as data."""

from __future__ import annotations

from dataclasses import dataclass

EVERY, HEAD, LOGIN = "on every host", "on the first host", "where Slurm's commands are"
# Started for every process: environment and NUMA node.
RANK = "rank.sh"


@dataclass(frozen=True)
class Kind:
    """``where``: on which host the script is run. ``files``: what it needs beside itself; RANK in
    any case. ``image``: whether it needs a container image. ``program``: what it runs where the
    site names none, "" for the one of all."""

    name: str
    title: str
    where: str = EVERY
    files: tuple[str, ...] = ()
    image: bool = False
    program: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}.sh"

    @property
    def parts(self) -> tuple[str, ...]:
        """Every file that it needs, its own first."""
        return (self.file, *self.files, RANK)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("torchrun", "torchrun"),
        Kind("docker", "torchrun in a docker container", files=("torchrun.sh",), image=True),
        Kind("podman", "torchrun in a podman container", files=("torchrun.sh",), image=True),
        Kind("deepspeed", "DeepSpeed's launcher", HEAD, ("deepspeed-hostfile",)),
        Kind("accelerate", "accelerate launch"),
        Kind("megatron", "Megatron-LM by torchrun", program="pretrain_gpt.py"),
        Kind("horovod", "horovodrun", HEAD, ("horovod-hostfile",)),
        Kind("oneflow", "OneFlow's launcher"),
        Kind("mpirun", "Open MPI's mpirun", HEAD, ("mpi-hostfile",)),
        Kind("srun", "Slurm's srun", LOGIN),
        Kind("sbatch", "a Slurm batch job in a container (Pyxis and Enroot)", LOGIN, image=True),
    )
}
