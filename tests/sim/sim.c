/* SPDX-License-Identifier: Apache-2.0
 * Plays a history until the system is at rest, and records the first violated invariant.
 */
#include "sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tools/kube/config/config_decode.h"

#define BEGIN_NS      (INT64_C(1700000000) * SIM_SECOND)
#define REST_SECONDS  200   /* until the system must be at rest */
#define FLUSH_SECONDS 331   /* until the flush has requeued every waiting pod */
#define MOVES_MAX     20000 /* within one of these seconds */

const struct bt_config *sim_config(enum sim_groups groups)
{
	static const struct {
		const char *release, *gates;
	} kinds[SIM_GROUP_KINDS] = {[SIM_COLLECTED] = {"1.36", "GenericWorkload=true,GangScheduling=true"},
		[SIM_QUEUED] = {"1.37", "GenericWorkload=true"}};
	static const char text[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
				   "kind: KubeSchedulerConfiguration\n"
				   "profiles: [{schedulerName: default-scheduler}]\n";
	static struct bt_config configs[SIM_GROUP_KINDS];
	static bool made[SIM_GROUP_KINDS];
	struct bt_config *config = &configs[groups];
	struct bt_gates gates;
	struct bt_buf error = {0};

	if (!made[groups]) {
		bt_gates_init(&gates,
			groups ? bt_release_find(bt_str(kinds[groups].release)) : bt_release_default());
		if (groups && bt_gates_parse(&gates, bt_str(kinds[groups].gates), &error) != BT_OK) {
			abort();
		}
		bt_config_init(config, &gates);
		if (bt_config_load(config, "sim", bt_str(text), &error) != BT_OK) {
			abort();
		}
		bt_buf_fini(&error);
		made[groups] = true;
	}
	return config;
}

void sim_fail(struct sim *sim, const char *invariant, const char *format, ...)
{
	va_list args;

	if (sim->failed) {
		return;
	}
	sim->failed = true;
	sim->invariant = invariant;
	bt_buf_printf(&sim->message, "step %" PRIu32 ": %s: ", sim->step_no, invariant);
	va_start(args, format);
	bt_buf_vprintf(&sim->message, format, args);
	va_end(args);
}

void sim_note(struct sim *sim, const char *format, ...)
{
	va_list args;

	if (!sim->trace) {
		return;
	}
	va_start(args, format);
	bt_buf_vprintf(&sim->notes, format, args);
	va_end(args);
	bt_buf_char(&sim->notes, '\n');
}

static bool refuses(void *context, enum bt_mem_use use, size_t bytes)
{
	struct sim *sim = context;
	bool starved = sim_is_starved(sim, use);

	(void)bytes;
	sim->faults[SIM_NO_MEMORY_OBJECT + (int)use] += starved;
	return starved;
}

struct sim *sim_create(const struct sim_history *history, bool trace, struct sim_api *api)
{
	uint64_t seed = history->seed;
	struct sim *sim = calloc(1, sizeof(*sim));

	sim->seed = seed;
	sim->trace = trace;
	sim->shares_api = api;
	sim->api = api ? api : calloc(1, sizeof(*sim->api));
	sim->now_ns = sim->latest_ns = BEGIN_NS;
	sim->leader = true;
	bt_mem_set_refuser(refuses, sim);
	sim->engine_n = seed % 4 == 0 ? SIM_ENGINES : 1;
	sim->gangs = sim_has_gangs(seed);
	sim->works = !history->piped && seed / 16 % 4 == 3;
	for (uint32_t e = 0; e < sim->engine_n && !history->piped; e++) {
		sim->engines[e] = sim_engine_create(sim, e == 1, true);
	}
	if (history->piped) {
		sim_pipe_create(sim);
	}
	for (uint32_t i = 0; i < SIM_DEVICE_CLAIMS; i++) {
		sim->kept[i].node = SIM_NONE;
	}
	for (uint32_t i = 0; i < SIM_PODS; i++) {
		sim->known[i] = (struct sim_known){.ix = BT_NO_POD, .confirmed = SIM_NONE};
	}
	return sim;
}

void sim_end(struct sim *sim)
{
	bt_mem_set_refuser(NULL, NULL);
	sim_let_go(sim);
	sim_leave(sim);
	for (uint32_t e = sim->pipeline ? 1 : 0; e < sim->engine_n; e++) {
		bt_engine_destroy(sim->engines[e]);
	}
	bt_pipeline_destroy(sim->pipeline);
	if (!sim->shares_api) {
		sim_api_fini(sim->api);
		free(sim->api);
	}
	bt_arena_fini(&sim->arena);
	bt_buf_fini(&sim->message);
	bt_buf_fini(&sim->notes);
	free(sim);
}

static bool is_at_rest(const struct sim *sim)
{
	struct bt_queue_counts counts = bt_engine_counts(sim->engines[0]).queue;
	bool any_node = false;

	for (uint32_t i = 0; i < SIM_PODS; i++) {
		const struct sim_object *pod = &sim->api->objects[SIM_POD_STREAM][i];

		if (pod->there && pod->pod.deletion_ns) {
			return false;
		}
	}
	for (int i = 0; i < SIM_STREAM_N; i++) {
		if (sim->feeds[i].gap || sim->feeds[i].next < sim->api->logs[i].n) {
			return false;
		}
	}
	/* Without nodes pods are not at rest: as upstream, they are retried again and again. */
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		any_node |= sim->shown[SIM_NODE_STREAM][i].there;
	}
	if (sim->pipeline && !sim_pipe_is_idle(sim)) {
		return false;
	}
	/* A scheduler that does not lead leaves its pods in the queue. */
	bool idle = counts.active == 0 && (counts.backoff == 0 || !any_node) && counts.in_flight == 0;
	return (idle || sim->held) && sim->binding_n == 0 && sim->eviction_n == 0;
}

