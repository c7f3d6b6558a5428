/* SPDX-License-Identifier: Apache-2.0
 * Each plugin alone, for a pod that uses it: the cost of compiling the pod's signature, and, per node of
 * 5,000, of Filter and Score. Work once per cycle (PreFilter, PreScore, NormalizeScore) is included. Each
 * node has four pods.
 */
#include "engine/base/check.h"
#include "engine/flow/config/profile.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"
#include "workload.h"

#define NODES	      5000
#define PODS_PER_NODE 4

/* A plugin, and the spec of a pod that uses it. */
struct subject {
	const struct bt_plugin *plugin;
	const char *spec;
};

/* A plugin with its compiled pod. */
struct plugin_calls {
	struct workload w;
	struct bt_arena arena, terms;
	struct bt_flow_profile *profile;
	const struct bt_plugin *plugin;
	const void *settings;
	const struct bt_signature *signature;
	struct bt_compiled compiled;
};

static const uint32_t *label_column(void *context, uint32_t key)
{
	const struct bt_cache *cache = context;

	return bt_snapshot_label_column(cache->snapshot, key);
}

static const uint64_t *image_nodes(void *context, uint32_t name)
{
	const struct bt_cache *cache = context;

	return bt_snapshot_image_nodes(cache->snapshot, name);
}

static const struct bt_view *view_of(const struct plugin_calls *a)
{
	return &bt_engine_cache(a->w.engine)->view;
}

/* The default profile's settings for the plugin. */
static void find_settings(struct plugin_calls *a)
{
	struct bt_resolved_profile *resolved = bt_arena_zalloc(&a->arena, sizeof(*resolved));
	struct bt_config_errors errors = {0};

	a->profile = bt_arena_zalloc(&a->arena, sizeof(*a->profile));
	BT_REQUIRE(bt_config_resolve(&a->w.config, 0, &errors, resolved) == BT_OK);
	bt_flow_profile_init(a->profile, resolved, &a->w.config.gates,
		bt_engine_cache(a->w.engine)->dictionary, &a->arena);
	for (uint32_t u = 0; u < a->profile->plugins.use_n; u++) {
		if (a->profile->plugins.uses[u].plugin == a->plugin) {
			a->settings = a->profile->plugins.uses[u].settings;
		}
	}
	bt_config_errors_fini(&errors);
}

static void compile(struct plugin_calls *a)
{
	struct bt_cache *cache = bt_engine_cache(a->w.engine);
	const struct bt_compile_env env = {
		.dictionary = cache->dictionary,
		.snapshot = cache->view.snapshot,
		.view = &cache->view,
		.arena = &a->terms,
		.label_column = label_column,
		.image_nodes = image_nodes,
		.context = cache,
	};

	bt_arena_reset(&a->terms);
	a->compiled = (struct bt_compiled){0};
	a->plugin->compile(a->settings, &env, a->signature, &a->compiled);
}

static void apply_storage(struct workload *w)
{
	static const char *const objects[] = {
		"kind: StorageClass, metadata: {name: late}, provisioner: d, volumeBindingMode: "
		"WaitForFirstConsumer",
		"kind: PersistentVolume, metadata: {name: bound, labels: {topology.kubernetes.io/zone: "
		"zone-1}}, "
		"spec: {volumeMode: Filesystem, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, "
		"claimRef: "
		"{namespace: default, name: bound, uid: u}, csi: {driver: d, volumeHandle: h}}, status: "
		"{phase: "
		"Bound}",
		"kind: PersistentVolumeClaim, metadata: {namespace: default, name: bound, uid: u, "
		"annotations: "
		"{pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeMode: Filesystem, volumeName: "
		"bound}, "
		"status: {phase: Bound}",
		"kind: PersistentVolumeClaim, metadata: {namespace: default, name: late, uid: v}, spec: "
		"{storageClassName: late, volumeMode: Filesystem, accessModes: [ReadWriteOnce], resources: "
		"{requests: {storage: 1Gi}}}, status: {phase: Pending}",
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		bool core = i == 1 || i == 2 || i == 3;

		bt_engine_apply_object(w->engine, bt_workload_read(w, "{apiVersion: %s, %s}",
							  core ? "v1" : "storage.k8s.io/v1", objects[i]));
	}
	for (uint32_t i = 0; i < w->node_n; i++) {
		bt_engine_apply_object(
			w->engine, bt_workload_read(w,
					   "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: "
					   "node-%06u}, spec: "
					   "{drivers: [{name: d, allocatable: {count: 16}}]}}",
					   i));
	}
}

