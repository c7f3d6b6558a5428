/* SPDX-License-Identifier: Apache-2.0
 * The texts of refusals, kept by signature.
 */
#include "engine/flow/messages.h"

#include <string.h>

#include "engine/base/mem.h"

/* The text of a signature's last refusal, and the cluster's state that it is about. */
struct bt_message {
	struct bt_buf text;
	uint64_t signature; /* its serial number */
	uint64_t journal_end, version, change_n, storage, devices;
	int32_t priority;
	bool never_preempts;
};

static bool holds(const struct bt_message *message, const struct bt_cache *cache, const struct bt_pod *pod)
{
	return message->text.len && message->signature == pod->signature->serial &&
	       pod->nominated_ix == BT_NO_NODE && message->priority == pod->priority &&
	       message->never_preempts == pod->never_preempts &&
	       message->journal_end == cache->view.usage->journal_end &&
	       message->version == cache->view.snapshot->version &&
	       message->storage == cache->view.storage->version &&
	       message->devices == cache->view.devices->version &&
	       message->change_n == bt_ledger_change_n(cache->ledger);
}

void bt_messages_add(struct bt_messages *messages, uint32_t pod_ix, struct bt_buf *out_text)
{
	bt_engine_explain_cycle(messages->engine, pod_ix, &messages->explanation);
	bt_engine_message(messages->engine, &messages->explanation, out_text);
}

struct bt_str bt_messages_of(struct bt_messages *messages, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(messages->engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	uint32_t signature_ix = pod->signature->ix;

	while (signature_ix >= messages->n) {
		size_t old = messages->n;

		messages->items = bt_mem_grow(messages->items, old, &messages->n, sizeof(*messages->items));
		memset(messages->items + old, 0, (messages->n - old) * sizeof(*messages->items));
	}
	struct bt_message *message = &messages->items[signature_ix];
	if (bt_engine_asks_extenders(messages->engine, pod_ix) || !holds(message, cache, pod)) {
		bt_buf_clear(&message->text);
		bt_messages_add(messages, pod_ix, &message->text);
		message->signature = pod->signature->serial;
		message->journal_end = cache->view.usage->journal_end;
		message->version = cache->view.snapshot->version;
		message->storage = cache->view.storage->version;
		message->devices = cache->view.devices->version;
		message->change_n = bt_ledger_change_n(cache->ledger);
		message->priority = pod->priority;
		message->never_preempts = pod->never_preempts;
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
