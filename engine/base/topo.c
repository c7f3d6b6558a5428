/* SPDX-License-Identifier: Apache-2.0
 * Topology by hwloc. Placement uses only cores, their threads and memory nodes, not caches and devices.
 */
#include "engine/base/topo.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/cpu_quota.h"

struct bt_topo {
	hwloc_topology_t hwloc;
	struct bt_topo_machine machine; /* init: */
	struct bt_topo_cpu *cpus;	/* init: machine.cpu_n of them, by core, then by number */
};

static void topo_explain(struct bt_buf *out_why, const char *what, const char *which, const char *remedy)
{
	if (out_why) {
		bt_buf_printf(out_why, "topology: %s%s; %s", what, which, remedy);
	}
}

/* The description that the environment requests. Only hwloc's own variables are supported. */
static enum bt_status choose_source(hwloc_topology_t hwloc, struct bt_buf *out_why)
{
	const char *xml = getenv("HWLOC_XMLFILE");
	const char *synthetic = getenv("HWLOC_SYNTHETIC");

	if (xml && xml[0]) {
		if (hwloc_topology_set_xml(hwloc, xml)) {
			topo_explain(out_why, "HWLOC_XMLFILE is no topology that hwloc can read: ", xml,
				"write one with lstopo --of xml, or unset the variable");
			return BT_INVALID;
		}
	} else if (synthetic && synthetic[0]) {
		if (hwloc_topology_set_synthetic(hwloc, synthetic)) {
			topo_explain(out_why,
				"HWLOC_SYNTHETIC is no description that hwloc can read: ", synthetic,
				"write it like \"pack:2 [numa] core:4 pu:2\", or unset the variable");
			return BT_INVALID;
		}
	} else if (!getenv("HWLOC_FSROOT") && access("/sys/devices/system/cpu", F_OK) != 0) {
		/* Without sysfs hwloc's Linux part complains on stderr and finds nothing. The rest counts the
		 * CPUs. */
		hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
	}
	return BT_OK;
}

static enum bt_status load(struct bt_topo *topo, struct bt_buf *out_why)
{
	if (hwloc_topology_init(&topo->hwloc)) {
		topo_explain(out_why, "hwloc could not start: ", strerror(errno), "free some memory");
		return BT_IO;
	}
	enum bt_status status = choose_source(topo->hwloc, out_why);
	if (status != BT_OK) {
		hwloc_topology_destroy(topo->hwloc);
		return status;
	}
	hwloc_topology_set_all_types_filter(topo->hwloc, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(topo->hwloc, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(topo->hwloc, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	hwloc_topology_set_type_filter(topo->hwloc, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
	/* Includes CPUs that the process may not use, for the error when a CPU list names them. */
	hwloc_topology_set_flags(topo->hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	errno = 0;
	if (hwloc_topology_load(topo->hwloc)) {
		topo_explain(out_why, "hwloc could not read it: ", errno ? strerror(errno) : "not understood",
			"check the output of lstopo, and the HWLOC_ variables");
		hwloc_topology_destroy(topo->hwloc);
		return BT_IO;
	}
	return BT_OK;
}

/* The usable CPUs: those that the machine allows and, on this machine, the caller's affinity. */
static hwloc_bitmap_t usable_set(hwloc_topology_t hwloc)
{
	hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(hwloc));
	hwloc_bitmap_t bound = hwloc_bitmap_alloc();

	if (hwloc_topology_is_thissystem(hwloc) && !hwloc_get_cpubind(hwloc, bound, HWLOC_CPUBIND_THREAD) &&
		hwloc_bitmap_intersects(usable, bound)) {
		hwloc_bitmap_and(usable, usable, bound);
	}
	hwloc_bitmap_free(bound);
	return usable;
}

/* The memory node of a CPU: the one with the fewest CPUs, since nodes of different memory kinds overlap. */
static uint32_t numa_of(hwloc_topology_t hwloc, hwloc_obj_t pu)
{
	hwloc_obj_t node = NULL, best = NULL;

	while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node))) {
		if (hwloc_bitmap_isset(node->cpuset, pu->os_index) &&
			(!best || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))) {
			best = node;
		}
	}
	return best ? best->logical_index : 0;
}

