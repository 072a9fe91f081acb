// SPDX-License-Identifier: GPL-3.0-or-later
// A simulated libibverbs: devices by name and ports from the environment, and nothing behind them.
//
// SIMULATED_VERBS="mlx5_0 mlx5_2:2 bnxt_re0:1:ethernet" lists devices in the order of the library's
// answer, each with its number of ports (default 1) and a link layer (default InfiniBand). Every port is
// Active. The structures have the layout of rdma-core's verbs.h, as far as NCCL reads them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 64

struct device {
	void *ops[2];
	int node_type, transport_type;
	char name[64], dev_name[64], dev_path[256], ibdev_path[256];
};

struct context {
	struct device *device;
	void *ops[32];
	int cmd_fd, async_fd, num_comp_vectors;
	char mutex[64];
	void *abi_compat;
};

struct device_attr {
	char fw_ver[64];
	uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	int max_qp, max_qp_wr;
	unsigned device_cap_flags;
	int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, rd_atom[5], atomic_cap, max_ee, max_rdd,
		max_mw, max_raw[2], mcast[3], max_ah, fmr[2], max_srq, max_srq_wr, max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct port_attr {
	int state, max_mtu, active_mtu, gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed,
		phys_state, link_layer, flags;
	uint16_t port_cap_flags2;
};

static struct device devices[MOST];
static int ports[MOST], layers[MOST];

static int number(struct device *device) { return (int)(device - devices); }

struct device **ibv_get_device_list(int *count) {
	const char *told = getenv("SIMULATED_VERBS");
	char *text = strdup(told ? told : ""), *rest = NULL;
	struct device **list = calloc(MOST + 1, sizeof(*list));
	int found = 0;
	for (char *word = strtok_r(text, " ", &rest); word && found < MOST; word = strtok_r(NULL, " ", &rest)) {
		char *port = strchr(word, ':'), *layer = port ? strchr(port + 1, ':') : NULL;
		if (layer) *layer = 0;
		if (port) *port = 0;
		snprintf(devices[found].name, sizeof(devices[found].name), "%s", word);
		snprintf(devices[found].dev_name, sizeof(devices[found].dev_name), "uverbs%d", found);
		devices[found].node_type = 1;
		ports[found] = port ? atoi(port + 1) : 1;
		layers[found] = layer ? 2 : 1;
		list[found] = &devices[found];
		found++;
	}
	free(text);
	if (count) *count = found;
	return list;
}

void ibv_free_device_list(struct device **list) { free(list); }
const char *ibv_get_device_name(struct device *device) { return device->name; }

struct context *ibv_open_device(struct device *device) {
	struct context *context = calloc(1, 4096);
	context->device = device;
	context->async_fd = -1;
	return context;
}

int ibv_close_device(struct context *context) { free(context); return 0; }

int ibv_query_device(struct context *context, struct device_attr *attr) {
	memset(attr, 0, sizeof(*attr));
	attr->node_guid = attr->sys_image_guid = 0x100 + (uint64_t)number(context->device);
	attr->vendor_id = 0x02c9;
	attr->max_qp = 1024;
	attr->max_cq = attr->max_cqe = attr->max_mr = attr->max_pd = 1024;
	attr->max_qp_wr = 1024;
	attr->phys_port_cnt = (uint8_t)ports[number(context->device)];
	return 0;
}

int ibv_query_port(struct context *context, uint8_t port, struct port_attr *attr) {
	if (port < 1 || port > ports[number(context->device)]) return EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->state = 4;
	attr->max_mtu = attr->active_mtu = 5;
	attr->gid_tbl_len = 1;
	attr->lid = (uint16_t)(number(context->device) * 16 + port);
	attr->active_width = 2;
	attr->active_speed = 64;
	attr->phys_state = 5;
	attr->link_layer = (uint8_t)layers[number(context->device)];
	return 0;
}

int ibv_query_pkey(struct context *context, uint8_t port, int index, uint16_t *key) {
	*key = 0xffff;
	return 0;
}

// Loaded ahead of libc: where a simulated device is on a PCI bus, which sysfs does not know.
char *realpath(const char *path, char *resolved) {
	static char *(*real)(const char *, char *);
	char name[64];
	if (!real) real = (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
	if (sscanf(path, "/sys/class/infiniband/%63[^/]/device", name) != 1) return real(path, resolved);
	for (int at = 0; at < MOST; at++)
		if (!strcmp(devices[at].name, name)) {
			if (!resolved) resolved = malloc(4096);
			sprintf(resolved, "/sys/devices/pci0000:%02x/0000:%02x:00.0", at, at + 1);
			return resolved;
		}
	errno = ENOENT;
	return NULL;
}

int ibv_query_gid(struct context *context, uint8_t port, int index, uint8_t gid[16]) {
	memset(gid, 0, 16);
	gid[0] = 0xfe, gid[1] = 0x80, gid[14] = (uint8_t)number(context->device), gid[15] = port;
	return 0;
}

// Never comes: nothing happens to a simulated device.
int ibv_get_async_event(void *context, void *event) { for (;;) pause(); }
void ibv_ack_async_event(void *event) {}
int ibv_fork_init(void) { return 0; }
const char *ibv_event_type_str(int event) { return "simulated"; }
void *ibv_alloc_pd(void *context) { return calloc(1, 256); }
int ibv_dealloc_pd(void *pd) { free(pd); return 0; }

#define REFUSED(name) int name(void) { errno = EOPNOTSUPP; return EOPNOTSUPP; }
#define NOTHING(name) void *name(void) { errno = EOPNOTSUPP; return NULL; }
NOTHING(ibv_reg_mr)
NOTHING(ibv_reg_mr_iova2)
NOTHING(ibv_reg_dmabuf_mr)
NOTHING(ibv_create_cq)
NOTHING(ibv_create_qp)
NOTHING(ibv_create_comp_channel)
NOTHING(ibv_create_srq)
NOTHING(ibv_create_ah)
REFUSED(ibv_dereg_mr)
REFUSED(ibv_destroy_cq)
REFUSED(ibv_modify_qp)
REFUSED(ibv_query_qp)
REFUSED(ibv_destroy_qp)
REFUSED(ibv_query_ece)
REFUSED(ibv_set_ece)
REFUSED(ibv_destroy_comp_channel)
REFUSED(ibv_get_cq_event)
REFUSED(ibv_req_notify_cq)
REFUSED(ibv_destroy_srq)
REFUSED(ibv_destroy_ah)
REFUSED(ibv_query_srq)
REFUSED(ibv_modify_srq)
