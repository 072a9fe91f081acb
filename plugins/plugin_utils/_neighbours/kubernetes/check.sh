#!/bin/sh
# Look at what RDMA needs in this container; status 1 where something is missing.
root=${1:-}
failed=0
good() { echo "ok    $*"; }
bad() { echo "FAIL  $1"; echo "      next: $2"; failed=1; }
first() { for one in "$@"; do if [ -e "$one" ]; then echo "${one#"$root"}"; break; fi; done; }

set -- "$root"/dev/infiniband/uverbs*
if [ -e "$1" ]; then good "$# RDMA devices in /dev/infiniband"
else bad "no RDMA device in /dev/infiniband" \
  "ask for the RDMA resource in limits and requests; kubectl describe node shows what there is"
fi

usr=$root/usr
library=$(first "$usr"/lib/libibverbs.so.1 "$usr"/lib64/libibverbs.so.1 \
  "$usr"/lib/*/libibverbs.so.1 "$usr"/local/lib/libibverbs.so.1)
provider=$(first "$usr"/lib/libibverbs/*.so "$usr"/lib64/libibverbs/*.so \
  "$usr"/lib/*/libibverbs/*.so "$usr"/local/lib/libibverbs/*.so)
if [ -n "$library" ]; then good "libibverbs: $library"
else bad "no libibverbs.so.1 in this image" \
  "add libibverbs1 ibverbs-providers librdmacm1 (Debian, Ubuntu) or libibverbs librdmacm (EL)"
fi
if [ -n "$provider" ]; then good "providers of libibverbs: ${provider%/*}"
elif [ -n "$library" ]; then bad "no provider of libibverbs in this image" \
  "add ibverbs-providers (Debian, Ubuntu) or libibverbs (EL)"
fi

# IPC_LOCK is bit 14 of the capabilities in force: the third bit of the fourth digit from the right.
lock=no
while read -r name value; do
  if [ "$name" = CapEff: ]; then
    digit=$(printf %s "$value" | tail -c 4 | head -c 1)
    case $digit in [4-7c-fC-F]) lock=yes ;; esac
  fi
done < "$root/proc/self/status"
# shellcheck disable=SC3045 # Every image's sh has it: bash, dash, BusyBox.
memlock=$(ulimit -l)
if [ "$memlock" = unlimited ]; then good "locked memory: unlimited"
elif [ "$lock" = yes ]; then good "locked memory: IPC_LOCK is in force"
else bad "locked memory ends at $memlock KiB, and IPC_LOCK is not in force (it is for root only)" \
  "LimitMEMLOCK=infinity for the container engine on the nodes (role container_runtime)"
fi

shm=$(df -Pk "$root/dev/shm" 2>/dev/null | tail -n 1 | { read -r _ size _; echo "${size:-0}"; })
if [ "$shm" -ge "${IBREADY_SHM_KB:-1048576}" ]; then good "/dev/shm: $((shm / 1024)) MiB"
else bad "/dev/shm has $((shm / 1024)) MiB" \
  "mount an emptyDir of medium Memory there (kubernetes_rdma_shm)"
fi

wanted=${IBREADY_GPUS:-0}
if [ "$wanted" -gt 0 ]; then
  seen=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
  if [ "$seen" -eq "$wanted" ]; then good "$seen GPUs"
  else bad "$seen GPUs of $wanted by nvidia-smi -L" \
    "kubectl describe node shows nvidia.com/gpu; see the GPU Operator's validator pods"
  fi
fi

# The kernel shows all HCAs of the node here, whichever the container was given.
active=0
for one in "$@"; do
  device=$(cat "$root/sys/class/infiniband_verbs/${one##*/}/ibdev" 2>/dev/null)
  for port in "$root/sys/class/infiniband/${device:-unknown}"/ports/*/state; do
    if [ -e "$port" ] && grep -q ACTIVE "$port"; then active=$((active + 1)); fi
  done
done
if [ "$active" -ge "${IBREADY_RAILS:-1}" ]; then good "$active active RDMA ports"
elif [ -e "$1" ]; then
  bad "$active active RDMA ports of these devices, and ${IBREADY_RAILS:-1} rails" \
    "ansible-playbook playbooks/verify.yml says what is wrong with the node's ports"
fi

if [ -e "$root/etc/nccl.conf" ]; then good "the node's nccl.conf is here"; fi
exit $failed
