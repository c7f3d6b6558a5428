/* SPDX-License-Identifier: Apache-2.0
 * Random objects of a small cluster that is nearly full.
 */
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t below(struct cluster_source *h, uint32_t n)
{
	return topology_below(&h->topology, n);
}

static struct bt_resource_list amounts(struct cluster_source *h, const char *cpu, const char *pods)
{
	struct bt_named_quantity *items = bt_arena_zalloc(&h->topology.arena, 2 * sizeof(*items));

	items[0].name = bt_str("cpu");
	items[1].name = bt_str("pods");
	assert_int_equal(bt_quantity_parse(bt_str(cpu), &items[0].quantity), BT_OK);
	assert_int_equal(bt_quantity_parse(bt_str(pods), &items[1].quantity), BT_OK);
	return (struct bt_resource_list){items, 2, true};
}

struct bt_node_object cluster_node(struct cluster_source *h, uint32_t n)
{
	struct bt_node_object node = {.meta = {.name = topology_numbered(&h->topology, "n", n)}};

	node.meta.labels = topology_labels(&h->topology, topology_keys, TOPOLOGY_KEYS, 85);
	node.allocatable = amounts(h, below(h, 2) ? "4" : "2", "8");
	node.unschedulable = below(h, 10) == 0;
	return node;
}

struct bt_object cluster_budget(struct cluster_source *h)
{
	struct bt_object budget = {.kind = BT_KIND_POD_DISRUPTION_BUDGET,
		.pdb.meta = {.name = topology_numbered(&h->topology, "b", below(h, 3)),
			.namespace_ = topology_pick(&h->topology)}};

	budget.pdb.selector = topology_selector(&h->topology);
	budget.pdb.disruptions_allowed = (int32_t)below(h, 3);
	return budget;
}

#define CLAIMS 4

static struct bt_str_list one_text(struct cluster_source *h, const char *text)
{
	struct bt_str *items = bt_arena_zalloc(&h->topology.arena, sizeof(*items));

	items[0] = bt_str(text);
	return (struct bt_str_list){.items = items, .n = 1, .set = true};
}

struct bt_object cluster_storage(struct cluster_source *h)
{
	static const struct bt_str_pair bound[] = {
		{BT_STR("pv.kubernetes.io/bind-completed"), BT_STR("yes")}};
	uint32_t what = below(h, 3), number = below(h, CLAIMS);
	struct bt_object object = {.kind = BT_KIND_PERSISTENT_VOLUME_CLAIM};

	if (what == 0) {
		object.meta.namespace_ = topology_pick(&h->topology);
		object.meta.name = topology_numbered(&h->topology, "c", number);
		object.meta.annotations = (struct bt_str_map){(struct bt_str_pair *)bound, 1, true};
		object.claim.volume_name = topology_numbered(&h->topology, "v", below(h, CLAIMS));
		object.claim.access_modes = one_text(h, below(h, 2) ? "ReadWriteOnce" : "ReadWriteOncePod");
	} else if (what == 1) {
		object.kind = BT_KIND_PERSISTENT_VOLUME;
		object.meta.name = topology_numbered(&h->topology, "v", number);
		object.persistent_volume.source = (struct bt_volume_object){
			.type = BT_VOLUME_CSI_INLINE, .source = bt_str("d"), .handle = object.meta.name};
	} else {
		struct bt_csi_node_driver_object *driver =
			bt_arena_zalloc(&h->topology.arena, sizeof(*driver));

		object.kind = BT_KIND_CSI_NODE;
		object.meta.name = topology_numbered(&h->topology, "n", below(h, h->node_n));
		driver->name = bt_str("d");
		driver->has_count = true;
		driver->count = (int32_t)below(h, 3);
		object.csi_node.drivers = driver;
		object.csi_node.driver_n = 1;
	}
	return object;
}

/* A claim, or a disk that only one pod of a node may use. */
static void describe_volume(struct cluster_source *h, struct bt_pod_spec_object *spec)
{
	struct bt_volume_object *volume = bt_arena_zalloc(&h->topology.arena, sizeof(*volume));

	volume->name = bt_str("v");
	if (below(h, 3)) {
		volume->type = BT_VOLUME_CLAIM;
		volume->source = topology_numbered(&h->topology, "c", below(h, CLAIMS));
	} else {
		volume->type = BT_VOLUME_GCE_PD;
		volume->source = topology_pick(&h->topology);
	}
	spec->volumes = volume;
	spec->volume_n = 1;
}

struct bt_pod_object cluster_pod(struct cluster_source *h)
{
	struct bt_pod_object made, *pod = &made;
	struct bt_container_object *container = bt_arena_zalloc(&h->topology.arena, sizeof(*container));
	struct bt_port_object *port = bt_arena_zalloc(&h->topology.arena, sizeof(*port));
	static const char *const cpus[] = {"500m", "1", "2"};

	*pod = (struct bt_pod_object){.meta = {.name = topology_numbered(&h->topology, "p", h->next++),
					      .namespace_ = topology_pick(&h->topology)}};
	pod->spec.scheduler_name = bt_str("default-scheduler");
	static const int32_t levels[] = {0, 3, 3, 5};
	pod->spec.priority = h->plain ? levels[below(h, 4)] : (int32_t)below(h, 4);
	pod->spec.has_priority = true;
	pod->spec.preemption_policy = bt_str(below(h, 10) ? "PreemptLowerPriority" : "Never");
	pod->start_ns = below(h, 3) ? 1 + (int64_t)below(h, 1000) : 0;
	container->resources.set = true;
	container->resources.requests = amounts(h, cpus[below(h, h->plain ? 2 : 3)], "0");
	container->resources.requests.n = 1;
	*port = (struct bt_port_object){.host_port = 80, .container_port = 80, .protocol = bt_str("TCP")};
	container->ports = port;
	pod->spec.containers = container;
	pod->spec.container_n = 1;
	if (h->plain) {
		pod->meta.namespace_ = bt_str("default");
		return made;
	}
	pod->meta.labels = topology_labels(&h->topology, topology_names, TOPOLOGY_NAMES, 50);
	container->port_n = below(h, 6) == 0;
	if (below(h, 6) == 0) {
		topology_affinity(&h->topology, &pod->spec.affinity.pod_anti_affinity);
	}
	if (below(h, 6) == 0) {
		topology_spread(&h->topology, &pod->spec);
	}
	if (below(h, 4) == 0) {
		describe_volume(h, &pod->spec);
	}
	return made;
}
