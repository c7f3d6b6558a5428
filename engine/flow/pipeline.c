/* SPDX-License-Identifier: Apache-2.0
 * The pipeline: its making, its rings, and the steps between them.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/pipeline_int.h"

/* ---- parcels ---- */

struct bt_parcel *bt_parcel_create(enum bt_parcel_kind kind)
{
	struct bt_parcel *parcel = bt_mem_zalloc(1, sizeof(*parcel));

	parcel->kind = kind;
	return parcel;
}

void bt_parcel_destroy(struct bt_parcel *parcel)
{
	if (parcel) {
		bt_arena_fini(&parcel->arena);
		bt_mem_free(parcel);
	}
}

/* ---- making ---- */

static void make_rings(struct bt_pipeline *p)
{
	const struct bt_limits *limits = &p->limits;
	uint32_t thread_n = limits->ingest_threads;

	p->sources = bt_mem_zalloc(limits->sources, sizeof(*p->sources));
	for (uint32_t i = 0; i < limits->sources; i++) {
		struct bt_source_lane *lane = &p->sources[i];

		lane->feeds = bt_mem_zalloc(thread_n, sizeof(*lane->feeds));
		lane->deltas = bt_mem_zalloc(thread_n, sizeof(*lane->deltas));
		for (uint32_t j = 0; j < thread_n; j++) {
			bt_ring_init(&lane->feeds[j], limits->feed, sizeof(struct bt_parcel *));
			bt_ring_init(&lane->deltas[j], limits->delta, sizeof(struct bt_parcel *));
		}
	}
	bt_ring_init(&p->inbox, limits->inbox, sizeof(struct bt_parcel *));
	p->binders = bt_mem_zalloc(limits->bind_threads, sizeof(*p->binders));
	for (uint32_t j = 0; j < limits->bind_threads; j++) {
		bt_ring_init(&p->binders[j].asks, limits->asks, sizeof(uint64_t));
	}
}

static bool make_engine(
	struct bt_pipeline *p, const struct bt_config *config, struct bt_config_errors *errors)
{
	struct bt_engine_options options = p->options.engine;

	options.clock = options.clock.now_ns ? bt_clock_virtual(&p->now_ns) : (struct bt_clock){0};
	options.binder = p->options.binder.bind ? (struct bt_binder){bt_asks_bind, p} : (struct bt_binder){0};
	options.evictor =
		p->options.binder.evict ? (struct bt_evictor){bt_asks_evict, p} : (struct bt_evictor){0};
	p->engine = bt_engine_create(config, &options, errors);
	p->messages.engine = p->engine;
	return p->engine;
}

struct bt_pipeline *bt_pipeline_create(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_config_errors *errors)
{
	struct bt_limits limits = options->limits;
	const char *limit;

	if (bt_limits_settle(&limits, &limit) != BT_OK) {
		bt_config_errors_add(errors, "the limit %s is zero or too large", limit);
		return NULL;
	}
	struct bt_pipeline *p = bt_mem_zalloc(1, sizeof(*p));
	p->options = *options;
	p->limits = limits;
	p->freshness.tombstone_max = limits.tombstones;
	p->now_ns = options->engine.clock.now_ns ? bt_clock_now_ns(&options->engine.clock) : 0;
	bt_asks_init(p);
	make_rings(p);
	if (!make_engine(p, config, errors)) {
		bt_pipeline_destroy(p);
		return NULL;
	}
	return p;
}

/* Frees the parcels that are in a ring, and the ring. */
static void empty_ring(struct bt_ring *ring)
{
	struct bt_parcel *parcel;

	while (bt_ring_try_pop(ring, &parcel)) {
		bt_parcel_destroy(parcel);
	}
	bt_ring_fini(ring);
}

void bt_pipeline_destroy(struct bt_pipeline *p)
{
	if (!p) {
		return;
	}
	for (uint32_t i = 0; i < p->limits.sources; i++) {
		for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
			empty_ring(&p->sources[i].feeds[j]);
			empty_ring(&p->sources[i].deltas[j]);
		}
		bt_mem_free(p->sources[i].feeds);
		bt_mem_free(p->sources[i].deltas);
	}
	empty_ring(&p->inbox);
	for (uint32_t j = 0; j < p->limits.bind_threads; j++) {
		bt_ring_fini(&p->binders[j].asks);
		bt_buf_fini(&p->binders[j].text);
	}
	bt_mem_free(p->sources);
	bt_mem_free(p->binders);
	bt_asks_fini(p);
	bt_freshness_fini(&p->freshness);
	bt_messages_fini(&p->messages);
	bt_buf_fini(&p->group_text);
	bt_mem_free(p->notes);
	bt_mem_free(p->victims);
	bt_engine_destroy(p->engine);
	bt_mem_free(p);
}

/* ---- the source's side ---- */

enum bt_status bt_pipeline_feed(
	struct bt_pipeline *p, uint32_t source, struct bt_parcel **parcel, int64_t timeout_ns)
{
	BT_REQUIRE(source < p->limits.sources);
	struct bt_source_lane *lane = &p->sources[source];
	struct bt_ring *ring = &lane->feeds[lane->fed_n % p->limits.ingest_threads];

