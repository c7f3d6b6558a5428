/* SPDX-License-Identifier: Apache-2.0
 * Creates and destroys handles.
 */
#include <stddef.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/kube/config/config_decode.h"
#include "tools/libberth/lib/lib_int.h"

/* The size of the structures of version 0.1; later versions only append. */
#define OPTIONS_LEAST offsetof(struct berth_options, kubernetes_version)

#define THREADS_MAX 64
#define END_NS	    INT64_C(10000000000) /* timeout for threads to end before a handle is destroyed */

void berth_init(void *structure, size_t size)
{
	if (structure && size >= sizeof(size)) {
		memset(structure, 0, size);
		memcpy(structure, &size, sizeof(size));
	}
}

const char *berth_version(void)
{
	return BERTH_VERSION;
}

const char *berth_kubernetes_version(void)
{
	return bt_release_default()->version;
}

const char *berth_status_name(enum berth_status status)
{
	switch (status) {
	case BERTH_OK:
		return "ok";
	case BERTH_INVALID:
		return "invalid";
	case BERTH_BAD_INPUT:
		return "bad input";
	case BERTH_NOT_FOUND:
		return "not found";
	case BERTH_LIMIT:
		return "limit reached";
	case BERTH_BUSY:
		return "busy";
	case BERTH_STOPPED:
		return "stopped";
	case BERTH_TIMEOUT:
		return "timeout";
	case BERTH_UNSUPPORTED:
		return "unsupported";
	}
	return "unknown";
}

static enum berth_status check_options(const struct berth_options *o)
{
	if (o->clock > BERTH_CLOCK_REAL || o->sampling > BERTH_SAMPLE_AS_UPSTREAM ||
		o->binding > BERTH_BIND_ANSWERED || o->eviction > BERTH_EVICT_AT_ONCE) {
		return bt_lib_fail(NULL, BERTH_INVALID,
			"clock, sampling, binding or eviction has a value that the header does not name");
	}
	if (o->start_ns < 0) {
		return bt_lib_fail(NULL, BERTH_INVALID, "start_ns is below zero");
	}
	if (o->threads > THREADS_MAX || o->bind_threads > THREADS_MAX || o->workers > THREADS_MAX) {
		return bt_lib_fail(NULL, BERTH_INVALID, "more than %d threads", THREADS_MAX);
	}
	if (!o->threads && o->workers > 1) {
		return bt_lib_fail(NULL, BERTH_UNSUPPORTED, "workers are for handles with threads");
	}
	if (o->threads && (o->node_max || o->pod_max)) {
		return bt_lib_fail(NULL, BERTH_UNSUPPORTED,
			"node_max and pod_max are for handles without threads: with them an object is taken "
			"in "
			"when the call has returned");
	}
	return BERTH_OK;
}

static enum berth_status read_config(struct bt_lib *lib, const struct berth_options *o)
{
	enum berth_status status = BERTH_OK;
	struct bt_buf error = {0};
	struct bt_gates gates;
	const struct bt_release *release =
		o->kubernetes_version ? bt_release_find(bt_str(o->kubernetes_version)) : bt_release_default();

	if (!release) {
		bt_release_list(&error);
		status = bt_lib_fail(NULL, BERTH_INVALID, "kubernetes_version: '%s' is not known; use %s",
			o->kubernetes_version, error.ptr);
		bt_buf_fini(&error);
		return status;
	}
	bt_gates_init(&gates, release);
	if (o->feature_gates && bt_gates_parse(&gates, bt_str(o->feature_gates), &error) != BT_OK) {
		status = bt_lib_fail(NULL, BERTH_BAD_INPUT, "feature_gates: %s", error.ptr);
	} else if (!o->config) {
		bt_config_init_default(&lib->config, &gates);
	} else {
		bt_config_init(&lib->config, &gates);
		if (bt_config_load(&lib->config, "config", bt_str(o->config), &error) != BT_OK) {
			status = bt_lib_fail(NULL, BERTH_BAD_INPUT, "%s", error.ptr);
		}
	}
	bt_buf_fini(&error);
	return status;
}

static enum bt_node_sampling sampling_of(enum berth_sampling sampling)
{
	switch (sampling) {
	case BERTH_SAMPLE_NEVER:
		return BT_SAMPLING_NONE;
	case BERTH_SAMPLE_AS_UPSTREAM:
		return BT_SAMPLING_UPSTREAM;
	default:
		return BT_SAMPLING_AS_CONFIGURED;
	}
}

