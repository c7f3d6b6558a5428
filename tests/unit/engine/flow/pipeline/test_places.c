/* SPDX-License-Identifier: Apache-2.0
 * The pipeline on simulated machines: for every placement of threads, the decisions are those of one thread
 * (I9). Every pod is added before the first is decided, so that timing does not matter.
 */
#include <sched.h>

#include <dirent.h>

#include "lab.h"
#include "seed.h"
#include "engine/base/rng.h"
#include "engine/base/team.h"
#include "engine/base/thread.h"
#include "engine/base/topo.h"

#define NODES 25
#define PODS  300

/* The decisions, one line per pod. */
struct log {
	struct bt_buf text;
	uint32_t n;
};

static void write_down(void *context, const struct bt_pipeline_decision *decision)
{
	struct log *log = context;

	bt_buf_printf(&log->text, "%.*s %d %.*s %.*s\n", BT_STR_ARG(decision->pod.name),
		(int)decision->outcome, BT_STR_ARG(decision->node), BT_STR_ARG(decision->message));
	log->n++;
}

static void feed_nodes(struct lab *lab, struct bt_rng *rng)
{
	static const char *const taints[] = {"", "", "", "{'key': 'a', 'effect': 'NoSchedule'}",
		"{'key': 'b', 'effect': 'PreferNoSchedule'}"};
	char text[512];

	for (int i = 0; i < NODES; i++) {
		snprintf(text, sizeof(text),
			"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n%d', 'labels': {'zone': "
			"'z%u', "
			"'kubernetes.io/hostname': 'n%d'}}, 'spec': {'taints': [%s]}, 'status': "
			"{'allocatable': "
			"{'cpu': '%u', 'memory': '%uGi', 'pods': '20'}}}",
			i, bt_rng_below(rng, 4), i, taints[bt_rng_below(rng, 5)], 2 + bt_rng_below(rng, 6),
			4 + bt_rng_below(rng, 12));
		lab_feed(lab, lab_watch_event(lab, BT_WATCH_EVENT_APPLY, text));
	}
}

static void feed_pods(struct lab *lab, struct bt_rng *rng)
{
	static const char *const specs[] = {"", "", ", 'tolerations': [{'key': 'a', 'operator': 'Exists'}]",
		", 'nodeSelector': {'zone': 'z1'}",
		", 'topologySpreadConstraints': [{'maxSkew': 2, 'topologyKey': 'zone', 'whenUnsatisfiable': "
		"'DoNotSchedule', 'labelSelector': {'matchLabels': {'app': 'x'}}}]",
		", 'affinity': {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{"
		"'topologyKey': 'kubernetes.io/hostname', 'labelSelector': {'matchLabels': {'app': "
		"'x'}}}]}}"};
	char text[1024];

	for (int i = 0; i < PODS; i++) {
		snprintf(text, sizeof(text),
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': "
			"'p%d', 'uid': "
			"'u%d', 'labels': {'app': '%c'}}, 'spec': {'schedulerName': 'default-scheduler', "
			"'priority': %u, "
			"'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '%um', 'memory': "
			"'%uMi'}}}]%s}}",
			i, i, "wxyz"[bt_rng_below(rng, 4)], bt_rng_below(rng, 3),
			100 * (1 + bt_rng_below(rng, 9)), 64 * (1 + bt_rng_below(rng, 9)),
			specs[bt_rng_below(rng, 6)]);
		lab_feed(lab, lab_watch_event(lab, BT_WATCH_EVENT_APPLY, text));
	}
	lab_feed(lab, bt_watch_event_create(BT_WATCH_EVENT_SYNCED));
}

static struct bt_pipeline_options options_for(
	struct lab *lab, struct log *log, const struct bt_topo_plan *plan)
{
	struct bt_pipeline_options options = lab_options(lab);

	options.limits = bt_limits_default();
	options.limits.feed = options.limits.delta = options.limits.inbox = 16;
	if (!plan->is_inline) {
		options.limits.ingest_threads = plan->ingestion_n;
		options.limits.bind_threads = plan->binder_n;
	}
	options.binder.bind = NULL;
	options.binder.evict = NULL;
	options.limits.workers = plan->worker_n;
	options.plan = plan;
	options.engine.batch = 7;
	options.engine.always_share = true;
	options.sink = (struct bt_pipeline_sink){.decided = write_down, .context = log};
	options.wait_for_sync = true;
	return options;
}

/* Decides the pods of a seed in threads on these places, or inline by plan. Calls look while
 * the threads run. Returns the log. */
static struct log decide(
	uint64_t seed, const struct bt_topo_plan *plan, void (*look)(const struct bt_topo_plan *plan))
{
	struct lab lab = {.now_ns = 1};
	struct log log = {.n = 0};
	struct bt_pipeline_options options = options_for(&lab, &log, plan);
	struct bt_rng rng = {.state = seed};
	struct bt_buf why = {0};

	lab_begin(&lab, &options);
	if (!plan->is_inline) {
		assert_int_equal(bt_pipeline_start(lab.pipeline, &why), BT_OK);
		assert_int_equal(why.len, 0);
		look(plan);
	}
	feed_nodes(&lab, &rng);
	feed_pods(&lab, &rng);
	assert_true(bt_pipeline_stop(lab.pipeline, BT_END_DRAIN, BT_FOREVER));
	assert_true(log.n >= PODS);
	if (plan->worker_n > 1) {
		assert_true(bt_engine_counts(bt_pipeline_engine(lab.pipeline)).warm.shared_n > 0);
	}
	lab_end(&lab);
	return log;
}