/* A pod, already bound if it names a node. */
static struct bt_pod_object read_pod(struct workload *w, const char *spec)
{
	return bt_workload_read(w,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod, labels: {app: a}}, "
		"spec: "
		"{schedulerName: default-scheduler, containers: [{name: main, image: 'app:1', resources: "
		"{requests: "
		"{cpu: 100m, memory: 128Mi}}%s}}",
		spec)
		->pod;
}

static void end(struct plugin_calls *a)
{
	if (a->plugin) {
		bt_workload_end(&a->w);
		bt_arena_fini(&a->arena);
		bt_arena_fini(&a->terms);
	}
	*a = (struct plugin_calls){0};
}

/*
 * The subject of a benchmark, set up. Setting up takes long, and the library runs each benchmark several
 * times to find out how often it must: the last subject stays.
 */
static struct plugin_calls *begin(const struct bt_bench *bench)
{
	static struct plugin_calls kept;
	static const struct subject *kept_subject;
	const struct subject *subject = bt_bench_subject(bench);
	struct plugin_calls *a = &kept;
	char name[32];

	if (subject == kept_subject) {
		return a;
	}
	end(a);
	kept_subject = subject;
	a->w = (struct workload){.node_n = NODES, .tainted = true, .image = "app:1"};
	a->plugin = subject->plugin;
	bt_workload_begin(&a->w);
	apply_storage(&a->w);
	find_settings(a);
	struct bt_pod_object pod = read_pod(&a->w, subject->spec);
	a->signature = bt_signatures_intern(bt_engine_cache(a->w.engine)->signatures, &pod);
	for (uint32_t i = 0; i < NODES * PODS_PER_NODE; i++) {
		snprintf(name, sizeof(name), "node-%06u", i % NODES);
		pod.spec.node_name = bt_str(name);
		bt_workload_add(&a->w, &pod, i);
	}
	compile(a);
	return a;
}

static void run_compile(struct bt_bench *bench)
{
	struct plugin_calls *a = begin(bench);

	while (bt_bench_keep_running(bench)) {
		compile(a);
		bt_bench_keep(&a->compiled);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
}

static void begin_cycle(struct plugin_calls *a)
{
	struct bt_compiled *compiled = &a->compiled;

	if (a->plugin->prepare) {
		a->plugin->prepare(
			compiled->state, view_of(a), &compiled->filter_skip, &compiled->score_skip);
	} else if (a->plugin->pre_filter && compiled->state) {
		a->plugin->pre_filter(compiled->state, view_of(a), compiled);
	}
}

static void run_filter(struct bt_bench *bench)
{
	static uint8_t pass[NODES];
	struct plugin_calls *a = begin(bench);
	int64_t passed_n = 0;

	while (bt_bench_keep_running(bench)) {
		begin_cycle(a);
		a->plugin->filter(a->compiled.term, view_of(a), 0, NODES, pass);
		bt_bench_keep(pass);
	}
	for (uint32_t i = 0; i < NODES; i++) {
		passed_n += pass[i];
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * NODES);
	bt_bench_counter(bench, "passed", (double)passed_n);
	if (a->compiled.filter_skip || a->compiled.refused || a->compiled.pre_filter_error) {
		bt_bench_skip(bench, "the pod does not use the plugin");
	}
}

static void run_score(struct bt_bench *bench)
{
	static int64_t scores[NODES];
	static uint32_t nodes[NODES];
	struct plugin_calls *a = begin(bench);

	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = i;
	}
	while (bt_bench_keep_running(bench)) {
		begin_cycle(a);
		if (a->plugin->pre_score) {
			a->plugin->pre_score(a->compiled.state, view_of(a), nodes, NULL, NODES);
		}
		a->plugin->score(a->compiled.term, view_of(a), 0, NODES, scores);
		if (a->plugin->normalize_own) {
			a->plugin->normalize_own(a->compiled.term, view_of(a), nodes, NODES, scores);
		}
		bt_bench_keep(scores);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * NODES);
	if (a->compiled.score_skip) {
		bt_bench_skip(bench, "the pod does not use the plugin");
	}
}

