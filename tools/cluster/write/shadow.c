/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode: a binding is kept until the watch shows where another scheduler has put the pod, or its
 * deletion.
 */
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cluster/write/writer_int.h"

/* The pipeline's own watch event follows a moment after this one. The binding ends only after it, so that the
 * pod is compared while it is being bound. Short, because the next decision waits for it. */
#define SETTLE_NS (BT_WRITE_S / 50)
/* Timeout for the other scheduler; then the pod is scheduled again. */
#define WAIT_NS BT_SHADOW_WAIT_NS

enum { OTHER = 0, SAME }; /* relative to the node that was chosen here */

#define ELSEWHERE "another scheduler has bound the pod"

struct kept {
	uint64_t handle;
	struct bt_write_op *op; /* owns the texts; NULL: vacant */
	int64_t until_ns;	/* deadline; then the binding fails */
	const char *why;
};

struct bt_shadow {
	struct bt_writer *writer;
	int64_t timer_ns; /* when the current timer fires; INT64_MAX: none */
	struct bt_map by_uid;
	struct kept *kept;
	size_t n, cap;
	uint32_t *vacant;
	size_t vacant_n, vacant_cap;
};

struct bt_shadow *bt_shadow_create(struct bt_writer *writer)
{
	struct bt_shadow *shadow = bt_mem_zalloc(1, sizeof(*shadow));

	shadow->writer = writer;
	shadow->timer_ns = INT64_MAX;
	return shadow;
}

void bt_shadow_destroy(struct bt_writer *writer, struct bt_shadow *shadow)
{
	for (size_t i = 0; i < shadow->n; i++) {
		if (shadow->kept[i].op) {
			bt_pipeline_unknown(writer->pipeline, shadow->kept[i].handle);
			bt_write_op_free(shadow->kept[i].op);
		}
	}
	bt_map_fini(&shadow->by_uid);
	bt_mem_free(shadow->kept);
	bt_mem_free(shadow->vacant);
	bt_mem_free(shadow);
}

static uint64_t shadow_key_of(const struct bt_pod_ref *pod)
{
	return bt_hash_key(bt_hash_str(pod->uid));
}

/* Removes the pod's binding. Returns: false when there is none. */
static bool take(struct bt_shadow *shadow, const struct bt_pod_ref *pod, struct kept *out)
{
	uint64_t key = shadow_key_of(pod);
	uint32_t ix;

	if (!bt_map_get(&shadow->by_uid, key, &ix)) {
		return false;
	}
	*out = shadow->kept[ix];
	bt_map_remove(&shadow->by_uid, key);
	shadow->kept[ix] = (struct kept){.handle = 0};
	shadow->vacant =
		bt_mem_grow(shadow->vacant, shadow->vacant_n, &shadow->vacant_cap, sizeof(*shadow->vacant));
	shadow->vacant[shadow->vacant_n++] = ix;
	return true;
}

static void set_timer(struct bt_shadow *shadow, int64_t at_ns);

/* Fails the bindings whose deadline has passed. */
static void fail_expired(void *context)
{
	struct bt_shadow *shadow = context;
	int64_t now_ns = bt_write_now(shadow->writer), next_ns = INT64_MAX;

	/* A timer that an earlier one replaced must not set another, and so on forever. */
	if (now_ns < shadow->timer_ns) {
		return;
	}
	shadow->timer_ns = INT64_MAX;
	for (size_t i = 0; i < shadow->n; i++) {
		struct kept kept = shadow->kept[i];

		if (!kept.op) {
			continue;
		}
		if (kept.until_ns > now_ns) {
			next_ns = kept.until_ns < next_ns ? kept.until_ns : next_ns;
		} else if (take(shadow, &kept.op->pod, &kept)) {
			bt_pipeline_bind_failed(shadow->writer->pipeline, kept.handle, bt_str(kept.why));
			bt_write_op_free(kept.op);
		}
	}
	set_timer(shadow, next_ns);
}

static void set_timer(struct bt_shadow *shadow, int64_t at_ns)
{
	int64_t now_ns = bt_write_now(shadow->writer);

	if (at_ns < shadow->timer_ns) {
		shadow->timer_ns = at_ns;
		bt_http_after(
			shadow->writer->http, at_ns > now_ns ? at_ns - now_ns : 0, fail_expired, shadow);
	}
}

/* Replaces an older binding of the pod. Returns: its entry. */
static struct kept *shadow_put(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_shadow *shadow = writer->shadow;
	struct kept old;
	uint32_t ix;

	if (take(shadow, &op->pod, &old)) {
		bt_write_op_free(old.op);
	}
	if (shadow->vacant_n) {
		ix = shadow->vacant[--shadow->vacant_n];
	} else {
		shadow->kept = bt_mem_grow(shadow->kept, shadow->n, &shadow->cap, sizeof(*shadow->kept));
		ix = (uint32_t)shadow->n++;
	}
	bt_write_op_close(op); /* nothing is in flight */
	shadow->kept[ix] = (struct kept){.handle = op->handle, .op = op};
	bt_map_put(&shadow->by_uid, shadow_key_of(&op->pod), ix);
	return &shadow->kept[ix];
}

/* The watch does not repeat earlier events: if the pod is bound or deleted by now, its event was already
 * handled or received before the binding. */
void bt_shadow_keep(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;
	bool waits = bt_pod_store_get(writer->known, &op->pod, &writer->scratch, &known) && known.waits;
	struct kept *kept = shadow_put(writer, op);

	kept->until_ns = bt_write_now(writer) + (waits ? WAIT_NS : SETTLE_NS);
	kept->why = waits ? "the other scheduler has not bound the pod" : ELSEWHERE;
	set_timer(writer->shadow, kept->until_ns);
}

/* ---- watch events ---- */

static void shadow_begin(struct bt_writer *writer, struct bt_write_op *seen)
{
	struct kept kept;

	if (!take(writer->shadow, &seen->pod, &kept)) {
		bt_write_op_end(seen);
		return;
	}
	seen->handle = kept.handle;
	seen->stage = bt_str_eq(kept.op->node, seen->node) ? SAME : OTHER;
	seen->reads = true;
	bt_write_op_free(kept.op);
	bt_write_op_later(seen, SETTLE_NS);
}

static bool request(struct bt_writer *writer, struct bt_write_op *seen, struct bt_http_call *out_call)
{
	(void)out_call;
	if (seen->stage == SAME) {
		bt_pipeline_bound(writer->pipeline, seen->handle);
	} else {
		bt_pipeline_bind_failed(writer->pipeline, seen->handle, bt_str(ELSEWHERE));
	}
	bt_write_op_end(seen);
	return false;
}

static void given_up(struct bt_writer *writer, struct bt_write_op *seen, bool sent)
{
	(void)sent;
	if (seen->handle) {
		bt_pipeline_bind_failed(writer->pipeline, seen->handle, bt_str("the scheduler ends"));
	}
}

const struct bt_write_op_verbs bt_seen_verbs = {
	.class = BT_CLASS_BIND, .begin = shadow_begin, .request = request, .given_up = given_up};
