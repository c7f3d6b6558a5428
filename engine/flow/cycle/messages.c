/* SPDX-License-Identifier: Apache-2.0
 * Caches the texts of refusals by signature.
 */
#include "engine/flow/cycle/messages.h"

#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

/*
 * The text of the last refusal of a signature's pods.
 * Key: the signature's serial number, and the kind; 0, which matches no pod, if bt_engine_is_uncacheable is
 * true. Ends: with any change of the state that the text describes.
 */
struct bt_message {
	struct bt_buf text;
	uint64_t signature; /* serial number */
	uint64_t kind;	    /* key of the kind */
	struct bt_engine_versions when;
};

void bt_messages_add(struct bt_messages *messages, uint32_t pod_ix, struct bt_buf *out_text)
{
	bt_engine_explain_cycle(messages->engine, pod_ix, &messages->explanation);
	bt_engine_message(messages->engine, &messages->explanation, out_text);
}

static struct bt_message *message_of(struct bt_messages *messages, uint32_t signature_ix)
{
	while (signature_ix >= messages->n) {
		size_t old = messages->n;

		messages->items = bt_mem_grow(messages->items, old, &messages->n, sizeof(*messages->items));
		memset(messages->items + old, 0, (messages->n - old) * sizeof(*messages->items));
	}
	return &messages->items[signature_ix];
}

struct bt_str bt_messages_of(struct bt_messages *messages, uint32_t pod_ix)
{
	const struct bt_engine *engine = messages->engine;
	const struct bt_cycle cycle = bt_engine_cycle_of(engine, pod_ix);
	const struct bt_pod *pod = cycle.pod;
	struct bt_message *message = message_of(messages, pod->signature->ix);
	const struct bt_engine_versions now = bt_engine_state(engine);
	const uint64_t kind =
		bt_engine_is_uncacheable(engine, &cycle) ? 0 : bt_queue_kind_key(bt_engine_kind_of(pod));

	if (message->text.len == 0 || kind == 0 || message->signature != pod->signature->serial ||
		message->kind != kind || memcmp(&message->when, &now, sizeof(now)) != 0) {
		bt_buf_clear(&message->text);
		bt_messages_add(messages, pod_ix, &message->text);
		message->signature = pod->signature->serial;
		/* The node that preemption finds depends on the cycle, too. */
		message->kind = messages->explanation.preempts ? 0 : kind;
		message->when = now;
	}
	return bt_buf_view(&message->text);
}

void bt_messages_fini(struct bt_messages *messages)
{
	for (size_t i = 0; i < messages->n; i++) {
		bt_buf_fini(&messages->items[i].text);
	}
	bt_mem_free(messages->items);
	bt_explanation_fini(&messages->explanation);
}
