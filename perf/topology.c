/* SPDX-License-Identifier: Apache-2.0
 * Placements of pods with terms about other pods: ten applications per kind; each node already has four of
 * their pods, evenly over the zones, and gets four more. Kinds are those of upstream's scheduler_perf, with
 * applications in place of one that all pods belong to.
 */
#include "placement.h"
#include "workload.h"

#define APPS	      10 /* of a kind */
#define PODS_PER_NODE 4	 /* bound, and as many that wait */

/* The spec of a kind's pods: text that takes the number of its application, once or not at all. */
static const char anti_affinity[] =
	"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
	"kubernetes.io/hostname, labelSelector: {matchLabels: {app: app-%u}}}]}}";
static const char preferred_affinity[] =
	"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
	"podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
	"app-%u}}}}]}}";
static const char hard_spread[] =
	"topologySpreadConstraints: [{maxSkew: 5, topologyKey: topology.kubernetes.io/zone, "
	"whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: app-%u}}}]";
static const char soft_spread[] =
	"topologySpreadConstraints: [{maxSkew: 5, topologyKey: topology.kubernetes.io/zone, "
	"whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: app-%u}}}]";
static const char default_spread[] = "";

const char *const bt_topology_specs[BT_TOPOLOGY_SPECS] = {
	anti_affinity, preferred_affinity, hard_spread, soft_spread};

/*
 * The node of the j-th bound pod of an application: zones take turns, and in a zone each application has its
 * own run of nodes, so that every node gets as many pods and never two of one application.
 */
static uint32_t node_of(const struct workload *w, uint32_t app_n, uint32_t app, uint32_t j)
{
	uint32_t in_zone = w->node_n / WORKLOAD_ZONES;
	uint32_t run = w->node_n * PODS_PER_NODE / app_n / WORKLOAD_ZONES;

	return WORKLOAD_ZONES * ((j / WORKLOAD_ZONES + app * run) % in_zone) + j % WORKLOAD_ZONES;
}

/* Adds the pods of an application: bound ones, then ones that wait. */
static void add_app(struct workload *w, uint32_t app_n, uint32_t app, const char *spec_format)
{
	struct bt_buf spec = {0};
	uint32_t bound_n = w->node_n * PODS_PER_NODE / app_n;
	char name[32];

	bt_buf_printf(&spec, spec_format, app);
	struct bt_pod_object pod = bt_workload_read(w,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod, labels: {app: "
		"app-%u}}, spec: "
		"{schedulerName: default-scheduler, containers: [{name: main, resources: {requests: {cpu: "
		"%um, memory: %uMi}}}], %s}}",
		app, 100 + app % 4 * 50, 128 << app % 3, spec.len ? spec.ptr : "")
					   ->pod;
	for (uint32_t j = 0; j < 2 * bound_n; j++) {
		snprintf(name, sizeof(name), "node-%06u", j < bound_n ? node_of(w, app_n, app, j) : 0);
		pod.spec.node_name = bt_str(j < bound_n ? name : "");
		bt_workload_add(w, &pod, j * app_n + app);
	}
	bt_buf_fini(&spec);
}

static void add_service(struct workload *w, uint32_t app)
{
	const struct bt_object *object = bt_workload_read(w,
		"{apiVersion: v1, kind: Service, metadata: {namespace: default, name: app-%u}, spec: "
		"{selector: "
		"{app: app-%u}}}",
		app, app);

	bt_engine_apply_object(w->engine, object);
}

static void measure(struct bt_bench *bench, const char *const *specs, uint32_t spec_n)
{
	struct workload w = {.node_n = (uint32_t)bt_bench_arg(bench)};
	uint32_t app_n = spec_n * APPS;

	bt_workload_begin(&w);
	for (uint32_t app = 0; app < app_n; app++) {
		const char *spec = specs[app % spec_n];

		if (spec == default_spread) {
			add_service(&w, app);
		}
		add_app(&w, app_n, app, spec);
	}
	bt_workload_measure(bench, &w);
	bt_workload_end(&w);
}

void bt_bench_affinity_spread(struct bt_bench *bench)
{
	measure(bench, bt_topology_specs, BT_TOPOLOGY_SPECS);
}

void bt_bench_anti_affinity(struct bt_bench *bench)
{
	measure(bench, (const char *const[]){anti_affinity}, 1);
}

void bt_bench_preferred_affinity(struct bt_bench *bench)
{
	measure(bench, (const char *const[]){preferred_affinity}, 1);
}

void bt_bench_hard_spread(struct bt_bench *bench)
{
	measure(bench, (const char *const[]){hard_spread}, 1);
}

void bt_bench_soft_spread(struct bt_bench *bench)
{
	measure(bench, (const char *const[]){soft_spread}, 1);
}

void bt_bench_default_spread(struct bt_bench *bench)
{
	measure(bench, (const char *const[]){default_spread}, 1);
}
