/* SPDX-License-Identifier: Apache-2.0
 * Health checks. Every client can read which check fails; the reason is only for clients that may get a
 * single check, and for the log.
 */
#include "tools/cluster/serve/health.h"

#include <stdlib.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "tools/kube/log/log.h"

#define KINDS_MAX   64
#define THREADS_MAX 128

struct health_check {
	const char *name;
	int points;
	bool (*is_good)(const struct bt_serve_sources *sources, struct bt_buf *out_reason);
	/* Whether the check exists; NULL: always. */
	bool (*applies)(const struct bt_serve_sources *sources);
};

static bool has_lease(const struct bt_serve_sources *sources)
{
	return sources->leads != NULL;
}

static bool has_no_lease(const struct bt_serve_sources *sources)
{
	return sources->leads == NULL;
}

/* How long a leader whose lease has expired unnoticed still counts as healthy. Source:
 * makeLeaderElectionConfig, v1.36.3, also for the lease's name in the reason. */
static bool lease_is_well(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	if (sources->lease_is_well && !sources->lease_is_well(sources->context)) {
		bt_buf_text(out_reason, "failed election to renew leadership on lease kube-scheduler");
		return false;
	}
	return true;
}

static bool always(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	(void)sources;
	(void)out_reason;
	return true;
}

static bool threads_work(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	struct bt_pipeline_thread threads[THREADS_MAX];
	uint32_t n = sources->pipeline ? bt_pipeline_threads(sources->pipeline, threads, THREADS_MAX) : 0;
	bool good = true;

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		if (threads[i].stalled) {
			bt_buf_printf(
				out_reason, "%sthread %s is stalled", good ? "" : ", ", threads[i].name);
			good = false;
		}
	}
	return good;
}

static bool goes_on(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	if (sources->is_ending && sources->is_ending(sources->context)) {
		bt_buf_text(out_reason, "process is shutting down");
		return false;
	}
	return true;
}

/* Every source has shown its initial list, and the engine has processed it. */
static bool handlers_synced(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	uint32_t n = sources->watch ? sources->watch_states(sources->watch, NULL, 0) : 0;

	if (sources->pipeline && bt_pipeline_counts(sources->pipeline).synced_n < n) {
		bt_buf_text(out_reason, "handlers are not fully synchronized");
		return false;
	}
	return true;
}

static bool informers_synced(const struct bt_serve_sources *sources, struct bt_buf *out_reason)
{
	struct bt_watch_state *states = bt_mem_zalloc(KINDS_MAX, sizeof(*states));
	uint32_t n = sources->watch ? sources->watch_states(sources->watch, states, KINDS_MAX) : 0;
	uint32_t waiting_n = 0;
	struct bt_buf names = {0};

	for (uint32_t i = 0; i < n && i < KINDS_MAX; i++) {
		if (!states[i].synced) {
			bt_buf_printf(&names, "%s%s", waiting_n++ ? " " : "", states[i].resource);
			if (states[i].error[0]) {
				bt_buf_printf(&names, " (%s)", states[i].error);
			}
		}
	}
	if (waiting_n) {
		bt_buf_printf(out_reason, "%u informers not started yet: [%s]", waiting_n, names.ptr);
	}
	bt_buf_fini(&names);
	bt_mem_free(states);
	return waiting_n == 0;
}

/* As upstream: a standby is healthy, and so is a leader that has renewed its Lease. A leader that loses it
 * exits. */
static const struct health_check checks[] = {
	{"leaderElection", BT_HEALTHZ | BT_READYZ, lease_is_well, has_lease},
	{"ping", BT_HEALTHZ, always, has_no_lease},
	{"ping", BT_LIVEZ, always, NULL},
	{"threads", BT_LIVEZ, threads_work, NULL},
	{"shutdown", BT_READYZ, goes_on, NULL},
	{"sched-handler-sync", BT_READYZ, handlers_synced, NULL},
	{"informer-sync", BT_READYZ, informers_synced, NULL},
};

#define CHECK_N (sizeof(checks) / sizeof(*checks))

/* ---- results ---- */

#define POINT_N 3

/* atomic: relaxed, all of it; every thread of the server adds */
struct check_counts {
	_Atomic uint64_t n[2]; /* failures, successes */
	_Atomic uint32_t good; /* the last result */
};

struct bt_health_tally {
	struct check_counts results[CHECK_N][POINT_N];
};

struct bt_health_tally *bt_health_tally_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_health_tally));
}

void bt_health_tally_destroy(struct bt_health_tally *tally)
{
	bt_mem_free(tally);
}

static void tally(const struct bt_serve_sources *sources, const struct health_check *check,
	enum bt_health_point point, bool good)
{
	if (sources->tally) {
		struct check_counts *result = &sources->tally->results[check - checks][__builtin_ctz(point)];

		bt_add_relaxed(&result->n[good], 1);
		bt_store_relaxed(&result->good, good);
	}
}

