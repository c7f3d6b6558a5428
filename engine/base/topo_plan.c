/* SPDX-License-Identifier: Apache-2.0
 * Assigns threads to CPUs. Plain arithmetic on the table of CPUs, without system calls.
 */
#include "engine/base/topo.h"

#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Numbers in CPU lists end here; Linux knows at most 8,192 CPUs. */
#define CPU_MAX 65535

/* A CPU that may be assigned. */
struct cpu_candidate {
	const struct bt_topo_cpu *cpu;
	uint32_t sibling_ix;	   /* index among its core's candidates */
	uint32_t node_candidate_n; /* cores with candidates on its memory node */
};

struct candidates {
	struct cpu_candidate *candidates; /* in the order of assignment */
	uint32_t candidate_n, core_n;
};

/* How many threads of each kind there will be. */
struct counts {
	uint32_t worker_n, ingestion_n, binder_n;
	bool is_inline;
};

/* The name of its threads, followed by a number where there may be several. */
static const char *role_name(enum bt_topo_role role)
{
	static const char *const names[] = {"schedule", "worker", "publish", "ingest", "bind"};

	BT_REQUIRE((size_t)role < sizeof(names) / sizeof(names[0]));
	return names[role];
}

/* Writes the numbers of the wanted CPUs as "0-3,8". */
static void list_cpus(const struct bt_topo *topo, bool usable_only, struct bt_buf *out)
{
	uint32_t n;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);
	uint8_t *is_there = bt_mem_zalloc(CPU_MAX + 2, 1);
	const char *comma = "";

	for (uint32_t i = 0; i < n; i++) {
		is_there[cpus[i].cpu <= CPU_MAX ? cpus[i].cpu : CPU_MAX] |= cpus[i].is_usable || !usable_only;
	}
	for (uint32_t from = 0; from <= CPU_MAX; from++) {
		if (is_there[from]) {
			uint32_t to = from;

			while (is_there[to + 1]) {
				to++;
			}
			bt_buf_printf(out, to > from ? "%s%u-%u" : "%s%u", comma, from, to);
			comma = ",";
			from = to;
		}
	}
	bt_mem_free(is_there);
}

/* Parses a number at *at and advances it. False when there is none, or when it is above every CPU. */
static bool read_number(const char **at, uint32_t *out)
{
	const char *p = *at;
	uint32_t value = 0;

	for (; *p >= '0' && *p <= '9' && value <= CPU_MAX; p++) {
		value = value * 10 + (uint32_t)(*p - '0');
	}
	if (p == *at || value > CPU_MAX) {
		return false;
	}
	*at = p;
	*out = value;
	return true;
}

static enum bt_status bad_list(const char *list, const char *at, struct bt_buf *out_why)
{
	if (out_why) {
		bt_buf_printf(out_why,
			"CPU list \"%s\": not understood from \"%s\" on; write numbers and ranges such as "
			"0-3,8",
			list, at);
	}
	return BT_INVALID;
}

/* Marks the CPU with that number in chosen, or reports why it is unavailable. */
static enum bt_status choose_cpu(const struct bt_topo *topo, const char *list, uint32_t number,
	uint8_t *chosen, struct bt_buf *out_why)
{
	uint32_t n, i = 0;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);

	while (i < n && cpus[i].cpu != number) {
		i++;
	}
	if (i < n && cpus[i].is_usable) {
		chosen[i] = 1;
		return BT_OK;
	}
	if (out_why) {
		bt_buf_printf(out_why, "CPU list \"%s\": CPU %u is ", list, number);
		bt_buf_text(out_why, i < n ? "not allowed to this process (taskset, cpuset of its control "
					     "group), which may use "
					   : "not on this machine, which has ");
		list_cpus(topo, i < n, out_why);
		bt_buf_text(
			out_why, i < n ? "; leave it out, or give the process that CPU" : "; leave it out");
	}
	return BT_RANGE;
}

