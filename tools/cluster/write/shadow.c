/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode: what would have been written is kept until the watch shows where another scheduler has put the
 * pod, or that it has gone.
 */
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cluster/write/writer_int.h"

/* The pipeline sees where the pod went by itself, a moment after the watch has shown it; only then the
 * binding may be said to have ended, so that the pod is compared as one that is being bound. Short, for the
 * next decision waits for it. */
#define SETTLE_NS (BT_WRITE_S / 50)
/* For so long the other scheduler is waited for; then the pod's turn comes again. */
#define WAIT_NS BT_SHADOW_WAIT_NS

enum { OTHER = 0, SAME }; /* than the node that was chosen here */

#define ELSEWHERE "another scheduler has bound the pod"

struct kept {
	uint64_t handle;
	struct bt_write_op *op; /* whose texts they are; NULL: vacant */
	int64_t until_ns;	/* then the binding has failed */
	const char *why;
};

struct bt_shadow {
	struct bt_writer *writer;
	int64_t look_ns; /* when the timer that counts rings; INT64_MAX: none does */
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
	shadow->look_ns = INT64_MAX;
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
	uint64_t key = bt_hash_bytes(pod->uid.len ? pod->uid.ptr : "", pod->uid.len);

	return key ? key : 1;
}

/* Takes the pod's out. Returns: false when there is none. */
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

/* Whose time is over. */
static void look(void *context)
{
	struct bt_shadow *shadow = context;
	int64_t now_ns = bt_write_now(shadow->writer), next_ns = INT64_MAX;

	/* A timer that an earlier one has overtaken would set another one, and so on for ever. */
	if (now_ns < shadow->look_ns) {
		return;
	}
	shadow->look_ns = INT64_MAX;
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

	if (at_ns < shadow->look_ns) {
		shadow->look_ns = at_ns;
		bt_http_after(shadow->writer->http, at_ns > now_ns ? at_ns - now_ns : 0, look, shadow);
	}
}

/* What was kept of the pod before is over. Returns: its place. */
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
	bt_write_op_close(op); /* nothing is on its way */
	shadow->kept[ix] = (struct kept){.handle = op->handle, .op = op};
	bt_map_put(&shadow->by_uid, shadow_key_of(&op->pod), ix);
	return &shadow->kept[ix];
}

/* What has been shown before is not shown again: of a pod that has a node by now, or has gone, the news are
 * here already or were nobody's. */
void bt_shadow_keep(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;
	bool waits = bt_pod_store_get(writer->known, &op->pod, &writer->scratch, &known) && known.waits;
	struct kept *kept = shadow_put(writer, op);

	kept->until_ns = bt_write_now(writer) + (waits ? WAIT_NS : SETTLE_NS);
	kept->why = waits ? "the other scheduler has not bound the pod" : ELSEWHERE;
	set_timer(writer->shadow, kept->until_ns);
}

/* ---- what the watch shows ---- */

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