static const char *point_name(enum bt_health_point point)
{
	return point == BT_HEALTHZ ? "healthz" : point == BT_LIVEZ ? "livez" : "readyz";
}

void bt_health_each(const struct bt_health_tally *tally,
	void (*call)(void *context, const char *name, const char *point, const uint64_t n[2], bool good),
	void *context)
{
	for (size_t i = 0; i < CHECK_N; i++) {
		for (int k = 0; k < POINT_N; k++) {
			const struct check_counts *result = &tally->results[i][k];
			const uint64_t n[2] = {
				bt_load_relaxed(&result->n[0]), bt_load_relaxed(&result->n[1])};

			if (n[0] + n[1]) {
				call(context, checks[i].name, point_name((enum bt_health_point)(1 << k)), n,
					bt_load_relaxed(&result->good) != 0);
			}
		}
	}
}

static bool is_at(
	const struct health_check *check, const struct bt_serve_sources *sources, enum bt_health_point point)
{
	return (check->points & (int)point) && (!check->applies || check->applies(sources));
}

static bool is_excluded(const struct bt_health_request *request, const char *name)
{
	for (size_t i = 0; i < request->excluded_n; i++) {
		if (bt_str_is(request->excluded[i], name)) {
			return true;
		}
	}
	return false;
}

static void log_failure(enum bt_health_point point, const char *name, const struct bt_buf *reason)
{
	bt_log(BT_LOG_INFO, 2, "Health check failed",
		bt_log_fields(bt_log_str("endpoint", bt_str(point_name(point))),
			bt_log_str("check", bt_str(name)), bt_log_str("err", bt_buf_view(reason))));
}

static bool run(const struct bt_serve_sources *sources, const struct bt_health_request *request,
	const struct health_check *check, struct bt_buf *out)
{
	struct bt_buf reason = {0};
	bool good = true;

	if (is_excluded(request, check->name)) {
		bt_buf_printf(out, "[+]%s excluded: ok\n", check->name);
		return true;
	}
	good = check->is_good(sources, &reason);
	tally(sources, check, request->point, good);
	if (good) {
		bt_buf_printf(out, "[+]%s ok\n", check->name);
	} else {
		bt_buf_printf(out, "[-]%s failed: reason withheld\n", check->name);
		log_failure(request->point, check->name, &reason);
	}
	bt_buf_fini(&reason);
	return good;
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* Lists the exclusions that match no check, each once, in byte order. */
static void warn_of_unknown(
	const struct bt_serve_sources *sources, const struct bt_health_request *request, struct bt_buf *out)
{
	struct bt_str *unknown = bt_mem_zalloc(request->excluded_n + 1, sizeof(*unknown));
	size_t n = 0;

	for (size_t i = 0; i < request->excluded_n; i++) {
		bool known = false;

		for (size_t k = 0; k < CHECK_N; k++) {
			known = known || (is_at(&checks[k], sources, request->point) &&
						 bt_str_is(request->excluded[i], checks[k].name));
		}
		if (!known) {
			unknown[n++] = request->excluded[i];
		}
	}
	qsort(unknown, n, sizeof(*unknown), by_text);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && bt_str_eq(unknown[i], unknown[i - 1])) {
			continue;
		}
		bt_buf_text(out, i ? "," : "warn: some health checks cannot be excluded: no matches for ");
		bt_quote_json(out, unknown[i]);
	}
	bt_buf_text(out, n ? "\n" : "");
	bt_mem_free(unknown);
}

unsigned bt_health_answer(
	const struct bt_serve_sources *sources, const struct bt_health_request *request, struct bt_buf *out)
{
	struct bt_buf text = {0};
	bool good = true;

	for (size_t i = 0; i < CHECK_N; i++) {
		if (is_at(&checks[i], sources, request->point)) {
			good = run(sources, request, &checks[i], &text) && good;
		}
	}
	warn_of_unknown(sources, request, &text);
	if (!good) {
		bt_buf_str(out, bt_buf_view(&text));
		bt_buf_printf(out, "%s check failed\n", point_name(request->point));
	} else if (request->verbose) {
		bt_buf_str(out, bt_buf_view(&text));
		bt_buf_printf(out, "%s check passed\n", point_name(request->point));
	} else {
		bt_buf_text(out, "ok");
	}
	bt_buf_fini(&text);
	return good ? 200 : 500;
}

unsigned bt_health_answer_one(const struct bt_serve_sources *sources, enum bt_health_point point,
	struct bt_str name, struct bt_buf *out)
{
	struct bt_buf reason = {0};
	unsigned status = 404;

	for (size_t i = 0; i < CHECK_N && status == 404; i++) {
		if (!is_at(&checks[i], sources, point) || !bt_str_is(name, checks[i].name)) {
			continue;
		}
		status = checks[i].is_good(sources, &reason) ? 200 : 500;
	}
	if (status == 200) {
		bt_buf_text(out, "ok");
	} else if (status == 500) {
		bt_buf_printf(out, "internal server error: %s\n", reason.ptr);
	}
	bt_buf_fini(&reason);
	return status;
}