static enum bt_status choose_listed(
	const struct bt_topo *topo, const char *list, uint8_t *chosen, struct bt_buf *out_why)
{
	for (const char *at = list;; at++) {
		const char *begin = at;
		uint32_t from, to;

		if (!read_number(&at, &from)) {
			return bad_list(list, begin, out_why);
		}
		to = from;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &to) || to < from) {
				return bad_list(list, begin, out_why);
			}
		}
		for (uint32_t number = from; number <= to; number++) {
			enum bt_status status = choose_cpu(topo, list, number, chosen, out_why);

			if (status != BT_OK) {
				return status;
			}
		}
		if (*at == '\0') {
			return BT_OK;
		}
		if (*at != ',') {
			return bad_list(list, at, out_why);
		}
	}
}

static int descending(uint32_t a, uint32_t b)
{
	return a > b ? -1 : a < b;
}

/* Cores before siblings, fast cores before slow ones, node by node, beginning with the node that has the
 * most. */
static int in_order_of_giving(const void *left, const void *right)
{
	const struct cpu_candidate *a = left, *b = right;
	const struct bt_topo_cpu *p = a->cpu, *q = b->cpu;
	const int orders[] = {
		descending(b->sibling_ix, a->sibling_ix),
		descending(p->kind, q->kind),
		descending(a->node_candidate_n, b->node_candidate_n),
		descending(q->numa_ix, p->numa_ix),
		descending(q->core_ix, p->core_ix),
		descending(q->cpu, p->cpu),
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (orders[i]) {
			return orders[i];
		}
	}
	return 0;
}

/* Takes the chosen CPUs (by index in the table, which is ordered by core) as candidates. */
static void take_candidates(const struct bt_topo *topo, const uint8_t *chosen, struct candidates *out)
{
	uint32_t n;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);
	uint32_t *node_cores_n = bt_mem_zalloc(bt_topo_machine(topo).numa_n, sizeof(*node_cores_n));

	*out = (struct candidates){.candidates = bt_mem_zalloc(n, sizeof(*out->candidates))};
	for (uint32_t i = 0; i < n; i++) {
		struct cpu_candidate *last = out->candidate_n ? &out->candidates[out->candidate_n - 1] : NULL;

		if (!chosen[i]) {
			continue;
		}
		bool is_sibling = last && last->cpu->core_ix == cpus[i].core_ix;
		out->candidates[out->candidate_n++] = (struct cpu_candidate){
			.cpu = &cpus[i], .sibling_ix = is_sibling ? last->sibling_ix + 1 : 0};
		out->core_n += !is_sibling;
		node_cores_n[cpus[i].numa_ix] += !is_sibling;
	}
	for (uint32_t i = 0; i < out->candidate_n; i++) {
		out->candidates[i].node_candidate_n = node_cores_n[out->candidates[i].cpu->numa_ix];
	}
	qsort(out->candidates, out->candidate_n, sizeof(*out->candidates), in_order_of_giving);
	bt_mem_free(node_cores_n);
}

static enum bt_status find_candidates(const struct bt_topo *topo, const char *list,
	struct candidates *out_candidates, struct bt_buf *out_why)
{
	uint32_t n;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);
	uint8_t *chosen = bt_mem_zalloc(n, 1);
	enum bt_status status = BT_OK;

	if (list && list[0]) {
		status = choose_listed(topo, list, chosen, out_why);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			chosen[i] = cpus[i].is_usable;
		}
	}
	if (status == BT_OK) {
		take_candidates(topo, chosen, out_candidates);
	}
	bt_mem_free(chosen);
	return status;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

/*
 * How many threads: the requested numbers; else ingestion and binders are an eighth of the cores, and workers
 * get the cores that remain after a quarter for the other threads.
 */