static enum berth_status make_engine(struct bt_lib *lib)
{
	const struct berth_options *o = &lib->options;
	const struct bt_engine_options options = {
		.seed = o->seed,
		.clock = o->clock == BERTH_CLOCK_REAL ? bt_clock_real() : bt_clock_virtual(&lib->now_ns),
		.binder.bind = o->bind || o->binding == BERTH_BIND_ANSWERED ? bt_lib_bind : NULL,
		.binder.context = lib,
		.evictor = {bt_lib_evict, lib},
		.groups_by_events =
			o->clock == BERTH_CLOCK_VIRTUAL || (o->clock == BERTH_CLOCK_NONE && !o->threads),
		.plan_memory_bytes = (size_t)o->plan_bytes_max,
		.sampling = sampling_of(o->sampling),
	};
	enum berth_status status = BERTH_OK;
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};

	if (o->threads) {
		return bt_lib_threads_start(lib, &options);
	}
	lib->engine = bt_engine_create(&lib->config, &options, &errors);
	if (!lib->engine) {
		bt_config_errors_text(&errors, &text);
		status = bt_lib_fail(NULL, BERTH_BAD_INPUT, "%s", text.ptr);
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	return status;
}

static void free_lib(struct bt_lib *lib)
{
	bt_scheduling_cycle_fini(&lib->cycle);
	if (lib->threads) {
		bt_lib_threads_fini(lib);
	} else {
		bt_engine_destroy(lib->engine);
	}
	bt_object_reader_destroy(lib->reader);
	bt_admission_fini(&lib->admission);
	bt_config_fini(&lib->config);
	bt_arena_fini(&lib->compact);
	bt_arena_fini(&lib->cycle_arena);
	bt_mem_free(lib->records);
	bt_mem_free(lib->evicted);
	bt_map_fini(&lib->tickets);
	bt_mem_free(lib->fresh);
	bt_lib_users_fini(&lib->users);
	bt_lib_workload_fini(lib);
	bt_mem_free(lib);
}

static void connect(struct bt_lib *lib)
{
	lib->reader = bt_object_reader_create(bt_lib_report, lib);
	lib->admission = (struct bt_admission){
		.admitted = bt_lib_admitted,
		.context = lib,
		.report = bt_lib_report,
		.report_context = lib,
	};
	lib->cycle = (struct bt_scheduling_cycle){
		.engine = lib->engine,
		.texts = !lib->options.no_messages,
		.ended = bt_lib_cycle_ended,
		.context = lib,
	};
	if (!lib->threads) {
		bt_engine_start(lib->engine);
	}
}

/* Warns about unsupported parts of a configuration. */
static void warn(struct bt_lib *lib)
{
	if (lib->config.extender_n > 0) {
		bt_lib_log(lib, BERTH_LOG_WARNING,
			"config: extenders: extenders are not called, and pods are placed as if they had no "
			"objections and no preferences");
	}
}

enum berth_status berth_create(const struct berth_options *options, struct berth **out)
{
	struct berth_options given = {.size = sizeof(given)};

	if (!out) {
		return bt_lib_fail(NULL, BERTH_INVALID, "out is NULL");
	}
	*out = NULL;
	bt_lib_fail(NULL, BERTH_OK, "%s", "");
	if (options && !bt_lib_copy_in(options, OPTIONS_LEAST, &given, sizeof(given))) {
		return bt_lib_fail(
			NULL, BERTH_INVALID, "the options' size is wrong: use BERTH_INIT on them first");
	}
	enum berth_status status = check_options(&given);
	if (status != BERTH_OK) {
		return status;
	}
	if (given.memory_bytes_max) {
		bt_mem_set_limit((size_t)given.memory_bytes_max);
	}
	struct bt_lib *lib = bt_mem_zalloc(1, sizeof(*lib));
	lib->options = given;
	lib->options.config = lib->options.feature_gates = NULL;
	bt_eventcount_init(&lib->park);
	bt_lock_init(&lib->users.lock);
	lib->now_ns = given.clock == BERTH_CLOCK_VIRTUAL ? given.start_ns : 0;
	status = read_config(lib, &given);
	if (status == BERTH_OK) {
		status = make_engine(lib);
	}
	if (status == BERTH_OK) {
		connect(lib);
		*out = bt_lib_publish(lib);
		if (*out) {
			warn(lib);
			return BERTH_OK;
		}
		if (lib->threads) {
			bt_lib_threads_stop(lib, BERTH_ABANDON, INT64_MAX);
		}
		status = bt_lib_fail(NULL, BERTH_LIMIT, "there are too many handles; destroy some");
	}
	free_lib(lib);
	return status;
}

enum berth_status berth_destroy(struct berth *berth)
{
	struct bt_lib *lib;

	if (!berth) {
		return BERTH_OK;
	}
	enum berth_status status = bt_lib_enter(berth, &lib);
	if (status != BERTH_OK) {
		return status;
	}
	if (lib->threads && !bt_lib_threads_stop(lib, BERTH_ABANDON, END_NS)) {
		bt_lib_leave(lib);
		return bt_lib_fail(berth, BERTH_TIMEOUT, "a callback does not return; call this again");
	}
	if (!bt_lib_retire(lib)) {
		return bt_lib_fail(berth, BERTH_BUSY, "another thread is in a call with the handle");
	}
	free_lib(lib);
	return BERTH_OK;
}
