/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of the node beside its counts: mounts, PCIe links, clock. Rules read it. */
#pragma once

#include "base/helper.h"
#include "base/mountinfo.h"
#include "base/pci_address.h"
#include "base/safe_text.h"

enum mount_state {
	MOUNT_FINE, /* or not known to be otherwise */
	MOUNT_ABSENT,
	MOUNT_READ_ONLY, /* although it should be writable */
	MOUNT_STALE, /* the server no longer knows it */
	MOUNT_HUNG, /* the server has not answered */
};

struct node_mount {
	char path[LABEL_SIZE];
	bool read_only; /* it may be read-only */
	enum mount_state state; /* by the kernel's list of mounts */
	enum mount_state answer; /* by its server: fine, stale or hung */
	char device[32]; /* whose server is asked: "0:52"; "": none */
	bool helpers; /* its fstab type is not NFS: check it only if the kernel lists it as NFS */
};

#define NODE_MOUNTS_MAX 32

/* The PCIe link of a GPU. */
struct node_link {
	char gpu[PCI_ADDRESS_SIZE];
	unsigned int lanes, lanes_possible; /* of both ends; 0: not known */
	uint64_t corrected; /* errors at both ends since the boot */
	uint64_t corrected_in_hour; /* see pcie_links_count() */
	/* kept by pcie_links_count(): */
	double hour_begun; /* seconds since the boot */
	uint64_t corrected_before, last_hour; /* when the hour began; in the hour before */
};

/* A server whose calls end with errors. */
struct node_nfs_errors {
	char server[LABEL_SIZE];
	double first; /* seconds since the epoch */
	bool lost; /* data */
	char text[480]; /* what fails on each of its mounts */
};

#define NODE_SERVERS_MAX 8
#define NODE_LINKS_MAX 32

struct node_state {
	struct node_mount mounts[NODE_MOUNTS_MAX];
	size_t mount_count;
	size_t mounts_left_out; /* there was no room for them */
	struct node_nfs_errors nfs_errors[NODE_SERVERS_MAX]; /* others are counted */
	size_t nfs_error_count;
	unsigned int gpus_wanted; /* 0: any number */
	unsigned int gpus; /* that have the driver; .gpus_wanted if it is not known */
	bool driver_expected; /* it was loaded in this boot or the last one */
	char unused[NODE_LINKS_MAX][PCI_ADDRESS_SIZE]; /* GPUs that no driver has, but should */
	size_t unused_count;
	char bus[NODE_LINKS_MAX][PCI_ADDRESS_SIZE]; /* all GPUs on the PCI bus */
	size_t bus_count;
	size_t guests; /* of these, those given to guests */
	uint32_t bus_names; /* checksum of the addresses of all devices on the bus; 0: none */
	struct node_link links[NODE_LINKS_MAX];
	size_t link_count;
	bool clock_unsynchronised;
};

/* ---- mount_probe.c: pure functions of the system's texts about mounts; they ask no server ---- */

/* Adds the NFS mounts of a text like /etc/fstab, except those with noauto or x-systemd.automount, which are not made at boot. */
void node_mounts_add_fstab(struct node_state *node, const char *text, size_t len);

/* Adds a mount that is not yet in the list; counts it if there is no room. "PATH,ro" may be read-only. */
void node_mounts_add(struct node_state *node, const char *path);

/* Compares @mount with one line of mountinfo; call it for all lines in their order. If the line is this mount or lies over it,
 * sets .device and .state, which must begin as MOUNT_ABSENT. */
void node_mount_look(struct node_mount *mount, const struct mountinfo_line *m);

/* The replies that the transports of the NFS mount at @path have brought, by the text of mountstats
 * (net/sunrpc/xprtsock.c, xs_tcp_print_stats() and its like). */
uint64_t mount_replies(struct span mountstats, const char *path);

/* ---- mount_probe.c: whether file systems of servers can be used ---- */

/* A question to the server of a mount. Initialise with {}. */
struct mount_question {
	struct helper helper; /* the process that asks */
	bool asked; /* the process has begun to ask the server */
	bool killed; /* the process was killed; the answer is known */
	uint64_t replies; /* of the server to this client before the question */
	uint64_t deadline_ns, due_ns; /* CLOCK_MONOTONIC: of this question; of the next */
	enum mount_state state; /* by the last answer */
};

/* Asks the server of each mount every half minute, and sets the mounts' .answer. Call it every second; it never waits. @questions:
 * one for each mount. @limit: seconds until a server that has not answered, and has sent no other reply to this client
 * meanwhile, has hung. Returns whether any has changed. */
bool node_mounts_ask(struct node_state *node, struct mount_question *questions, double limit,
		     uint64_t now_ns);

/* Sets the state of each mount by the text of the file @mountinfo; no server is asked. */
void node_mounts_look(struct node_state *node, const char *mountinfo);

/* ---- pcie.c: the PCIe links of GPUs, as sysfs shows them. Neither the driver nor a sleeping device is asked: see
 * Documentation/ABI/testing/sysfs-bus-pci and sysfs-bus-pci-devices-aer of Linux ---- */

/* Counts the PCI devices below @root that are bound to the driver, which are all GPUs, and reads their links. Links beyond
 * NODE_LINKS_MAX are left out. */
void pcie_links_read(struct node_state *node, const char *root);

/* Finds GPUs (vendor 10de, a display controller). If pcie_links_read() has found some with the driver, or if the driver is expected,
 * also finds those without any driver; a GPU that is given to a guest has one (vfio-pci). Virtual functions are left out. If the
 * bus has the same addresses as in @before, the GPUs of @before are taken, because a node has hundreds of devices. */
void pcie_gpus_read(struct node_state *node, const struct node_state *before, const char *root);

/* Sets the number of corrected errors of each link in an hour: the present hour or the one before, whichever has more. Earlier
 * counts are taken from the links of @before. @now: seconds since the boot. */
void pcie_links_count(struct node_state *node, const struct node_state *before, double now);

/* ---- node_watch.c: what the agent sees of the node ---- */

/* Initialise with {}, free with node_watch_free(). */
struct node_watch {
	struct node_state node; /* what rules read */
	struct node_state before; /* the reading before */
	double looked; /* seconds since the boot; 0: never */
	bool mounted; /* mounts have changed since then */
	double due; /* from when on to look at these */
	bool was_fine[NODE_MOUNTS_MAX];
	struct mount_question questions[NODE_MOUNTS_MAX];
};

void node_watch_free(struct node_watch *w);

/* Adds the NFS mounts of fstab below @root to those that are there, as process 1 sees it. Returns 0 or -errno. */
int node_watch_add_fstab(struct node_watch *w, const char *root);

/* Reads the GPUs and the NFS mounts below @root as process 1 sees them, and the clock, once a minute. If mounts have changed
 * (@mounted) and some are checked, it reads immediately, or after 100 times the CPU time that the last list of mounts took.
 * While a node boots, what is missing is no finding:
 * - a GPU without a driver is in .node only if the reading before had it as well;
 * - a mount that was never fine is in .node only from five minutes after the boot on.
 * @now: seconds since the boot. Returns whether it read them. */
bool node_watch_look(struct node_watch *w, const char *root, double now, bool mounted);