static struct counts choose_counts(const struct bt_topo_request *request, uint32_t core_n)
{
	bool services_requested = request->ingestion_n || request->binder_n;
	uint32_t eighth = clamp(core_n / 8, 1, 4);
	struct counts counts = {
		.ingestion_n = request->ingestion_n ? request->ingestion_n : eighth,
		.binder_n = request->binder_n ? request->binder_n : eighth,
		.worker_n = request->worker_n,
	};

	if (!services_requested && (request->worker_n == 1 || (request->worker_n == 0 && core_n <= 1))) {
		return (struct counts){.worker_n = 1, .is_inline = true};
	}
	if (counts.worker_n == 0) {
		uint32_t around_n = clamp(core_n / 4, 1, 1 + counts.ingestion_n + counts.binder_n);

		counts.worker_n = core_n > around_n ? clamp(core_n - around_n, 1, BT_TOPO_WORKERS_MAX) : 1;
	}
	return counts;
}

static void sit(struct bt_topo_plan *plan, enum bt_topo_role role, uint32_t ix,
	const struct cpu_candidate *candidate, bool may_pin)
{
	struct bt_topo_place *place = &plan->places[plan->place_n++];
	struct bt_buf name = {0};

	*place = (struct bt_topo_place){
		.role = role, .ix = ix, .has_cpu = candidate != NULL, .is_pinned = candidate && may_pin};
	if (candidate) {
		place->cpu = candidate->cpu->cpu;
		place->core_ix = candidate->cpu->core_ix;
		place->numa_ix = candidate->cpu->numa_ix;
		place->kind = candidate->cpu->kind;
	}
	bt_buf_text(&name, role_name(role));
	if (role == BT_ROLE_WORKER || (role == BT_ROLE_INGESTION && plan->ingestion_n > 1) ||
		(role == BT_ROLE_BINDER && plan->binder_n > 1)) {
		bt_buf_printf(&name, "-%u", ix);
	}
	BT_INVARIANT(name.len < sizeof(place->name));
	memcpy(place->name, name.ptr, name.len);
	bt_buf_fini(&name);
}

/* Assigns the remaining CPUs to the other threads in turn; the scheduling thread's sibling comes last. */
static void place_others(struct bt_topo_plan *plan, const struct candidates *candidates, bool may_pin)
{
	uint32_t wanted_n = 1 + plan->ingestion_n + plan->binder_n, left_n = 0, apart_n = 0;
	const struct cpu_candidate **left =
		bt_mem_zalloc(candidates->candidate_n, sizeof(const struct cpu_candidate *));

	for (int with_siblings = 0; with_siblings < 2; with_siblings++) {
		for (uint32_t i = plan->worker_n; i < candidates->candidate_n; i++) {
			bool is_sibling = candidates->candidates[i].cpu->core_ix ==
					  candidates->candidates[0].cpu->core_ix;

			if (is_sibling == (with_siblings == 1)) {
				left[left_n++] = &candidates->candidates[i];
				apart_n += !is_sibling;
			}
		}
	}
	uint32_t turn_n = apart_n ? apart_n : left_n;
	for (uint32_t i = 0; i < wanted_n; i++) {
		enum bt_topo_role role = i == 0			  ? BT_ROLE_PUBLISHER
					 : i <= plan->ingestion_n ? BT_ROLE_INGESTION
								  : BT_ROLE_BINDER;
		uint32_t ix = i == 0 ? 0 : i <= plan->ingestion_n ? i - 1 : i - 1 - plan->ingestion_n;

		sit(plan, role, ix, turn_n ? left[i % turn_n] : NULL, may_pin);
	}
	bt_mem_free(left);
}

static void warn(
	struct bt_topo_plan *plan, const struct candidates *candidates, const struct bt_topo_machine *machine)
{
	struct bt_buf *out = &plan->warnings;