/* Each plugin with its pod: the rest of its container, which ends the list of containers, and of its spec. */
#define SUBJECT(id, text) static const struct subject id = {&bt_plugin_##id, text};
SUBJECT(node_name, "}], nodeName: node-000007")
SUBJECT(node_unschedulable, "}]")
SUBJECT(taint_toleration, "}], tolerations: [{key: dedicated, operator: Exists}]")
SUBJECT(node_affinity, "}], nodeSelector: {disk: ssd}, affinity: {nodeAffinity: "
		       "{requiredDuringSchedulingIgnoredDuringExecution: "
		       "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, "
		       "operator: In, values: [zone-1, "
		       "zone-2]}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10, "
		       "preference: {matchExpressions: "
		       "[{key: node.kubernetes.io/instance-type, operator: In, values: [machine-1]}]}}]}}")
SUBJECT(node_ports, ", ports: [{containerPort: 80, hostPort: 80, protocol: TCP}]}]")
SUBJECT(node_resources_fit, "}]")
SUBJECT(node_resources_balanced_allocation, "}]")
SUBJECT(image_locality, "}]")
SUBJECT(node_declared_features, ", restartPolicyRules: [{action: RestartAllContainers}]}]")
SUBJECT(pod_topology_spread, "}], topologySpreadConstraints: [{maxSkew: 5, topologyKey: "
			     "topology.kubernetes.io/zone, whenUnsatisfiable: "
			     "DoNotSchedule, labelSelector: {matchLabels: {app: a}}}, {maxSkew: 5, "
			     "topologyKey: kubernetes.io/hostname, "
			     "whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: a}}}]")
SUBJECT(inter_pod_affinity,
	"}], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
	"kubernetes.io/hostname, labelSelector: {matchLabels: {app: b}}}]}, podAffinity: "
	"{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: "
	"topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: a}}}}]}}")
SUBJECT(volume_restrictions, "}], volumes: [{name: v, gcePersistentDisk: {pdName: a, readOnly: true}}]")
SUBJECT(node_volume_limits, "}], volumes: [{name: v, persistentVolumeClaim: {claimName: bound}}]")
SUBJECT(volume_zone, "}], volumes: [{name: v, persistentVolumeClaim: {claimName: bound}}]")
SUBJECT(volume_binding, "}], volumes: [{name: v, persistentVolumeClaim: {claimName: late}}]")

#define CASE(plugin, point, id)                                                                              \
	{                                                                                                    \
		.name = plugin "/" #point, .run = run_##point, .subject = &id                                \
	}

static const struct bt_bench_case cases[] = {
	CASE("NodeName", compile, node_name),
	CASE("NodeUnschedulable", compile, node_unschedulable),
	CASE("NodeUnschedulable", filter, node_unschedulable),
	CASE("TaintToleration", compile, taint_toleration),
	CASE("TaintToleration", filter, taint_toleration),
	CASE("TaintToleration", score, taint_toleration),
	CASE("NodeAffinity", compile, node_affinity),
	CASE("NodeAffinity", filter, node_affinity),
	CASE("NodeAffinity", score, node_affinity),
	CASE("NodePorts", compile, node_ports),
	CASE("NodePorts", filter, node_ports),
	CASE("NodeResourcesFit", compile, node_resources_fit),
	CASE("NodeResourcesFit", filter, node_resources_fit),
	CASE("NodeResourcesFit", score, node_resources_fit),
	CASE("NodeResourcesBalancedAllocation", compile, node_resources_balanced_allocation),
	CASE("NodeResourcesBalancedAllocation", score, node_resources_balanced_allocation),
	CASE("ImageLocality", compile, image_locality),
	CASE("ImageLocality", score, image_locality),
	CASE("NodeDeclaredFeatures", compile, node_declared_features),
	CASE("NodeDeclaredFeatures", filter, node_declared_features),
	CASE("PodTopologySpread", compile, pod_topology_spread),
	CASE("PodTopologySpread", filter, pod_topology_spread),
	CASE("PodTopologySpread", score, pod_topology_spread),
	CASE("InterPodAffinity", compile, inter_pod_affinity),
	CASE("InterPodAffinity", filter, inter_pod_affinity),
	CASE("InterPodAffinity", score, inter_pod_affinity),
	CASE("VolumeRestrictions", compile, volume_restrictions),
	CASE("VolumeRestrictions", filter, volume_restrictions),
	CASE("NodeVolumeLimits", compile, node_volume_limits),
	CASE("NodeVolumeLimits", filter, node_volume_limits),
	CASE("VolumeZone", compile, volume_zone),
	CASE("VolumeZone", filter, volume_zone),
	CASE("VolumeBinding", compile, volume_binding),
	CASE("VolumeBinding", filter, volume_binding),
};

const struct bt_bench_suite bt_bench_plugin = {
	.name = "plugin", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
