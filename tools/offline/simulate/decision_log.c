/* SPDX-License-Identifier: Apache-2.0
 * The log of decisions.
 */
#include "tools/offline/simulate/decision_log.h"

#include "tools/cli/json_write.h"

static void write_pod(struct bt_decision_log *log, struct bt_json_writer *json, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(log->engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);

	bt_buf_clear(&log->key);
	bt_buf_printf(&log->key, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
	bt_json_write_str(json, bt_buf_view(&log->key));
}

static void begin_line(struct bt_decision_log *log, struct bt_json_writer *json, uint32_t pod_ix)
{
	bt_buf_clear(&log->line);
	*json = (struct bt_json_writer){.out = &log->line};
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "pod");
	write_pod(log, json, pod_ix);
}

static void end_line(struct bt_decision_log *log, struct bt_json_writer *json)
{
	bt_json_write_end(json);
	bt_buf_char(&log->line, '\n');
	bt_output_add(log->output, log->line.ptr, log->line.len);
}

static void write_node(
	const struct bt_decision_log *log, struct bt_json_writer *json, const char *key, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(log->engine);

	bt_json_write_key(json, key);
	bt_json_write_str(
		json, bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name));
}

/* The victims that were not already terminating. */
static void write_evicted(
	struct bt_decision_log *log, struct bt_json_writer *json, const struct bt_decision *decision)
{
	bool any = false;

	for (uint32_t i = 0; i < decision->victim_n; i++) {
		if (!bt_evicted_take(&log->evicted, decision->victims[i].pod_ix)) {
			continue;
		}
		if (!any) {
			bt_json_write_key(json, "evicted");
			bt_json_write_begin_array(json);
		}
		any = true;
		write_pod(log, json, decision->victims[i].pod_ix);
	}
	if (any) {
		bt_json_write_end(json);
	}
}

static void write_refusal(struct bt_decision_log *log, struct bt_json_writer *json,
	const struct bt_decision *decision, struct bt_str message)
{
	const struct bt_ledger *ledger = bt_engine_cache(log->engine)->ledger;
	uint32_t nominated_ix = bt_ledger_pod(ledger, decision->pod_ix)->nominated_ix;

	bt_json_write_key(json, "node");
	bt_json_write_null(json);
	if (nominated_ix != BT_NO_NODE) {
		write_node(log, json, "nominated", nominated_ix);
	}
	write_evicted(log, json, decision);
	bt_json_write_key(json, "message");
	bt_json_write_str(json, message);
}

void bt_decision_log_decision(
	struct bt_decision_log *log, const struct bt_decision *decision, struct bt_str message)
{
	struct bt_json_writer json;

	if (!log->output || decision->outcome == BT_GATED || decision->outcome == BT_SKIPPED) {
		return;
	}
	begin_line(log, &json, decision->pod_ix);
	if (decision->outcome == BT_PLACED) {
		write_node(log, &json, "node", decision->node_ix);
	} else {
		write_refusal(log, &json, decision, message);
	}
	end_line(log, &json);
}

void bt_decision_log_evict(struct bt_decision_log *log, uint32_t pod_ix)
{
	if (log->output) {
		bt_evicted_add(&log->evicted, pod_ix);
	}
}

void bt_decision_log_delete(struct bt_decision_log *log, uint32_t pod_ix)
{
	struct bt_json_writer json;

	if (log->output) {
		begin_line(log, &json, pod_ix);
		bt_json_write_key(&json, "delete");
		bt_json_write_bool(&json, true);
		end_line(log, &json);
	}
}

void bt_decision_log_fini(struct bt_decision_log *log)
{
	bt_evicted_fini(&log->evicted);
	bt_buf_fini(&log->line);
	bt_buf_fini(&log->key);
}