	if (machine->is_simulated) {
		bt_buf_text(out, "the machine is simulated: nothing is pinned\n");
	}
	if (plan->worker_n > candidates->candidate_n) {
		bt_buf_printf(out,
			"%u workers on %u CPUs: those beyond them float and slow the others down\n",
			plan->worker_n, candidates->candidate_n);
	} else if (plan->worker_n > candidates->core_n) {
		bt_buf_printf(out, "%u workers on %u cores: SMT siblings share a core\n", plan->worker_n,
			candidates->core_n);
	}
	if (!plan->is_inline && plan->worker_n >= candidates->candidate_n) {
		bt_buf_text(out, "no CPU is left for publisher, ingestion and binders: they float\n");
	}
	if (machine->quota_n && plan->worker_n > machine->quota_n) {
		bt_buf_printf(out, "%u workers, but the control group grants %u CPUs at a time (cpu.max)\n",
			plan->worker_n, machine->quota_n);
	}
}

static enum bt_status check_requested_threads(const struct bt_topo_request *request, struct bt_buf *out_why)
{
	const struct {
		const char *what;
		uint32_t requested, max;
	} requests[] = {
		{"workers", request->worker_n, BT_TOPO_WORKERS_MAX},
		{"ingestion threads", request->ingestion_n, BT_TOPO_THREADS_MAX},
		{"binder threads", request->binder_n, BT_TOPO_THREADS_MAX},
	};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (requests[i].requested > requests[i].max) {
			if (out_why) {
				bt_buf_printf(out_why, "%u %s: at most %u; 0 leaves it to the machine",
					requests[i].requested, requests[i].what, requests[i].max);
			}
			return BT_RANGE;
		}
	}
	return BT_OK;
}

enum bt_status bt_topo_plan(const struct bt_topo *topo, const struct bt_topo_request *request,
	struct bt_topo_plan *out_plan, struct bt_buf *out_why)
{
	struct bt_topo_machine machine = bt_topo_machine(topo);
	struct candidates candidates;
	enum bt_status status = check_requested_threads(request, out_why);

	if (status == BT_OK) {
		status = find_candidates(topo, request->cpus, &candidates, out_why);
	}
	if (status != BT_OK) {
		return status;
	}
	machine.quota_n = request->quota_n ? request->quota_n : machine.quota_n;
	bool is_granted_less = machine.quota_n && machine.quota_n < candidates.core_n;
	struct counts counts = choose_counts(request, is_granted_less ? machine.quota_n : candidates.core_n);
	*out_plan = (struct bt_topo_plan){
		.is_inline = counts.is_inline,
		.worker_n = counts.worker_n,
		.ingestion_n = counts.ingestion_n,
		.binder_n = counts.binder_n,
		.numa_n = machine.numa_n,
		.places = bt_mem_zalloc((size_t)counts.worker_n + counts.ingestion_n + counts.binder_n + 1,
			sizeof(struct bt_topo_place)),
	};
	for (uint32_t i = 0; i < counts.worker_n; i++) {
		sit(out_plan, i ? BT_ROLE_WORKER : BT_ROLE_SCHEDULING, i,
			i < candidates.candidate_n && !counts.is_inline ? &candidates.candidates[i] : NULL,
			!machine.is_simulated);
	}
	if (!counts.is_inline) {
		place_others(out_plan, &candidates, !machine.is_simulated);
	}
	warn(out_plan, &candidates, &machine);
	bt_mem_free(candidates.candidates);
	return BT_OK;
}

void bt_topo_plan_fini(struct bt_topo_plan *plan)
{
	bt_mem_free(plan->places);
	bt_buf_fini(&plan->warnings);
	*plan = (struct bt_topo_plan){0};
}

const struct bt_topo_place *bt_topo_plan_find(
	const struct bt_topo_plan *plan, enum bt_topo_role role, uint32_t ix)
{
	for (uint32_t i = 0; i < plan->place_n; i++) {
		if (plan->places[i].role == role && plan->places[i].ix == ix) {
			return &plan->places[i];
		}
	}
	return NULL;
}