/* The affinity list of a thread of this process by its name, such as "0-3"; false when it does not exist. */
static bool find_thread(const char *name, char *out_cpus, size_t bytes)
{
	DIR *folder = opendir("/proc/self/task");
	bool found = false;

	assert_non_null(folder);
	for (struct dirent *entry; !found && (entry = readdir(folder));) {
		char path[300], line[4096], named[64];
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");

		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "Name:\t%63[^\n]", named) == 1) {
				found = strcmp(named, name) == 0;
			} else if (found && strncmp(line, "Cpus_allowed_list:\t", 19) == 0) {
				snprintf(out_cpus, bytes, "%.*s", (int)strcspn(line + 19, "\n"), line + 19);
			}
		}
		if (file) {
			fclose(file);
		}
	}
	closedir(folder);
	return found;
}

/* Each thread of the plan runs under its name, on its CPU, or on the process's CPUs. */
static void look_at_places(const struct bt_topo_plan *plan)
{
	for (uint32_t i = 0; i < plan->place_n; i++) {
		const struct bt_topo_place *place = &plan->places[i];
		char cpus[4096], want[4096];

		/* A thread sets its name when it starts. */
		while (!find_thread(place->name, cpus, sizeof(cpus))) {
			bt_thread_yield();
		}
		if (place->is_pinned) {
			snprintf(want, sizeof(want), "%u", place->cpu);
		} else {
			char self[BT_THREAD_NAME_BYTES];
			FILE *file = fopen("/proc/thread-self/comm", "r");

			assert_non_null(file);
			assert_non_null(fgets(self, sizeof(self), file));
			self[strcspn(self, "\n")] = '\0';
			fclose(file);
			assert_true(find_thread(self, want, sizeof(want)));
		}
		assert_string_equal(cpus, want);
	}
}

static void describe(const char *variable, const char *value)
{
	unsetenv("HWLOC_SYNTHETIC");
	unsetenv("HWLOC_XMLFILE");
	if (variable) {
		setenv(variable, value, 1);
	}
}

static struct bt_topo_plan plan_for(struct bt_topo_request request)
{
	struct bt_topo *topo = NULL;
	struct bt_topo_plan plan;

	assert_int_equal(bt_topo_discover(&topo, NULL), BT_OK);
	assert_int_equal(bt_topo_plan(topo, &request, &plan, NULL), BT_OK);
	bt_topo_destroy(topo);
	return plan;
}

static void assert_decides_as_inline(uint64_t seed, struct bt_topo_request request)
{
	struct bt_topo_plan one = plan_for((struct bt_topo_request){.worker_n = 1}), plan = plan_for(request);
	struct log want = decide(seed, &one, look_at_places), got = decide(seed, &plan, look_at_places);

	assert_true(one.is_inline);
	assert_string_equal(got.text.ptr, want.text.ptr);
	bt_buf_fini(&want.text);
	bt_buf_fini(&got.text);
	bt_topo_plan_fini(&one);
	bt_topo_plan_fini(&plan);
}

static void simulated_machines_decide_as_one_thread_does(void **state)
{
	static const char *const machines[][2] = {
		{"HWLOC_SYNTHETIC", "pack:1 [numa] core:2 pu:1"},
		{"HWLOC_SYNTHETIC", "pack:2 [numa] core:4 pu:2"},
		{"HWLOC_SYNTHETIC", "pack:8 [numa] core:4 pu:2"},
		{"HWLOC_XMLFILE", BT_SOURCE_DIR "/tests/unit/engine/base/data/hybrid.xml"},
		{"HWLOC_XMLFILE", BT_SOURCE_DIR "/tests/unit/engine/base/data/restricted.xml"},
	};
	uint64_t seed = seed_of_test();

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		describe(machines[i][0], machines[i][1]);
		assert_decides_as_inline(seed + i, (struct bt_topo_request){.worker_n = 0});
	}
}

static void this_machine_decides_as_one_thread_does_and_pins_its_threads(void **state)
{
	(void)state;
	describe(NULL, NULL);
	assert_decides_as_inline(seed_of_test(), (struct bt_topo_request){.worker_n = 0});
	assert_decides_as_inline(
		seed_of_test(), (struct bt_topo_request){.worker_n = 2, .ingestion_n = 3, .binder_n = 2});
}

/* With one CPU no thread is started; explicitly requested threads share it. */
static void one_core_decides_the_same_inline_or_crowded(void **state)
{
	cpu_set_t before, one;
	struct bt_topo_plan plan;
	size_t cpu = 0;

	(void)state;
	describe(NULL, NULL);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(cpu, &before)) {
		cpu++;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	plan = plan_for((struct bt_topo_request){.worker_n = 0});
	assert_true(plan.is_inline);
	bt_topo_plan_fini(&plan);
	assert_decides_as_inline(
		seed_of_test(), (struct bt_topo_request){.worker_n = 2, .ingestion_n = 2, .binder_n = 2});
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulated_machines_decide_as_one_thread_does),
		cmocka_unit_test(this_machine_decides_as_one_thread_does_and_pins_its_threads),
		cmocka_unit_test(one_core_decides_the_same_inline_or_crowded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
