/* SPDX-License-Identifier: Apache-2.0
 * The state of a search: its trials and the fixes that it has found.
 */
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/explain/search_int.h"

#define CONDITIONS "node.kubernetes.io/" /* taints that say in which condition a node is */

struct bt_str bt_explain_node_name(const struct bt_explain_search *s, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(s->trial.engine);

	return bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

bool bt_explain_search_try(
	struct bt_explain_search *s, const struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	if (bt_interrupt_pending()) {
		return false;
	}
	bt_progress_update(s->progress, ++s->trial_n);
	return bt_explain_try(&s->trial, edits, n, node_ix);
}

static void write_pods(struct bt_explain_search *s, const struct bt_explain_edit *edit, struct bt_buf *out)
{
	const struct bt_cache *cache = bt_engine_cache(s->trial.engine);
	const struct bt_intern *intern = cache->dictionary->intern;

	for (uint32_t i = 0; i < edit->pod_n; i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, edit->pod_ixs[i]);

		bt_buf_printf(out, "%s%.*s/%.*s", i ? ", " : "",
			BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, pod->name)));
	}
}

static const char *keep(struct bt_explain_search *s, struct bt_buf *text)
{
	const char *kept = bt_arena_copy(&s->arena, text->ptr ? text->ptr : "", text->len);

	bt_buf_fini(text);
	return kept;
}

static void write_texts(struct bt_explain_search *s, struct bt_explain_fix *fix)
{
	struct bt_buf text = {0}, patch = {0}, objects = {0};

	for (size_t i = 0; i < fix->n; i++) {
		const struct bt_explain_edit *edit = &fix->edits[i];
		struct bt_buf pods = {0};

		write_pods(s, edit, &pods);
		bt_buf_text(&text, i ? "; " : "");
		bt_explain_edit_text(edit, &s->subject->pod, bt_buf_view(&pods), &text);
		bt_buf_str(&objects, bt_buf_view(&pods));
		bt_buf_str(&objects, edit->node_name);
		bt_buf_fini(&pods);
	}
	bt_explain_edits_patch(fix->edits, fix->n, &s->subject->pod, &patch);
	fix->text = keep(s, &text);
	fix->patch = keep(s, &patch);
	fix->objects = keep(s, &objects);
}

bool bt_explain_is_advisable(const struct bt_explain_edit *edit)
{
	return edit->kind != BT_EXPLAIN_VOLUME &&
	       !(edit->kind == BT_EXPLAIN_TOLERATE && bt_str_starts(edit->taint.key, CONDITIONS));
}

void bt_explain_add_fix(struct bt_explain_search *s, const struct bt_explain_edit *edits, size_t n)
{
	bool gated = s->subject->pod.spec.scheduling_gates.n > 0;
	struct bt_explain_fix fix = {.n = n};

	for (size_t i = 0; i < n; i++) {
		if (!bt_explain_is_advisable(&edits[i])) {
			return;
		}
	}
	fix.node = bt_arena_copy(&s->arena, s->trial.node.ptr, s->trial.node.len);
	fix.edits = bt_arena_zalloc(&s->arena, (n + 1) * sizeof(*fix.edits));
	if (n) {
		memcpy(fix.edits, edits, n * sizeof(*edits));
	}
	if (gated) {
		fix.edits[fix.n++] = (struct bt_explain_edit){.kind = BT_EXPLAIN_GATES};
	}
	bt_explain_edits_sort(fix.edits, fix.n);
	write_texts(s, &fix);
	for (size_t i = 0; i < s->fix_n; i++) {
		if (strcmp(s->fixes[i].text, fix.text) == 0) {
			return;
		}
	}
	s->single_n += n <= 1;
	s->fixes = bt_mem_grow(s->fixes, s->fix_n, &s->fix_cap, sizeof(*s->fixes));
	s->fixes[s->fix_n++] = fix;
}
