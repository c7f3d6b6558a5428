/* SPDX-License-Identifier: Apache-2.0
 * Two schedulers with one API server; one of them leads (I8). Each has its own watches; the leader decides
 * and binds, the other one waits. The lease is a record with its renewal time. A leader stops writing some
 * time before others may take the lease, and a new leader decides no pod until it has seen all earlier
 * writes. A leader may be stopped, and notice late that it has lost the lease.
 */
#include "sim.h"

#include <inttypes.h>

#include "engine/base/hash.h"

#define SCHEDULERS    2
#define LEASE_S	      15	       /* as leaseDuration: until another scheduler may take it */
#define RENEW_S	      10	       /* as renewDeadline: until the holder stops writing */
#define STEP_NS	      (SIM_SECOND / 2) /* the lease's clock does not jump */
#define STOPPED_STEPS 60
#define REST_SECONDS  400
#define FLUSH_SECONDS 331

struct leaders {
	struct sim *sims[SCHEDULERS];
	uint32_t holder; /* SIM_NONE: no scheduler yet */
	int64_t now_ns, renewed_ns;
	int64_t deadline_ns[SCHEDULERS];   /* until when each may write, to its knowledge */
	uint64_t caught_up_at[SCHEDULERS]; /* the version that it must have seen before it decides */
	uint32_t stopped_until[SCHEDULERS], step_no;
	uint32_t bound_uids[SIM_PODS]; /* by slot: the pod bound by a scheduler */
};

static bool may_write(const struct leaders *l, uint32_t i)
{
	return l->now_ns < l->deadline_ns[i];
}