	(*parcel)->source = source;
	(*parcel)->sequence = lane->fed_n;
	while (!bt_ring_try_push(ring, parcel)) {
		if (timeout_ns == 0 || !bt_pipeline_step(p)) {
			return BT_FULL;
		}
	}
	lane->fed_n++;
	*parcel = NULL;
	return BT_OK;
}

/* ---- ingestion ---- */

bool bt_pipeline_ingest_step(struct bt_pipeline *p, uint32_t thread)
{
	bool any = false;

	for (uint32_t i = 0; i < p->limits.sources; i++) {
		struct bt_source_lane *lane = &p->sources[i];
		struct bt_parcel *parcel;

		for (uint32_t n = 0;
			n < p->limits.events && bt_ring_count(&lane->deltas[thread]) < p->limits.delta &&
			bt_ring_try_pop(&lane->feeds[thread], &parcel);
			n++) {
			parcel->sighting = bt_sighting_of(&parcel->object);
			BT_REQUIRE(bt_ring_try_push(&lane->deltas[thread], &parcel));
			any = true;
		}
	}
	return any;
}

/* ---- the publisher ---- */

/* The next parcel of a source, in the order in which it was fed: ingestion threads take turns. */
static bool next_of(struct bt_pipeline *p, struct bt_source_lane *lane, struct bt_parcel **out_parcel)
{
	if (!bt_ring_try_pop(&lane->deltas[lane->published_n % p->limits.ingest_threads], out_parcel)) {
		return false;
	}
	BT_REQUIRE((*out_parcel)->sequence == lane->published_n);
	lane->published_n++;
	return true;
}

bool bt_pipeline_publish_step(struct bt_pipeline *p)
{
	struct bt_parcel *parcel;
	bool any = false;

	for (uint32_t n = 0, idle = 0; n < p->limits.events && idle < p->limits.sources;) {
		if (bt_ring_count(&p->inbox) == p->limits.inbox) {
			break;
		}
		if (next_of(p, &p->sources[p->publish_turn], &parcel)) {
			BT_REQUIRE(bt_ring_try_push(&p->inbox, &parcel));
			any = true;
			idle = 0;
			n++;
		} else {
			p->publish_turn = (p->publish_turn + 1) % p->limits.sources;
			idle++;
		}
	}
	return any;
}

/* ---- the scheduling thread ---- */

bool bt_pipeline_answer_step(struct bt_pipeline *p)
{
	bool any = bt_asks_take_answers(p);

	return bt_asks_send(p) || any;
}

bool bt_pipeline_apply_step(struct bt_pipeline *p)
{
	struct bt_parcel *parcel;
	bool any = false;

	for (uint32_t n = 0; n < p->limits.events && bt_ring_try_pop(&p->inbox, &parcel); n++) {
		bt_pipeline_take_parcel(p, parcel);
		bt_parcel_destroy(parcel);
		any = true;
	}
	return any;
}

static bool may_pop(const struct bt_pipeline *p)
{
	return bt_asks_have_room(p) && (!p->options.wait_for_sync || p->counts.synced_n == p->limits.sources);
}

bool bt_pipeline_decide_step(struct bt_pipeline *p, uint32_t cycles)
{
	bool any = false;

	for (uint32_t n = 0; n < cycles && may_pop(p) && bt_pipeline_decide_one(p); n++) {
		bt_asks_send(p);
		any = true;
	}
	return any;
}

/* Reads the clock. Time does not go back, whatever the clock says. */
static bool tick(struct bt_pipeline *p)
{
	const struct bt_clock *clock = &p->options.engine.clock;

	if (!clock->now_ns) {
		return false;
	}
	int64_t now_ns = bt_clock_now_ns(clock);
	if (now_ns > p->now_ns) {
		p->now_ns = now_ns;
		bt_engine_tick(p->engine);
	}
	return bt_asks_watch(p);
}

bool bt_pipeline_schedule_step(struct bt_pipeline *p)
{
	bool any = bt_pipeline_answer_step(p);

	any |= bt_pipeline_apply_step(p);
	any |= tick(p);
	any |= bt_pipeline_decide_step(p, p->limits.batch);
	return bt_asks_send(p) || any;
}

/* ---- all of it ---- */

bool bt_pipeline_step(struct bt_pipeline *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->limits.ingest_threads; i++) {
		any |= bt_pipeline_ingest_step(p, i);
	}
	any |= bt_pipeline_publish_step(p);
	any |= bt_pipeline_schedule_step(p);
	for (uint32_t i = 0; i < p->limits.bind_threads; i++) {
		any |= bt_pipeline_bind_step(p, i);
	}
	return any;
}

void bt_pipeline_settle(struct bt_pipeline *p)
{
	while (bt_pipeline_step(p)) {
	}
}

struct bt_pipeline_counts bt_pipeline_counts(const struct bt_pipeline *p)
{
	struct bt_pipeline_counts counts = p->counts;

	counts.binding = p->asks.open_n;
	return counts;
}

struct bt_engine *bt_pipeline_engine(struct bt_pipeline *p)
{
	return p->engine;
}
