/* SPDX-License-Identifier: Apache-2.0
 * The machine's CPUs and memory nodes, and the placement of threads. Wraps hwloc. A simulated machine
 * (HWLOC_SYNTHETIC, HWLOC_XMLFILE) is planned like a real one, but nothing is pinned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/thread.h"

struct bt_topo;

/* A hardware thread. Indexes are dense, from 0. */
struct bt_topo_cpu {
	uint32_t cpu;	  /* the kernel's number */
	uint32_t core_ix; /* CPUs of one core are SMT siblings */
	uint32_t numa_ix; /* its memory node */
	uint32_t kind;	/* speed class of a hybrid machine, the highest is the fastest; 0 if all are equal */
	bool is_usable; /* this process may use it */
};

struct bt_topo_machine {
	uint32_t cpu_n, core_n, numa_n, package_n;
	uint32_t kind_n;	/* 1 unless hybrid */
	uint32_t usable_cpu_n;	/* after the cpuset of the process */
	uint32_t usable_core_n; /* of these, on different cores */
	uint32_t quota_n;	/* the control group's CPU quota, rounded up; 0: no limit */
	bool is_simulated;	/* not this machine */
};

/*
 * Reads the topology of this machine, or of the one that HWLOC_XMLFILE or HWLOC_SYNTHETIC describes.
 * Context : any thread that is not pinned; allocates, reads /sys; takes milliseconds.
 * Returns : BT_OK; BT_INVALID when a variable's description is invalid, BT_IO when the system's topology is
 *           unavailable; the reason is appended to out_why.
 * Owns    : bt_topo_destroy.
 */
BT_MUST_CHECK enum bt_status bt_topo_discover(struct bt_topo **out_topo, struct bt_buf *out_why);
void bt_topo_destroy(struct bt_topo *topo);

/* Context: any thread; a topology is immutable. */
struct bt_topo_machine bt_topo_machine(const struct bt_topo *topo);
const struct bt_topo_cpu *bt_topo_cpus(const struct bt_topo *topo, uint32_t *out_n);

/*
 * Binds the whole pages within bytes from ptr to memory node numa_ix, and moves existing pages.
 * Context : any thread; a system call.
 * Returns : BT_OK, also where nothing can be done (a simulated machine, no whole page); BT_RANGE for no such
 *           node; BT_IO when the system refuses: the pages stay.
 */
enum bt_status bt_topo_bind_range(const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix);

/* Makes the calling thread, which is pinned to node numa_ix, allocate from that node's arena. No effect on a
 * machine with one node. */
void bt_topo_use_memory(const struct bt_topo *topo, uint32_t numa_ix);

enum bt_topo_role {
	BT_ROLE_SCHEDULING,
	BT_ROLE_WORKER,
	BT_ROLE_PUBLISHER,
	BT_ROLE_INGESTION,
	BT_ROLE_BINDER,
};

/* Threads of one kind, at most: workers, and the others. */
#define BT_TOPO_WORKERS_MAX 64
#define BT_TOPO_THREADS_MAX 1024

/* Requested numbers; all zeroes: derived from the machine. */
struct bt_topo_request {
	uint32_t worker_n;    /* shards of nodes; the scheduling thread is worker 0. 0: from the machine */
	uint32_t ingestion_n; /* 0: from the machine */
	uint32_t binder_n;    /* 0: from the machine */
	uint32_t quota_n;     /* CPU quota; 0: that of the process's control groups */
	const char *cpus;     /* such as "0-3,8"; NULL or empty: all that the process may use */
};

/* The placement of a thread. */
struct bt_topo_place {
	enum bt_topo_role role;
	uint32_t ix; /* within its role; workers with their own threads start at 1 */
	char name[BT_THREAD_NAME_BYTES];
	bool has_cpu;	/* cpu, core_ix and numa_ix are chosen; otherwise it floats */
	bool is_pinned; /* has_cpu on this machine: pin it there */
	uint32_t cpu;	/* the kernel's number */
	uint32_t core_ix;
	uint32_t numa_ix;
	uint32_t kind;
};

struct bt_topo_plan {
	bool is_inline;	      /* one thread runs everything: places has only the scheduling thread */
	uint32_t worker_n;    /* shards, at least 1 */
	uint32_t ingestion_n; /* 0 when inline */
	uint32_t binder_n;    /* 0 when inline */
	uint32_t numa_n;      /* memory nodes of the machine */
	uint32_t place_n;     /* scheduling, workers from 1 on, publisher, ingestion, binders */
	struct bt_topo_place *places;
	struct bt_buf warnings; /* one line each; empty: none */
};

/*
 * Chooses a CPU for every thread: scheduling thread and workers on separate cores, fast cores before slow
 * ones, memory node by memory node, SMT siblings only when cores are used up; other threads on the remaining
 * CPUs. With one core, or worker_n = 1 and no request for ingestion and binders, everything runs inline.
 * Context : any thread; allocates.
 * Returns : BT_OK; BT_INVALID for an invalid CPU list, BT_RANGE for missing or disallowed CPUs and for too
 *           many threads; error, reason and remedy are appended to out_why.
 * Owns    : bt_topo_plan_fini.
 */
BT_MUST_CHECK enum bt_status bt_topo_plan(const struct bt_topo *topo, const struct bt_topo_request *request,
	struct bt_topo_plan *out_plan, struct bt_buf *out_why);
void bt_topo_plan_fini(struct bt_topo_plan *plan);

/* The place of a thread; NULL when the plan has none. */
const struct bt_topo_place *bt_topo_plan_find(
	const struct bt_topo_plan *plan, enum bt_topo_role role, uint32_t ix);

/* Options to start the thread of a place; the place must outlive the start. */
static inline struct bt_thread_options bt_topo_thread_options(const struct bt_topo_place *place)
{
	return (struct bt_thread_options){.name = place->name, .pinned = place->is_pinned, .cpu = place->cpu};
}