/* Has it seen all writes up to a version? */
static bool has_seen(const struct sim *sim, uint64_t version)
{
	for (int s = 0; s < SIM_STREAM_N; s++) {
		const struct sim_log *log = &sim->api->logs[s];

		if (sim->feeds[s].gap || (sim->feeds[s].next < log->n &&
						 log->events[sim->feeds[s].next].object.version <= version)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < sim->event_n; i++) {
		if (sim->watch_events[i].object.version <= version) {
			return false;
		}
	}
	return true;
}

/* A scheduler renews or takes the lease. */
static void tend(struct leaders *l, uint32_t i)
{
	struct sim *sim = l->sims[i];

	if (l->holder != i && (l->holder == SIM_NONE || l->now_ns > l->renewed_ns + LEASE_S * SIM_SECOND)) {
		sim->faults[SIM_LEADER_MOVED] += l->holder != SIM_NONE;
		sim_note(sim, "  scheduler %" PRIu32 " leads", i);
		l->holder = i;
		l->caught_up_at[i] = sim->api->version;
	}
	if (l->holder == i) {
		l->renewed_ns = l->now_ns;
		l->deadline_ns[i] = l->now_ns + RENEW_S * SIM_SECOND;
	}
	sim->held = !may_write(l, i) || !has_seen(sim, l->caught_up_at[i]);
	bt_pipeline_pause(sim->pipeline, sim->held);
}

static bool is_stopped(const struct leaders *l, uint32_t i)
{
	return l->stopped_until[i] > l->step_no;
}

static void stop_leader(struct leaders *l)
{
	if (l->holder != SIM_NONE) {
		l->sims[l->holder]->faults[SIM_LEADER_STOPPED]++;
		l->stopped_until[l->holder] = l->step_no + STOPPED_STEPS;
	}
}

/* Checks a scheduler's writes: none without the lease, and no pod twice. */
static void check_writes(struct leaders *l, uint32_t i, const uint32_t before[SIM_STREAM_N])
{
	struct sim *sim = l->sims[i];
	const struct sim_log *pods = &sim->api->logs[SIM_POD_STREAM];

	for (int s = 0; s < SIM_STREAM_N; s++) {
		if (sim->api->logs[s].n != before[s] && l->holder != i) {
			sim_fail(sim, "I8", "scheduler %" PRIu32 " does not lead, and writes", i);
		}
	}
	for (uint32_t k = before[SIM_POD_STREAM]; k < pods->n; k++) {
		const struct sim_event *event = &pods->events[k];

		if (!event->object.there || event->object.pod.node == SIM_NONE ||
			event->object.pod.deletion_ns) {
			continue;
		}
		if (l->bound_uids[event->ix] == event->object.uid) {
			sim_fail(sim, "I2", "pod-%" PRIu32 " is bound twice", event->ix);
		}
		l->bound_uids[event->ix] = event->object.uid;
	}
}

/* Merges the records of both into the first. */
static void gather(struct leaders *l)
{
	struct sim *first = l->sims[0], *second = l->sims[1];

	if (second->notes.len) {
		bt_buf_text(&first->notes, "  second scheduler:\n");
		bt_buf_str(&first->notes, bt_buf_view(&second->notes));
		bt_buf_clear(&second->notes);
	}
	if (second->failed && !first->failed) {
		first->failed = true;
		first->invariant = second->invariant;
		bt_buf_str(&first->message, bt_buf_view(&second->message));
	}
}

static void act(struct leaders *l, uint32_t i, struct sim_step step)
{
	struct sim *sim = l->sims[i];
	uint32_t before[SIM_STREAM_N];

	for (int s = 0; s < SIM_STREAM_N; s++) {
		before[s] = sim->api->logs[s].n;
	}
	sim->leader = may_write(l, i);
	sim->step_no = l->step_no;
	sim_do(sim, step);
	sim_check(sim);
	bt_arena_reset(&sim->arena);
	if (step.op >= SIM_OP_deliver) {
		check_writes(l, i, before);
	}
}

static void play(struct leaders *l, struct sim_step step)
{
	/* From the step itself, so that others may be removed. */
	uint64_t random = bt_hash_u64(l->sims[0]->seed ^ (uint64_t)step.op << 56 ^ (uint64_t)step.a << 40 ^
				      (uint64_t)step.b << 20 ^ step.c);
	uint32_t i = random % SCHEDULERS;

	switch (step.op) {
	case SIM_OP_leader:
	case SIM_OP_visit:
		stop_leader(l);
		break;
	case SIM_OP_starve: /* memory pressure concerns the process, which both share */
	case SIM_OP_hold:
		break;
	case SIM_OP_clock:
	case SIM_OP_jump:
		act(l, 0, step);
		act(l, 1, step);
		break;
	default:
		if (step.op < SIM_OP_deliver) {
			act(l, 0, step); /* it concerns the API server only */
		} else if (!is_stopped(l, i)) {
			act(l, i, step);
		}
		break;
	}
	l->step_no++;
	l->now_ns += STEP_NS;
	if (random >> 8 & 1 && !is_stopped(l, i)) {
		tend(l, i);
	}
	gather(l);
}

/* No scheduler is stopped any more, no faults occur, and time passes. Returns: are both at rest? */
static bool settle(struct leaders *l)
{
	int64_t latest_ns = 0;

	for (uint32_t i = 0; i < SCHEDULERS; i++) {
		latest_ns = l->sims[i]->latest_ns > latest_ns ? l->sims[i]->latest_ns : latest_ns;
	}
	for (uint32_t second = 0; second < REST_SECONDS && !l->sims[0]->failed; second++) {
		bool rest = true;

		for (uint32_t i = 0; i < SCHEDULERS; i++) {
			struct sim *sim = l->sims[i];

			sim->settling = true;
			sim->now_ns = sim->latest_ns = latest_ns + second * SIM_SECOND;
			tend(l, i);
			sim->leader = may_write(l, i);
			rest &= sim_settle_for_now(sim);
		}
		gather(l);
		l->now_ns += SIM_SECOND;
		/* The first must have seen the second's writes. */
		if (rest && !l->sims[l->holder]->held && has_seen(l->sims[0], UINT64_MAX) &&
			has_seen(l->sims[1], UINT64_MAX)) {
			return true;
		}
	}
	sim_fail(l->sims[0], "I3", "it has not come to rest in %d seconds", REST_SECONDS);
	return false;
}

struct sim *sim_play_leaders(const struct sim_history *history, bool trace)
{
	struct leaders l = {.holder = SIM_NONE};
	struct sim *first = l.sims[0] = sim_create(history, trace, NULL);

	l.sims[1] = sim_create(history, trace, first->api);
	l.sims[1]->number = 1;
	l.sims[0]->fenced = l.sims[1]->fenced = true;
	for (uint32_t i = 0; i < SCHEDULERS; i++) {
		tend(&l, i);
	}
	for (uint32_t i = 0; i < history->step_n && !first->failed; i++) {
		if (trace) {
			sim_step_write(&history->steps[i], &first->notes);
		}
		play(&l, history->steps[i]);
	}
	struct sim *leader = settle(&l) ? l.sims[l.holder] : NULL;
	if (leader && sim_check_waiting(leader, false) && !leader->failed) {
		for (uint32_t i = 0; i < SCHEDULERS; i++) {
			l.sims[i]->latest_ns += FLUSH_SECONDS * SIM_SECOND;
		}
		if (settle(&l)) {
			sim_check_waiting(l.sims[l.holder], true);
		}
	}
	for (uint32_t i = 0; i < SCHEDULERS && !first->failed; i++) {
		sim_check_rest(l.sims[i]);
		gather(&l);
	}
	gather(&l);
	for (int i = 0; i < SIM_FAULT_N; i++) {
		first->faults[i] += l.sims[1]->faults[i];
	}
	first->placed_n += l.sims[1]->placed_n;
	first->refused_n += l.sims[1]->refused_n;
	sim_end(l.sims[1]);
	return first;
}