static uint32_t kind_of(hwloc_topology_t hwloc, hwloc_obj_t pu)
{
	int kind = hwloc_cpukinds_get_by_cpuset(hwloc, pu->cpuset, 0);
	int speed = -1;

	if (kind >= 0) {
		hwloc_cpukinds_get_info(hwloc, (unsigned)kind, NULL, &speed, NULL, NULL, 0);
	}
	return speed < 0 ? 0 : (uint32_t)speed;
}

/* Fills the table of CPUs: hwloc numbers them core by core. */
static void take_cpus(struct bt_topo *topo)
{
	hwloc_topology_t hwloc = topo->hwloc;
	hwloc_bitmap_t usable = usable_set(hwloc);
	uint32_t last_usable_core = UINT32_MAX;
	struct bt_topo_machine *machine = &topo->machine;

	topo->cpus = bt_mem_zalloc(machine->cpu_n, sizeof(*topo->cpus));
	for (uint32_t i = 0; i < machine->cpu_n; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PU, i);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_CORE, pu);
		struct bt_topo_cpu *cpu = &topo->cpus[i];

		*cpu = (struct bt_topo_cpu){.cpu = pu->os_index,
			.core_ix = core ? core->logical_index : i,
			.numa_ix = numa_of(hwloc, pu),
			.kind = kind_of(hwloc, pu),
			.is_usable = hwloc_bitmap_isset(usable, pu->os_index) != 0};
		machine->usable_cpu_n += cpu->is_usable;
		if (cpu->is_usable && cpu->core_ix != last_usable_core) {
			last_usable_core = cpu->core_ix;
			machine->usable_core_n++;
		}
	}
	hwloc_bitmap_free(usable);
}

static uint32_t topo_count(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(hwloc, type);

	return n > 0 ? (uint32_t)n : 0;
}

enum bt_status bt_topo_discover(struct bt_topo **out_topo, struct bt_buf *out_why)
{
	struct bt_topo *topo = bt_mem_zalloc(1, sizeof(*topo));
	enum bt_status status = load(topo, out_why);

	if (status != BT_OK) {
		bt_mem_free(topo);
		return status;
	}
	int kind_n = hwloc_cpukinds_get_nr(topo->hwloc, 0);
	topo->machine = (struct bt_topo_machine){
		.cpu_n = topo_count(topo->hwloc, HWLOC_OBJ_PU),
		.core_n = topo_count(topo->hwloc, HWLOC_OBJ_CORE),
		.numa_n = topo_count(topo->hwloc, HWLOC_OBJ_NUMANODE),
		.package_n = topo_count(topo->hwloc, HWLOC_OBJ_PACKAGE),
		.kind_n = kind_n > 1 ? (uint32_t)kind_n : 1,
		.is_simulated = !hwloc_topology_is_thissystem(topo->hwloc),
	};
	if (topo->machine.core_n == 0) {
		topo->machine.core_n = topo->machine.cpu_n;
	}
	if (!topo->machine.is_simulated) {
		topo->machine.quota_n = bt_cpu_quota_n("");
	}
	take_cpus(topo);
	*out_topo = topo;
	return BT_OK;
}

void bt_topo_destroy(struct bt_topo *topo)
{
	if (topo) {
		hwloc_topology_destroy(topo->hwloc);
		bt_mem_free(topo->cpus);
		bt_mem_free(topo);
	}
}

struct bt_topo_machine bt_topo_machine(const struct bt_topo *topo)
{
	return topo->machine;
}

const struct bt_topo_cpu *bt_topo_cpus(const struct bt_topo *topo, uint32_t *out_n)
{
	*out_n = topo->machine.cpu_n;
	return topo->cpus;
}

enum bt_status bt_topo_bind_range(const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix)
{
	if (numa_ix >= topo->machine.numa_n) {
		return BT_RANGE;
	}
	if (topo->machine.is_simulated) {
		return BT_OK;
	}
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)ptr + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)ptr + bytes) & ~(page - 1);
	if (begin >= end) {
		return BT_OK;
	}
	hwloc_obj_t node = hwloc_get_obj_by_type(topo->hwloc, HWLOC_OBJ_NUMANODE, numa_ix);
	int refused = hwloc_set_area_membind(topo->hwloc, (void *)begin, end - begin, node->nodeset,
		HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE);
	return refused ? BT_IO : BT_OK;
}

void bt_topo_use_memory(const struct bt_topo *topo, uint32_t numa_ix)
{
	BT_REQUIRE(numa_ix < topo->machine.numa_n);
	if (topo->machine.numa_n > 1) {
		bt_mem_use_arena(bt_mem_node_arena(numa_ix));
	}
}