bool sim_settle_for_now(struct sim *sim)
{
	uint32_t moves = 0;

	while (!sim->failed && sim_move_on(sim)) {
		sim_check(sim);
		bt_arena_reset(&sim->arena);
		if (++moves == MOVES_MAX) {
			sim_fail(sim, "I3", "it does not come to rest");
		}
	}
	return is_at_rest(sim);
}

/* No faults any more: runs everything that can run, until nothing is left to do. */
static void settle(struct sim *sim)
{
	sim_leave(sim);
	sim_let_go(sim);
	sim->settling = true;
	sim->leader = true;
	sim->now_ns = sim->latest_ns;
	for (uint32_t second = 0; second < REST_SECONDS && !sim->failed; second++) {
		if (!sim->pipeline) {
			sim_tick(sim);
		}
		if (sim_settle_for_now(sim)) {
			return;
		}
		sim->now_ns += SIM_SECOND;
	}
	sim_fail(sim, "I3", "it has not come to rest in %d seconds", REST_SECONDS);
}

struct sim *sim_play(const struct sim_history *history, bool trace)
{
	if (history->leaders) {
		return sim_play_leaders(history, trace);
	}
	struct sim *sim = sim_create(history, trace, NULL);
	for (uint32_t i = 0; i < history->step_n && !sim->failed; i++) {
		if (trace) {
			sim_step_write(&history->steps[i], &sim->notes);
		}
		sim_do(sim, history->steps[i]);
		sim_check(sim);
		bt_arena_reset(&sim->arena);
	}
	settle(sim);
	if (!sim->failed && sim_check_waiting(sim, false)) {
		sim->now_ns = sim->latest_ns = sim->now_ns + FLUSH_SECONDS * SIM_SECOND;
		settle(sim);
		sim_check_waiting(sim, true);
	}
	if (!sim->failed) {
		sim_check_rest(sim);
	}
	return sim;
}
