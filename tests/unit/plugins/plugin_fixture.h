/* SPDX-License-Identifier: Apache-2.0
 * Calls plugins directly: compiles a signature, and returns results for a single node.
 */
#pragma once

#include "object_fixture.h"
#include "plugins/plugin.h"

static inline const uint32_t *fixture_label_column(void *context, uint32_t key)
{
	const struct fixture *f = context;

	return bt_snapshot_label_column(f->cache->snapshot, key);
}

static inline const uint64_t *fixture_image_nodes(void *context, uint32_t name)
{
	const struct fixture *f = context;

	return bt_snapshot_image_nodes(f->cache->snapshot, name);
}

/* A plugin with a pod's term. */
struct subject {
	struct fixture *f;
	const struct bt_plugin *plugin;
	struct bt_compiled compiled;
};

static inline struct subject compile_pod(
	struct fixture *f, const struct bt_plugin *plugin, const void *settings, const char *spec)
{
	struct bt_compile_env env = {
		.dictionary = f->cache->dictionary,
		.snapshot = f->cache->view.snapshot,
		.view = &f->cache->view,
		.arena = &f->arena,
		.label_column = fixture_label_column,
		.image_nodes = fixture_image_nodes,
		.context = f,
	};
	struct subject subject = {.f = f, .plugin = plugin};

	plugin->compile(settings, &env, fixture_signature(f, spec), &subject.compiled);
	return subject;
}

static inline bool passes(const struct subject *subject, uint32_t node)
{
	uint8_t pass = 2;

	if (subject->compiled.filter_skip) {
		return true;
	}
	subject->plugin->filter(subject->compiled.term, &subject->f->cache->view, node, 1, &pass);
	assert_in_range(pass, 0, 1);
	return pass;
}

static inline int64_t score(const struct subject *subject, uint32_t node)
{
	int64_t raw = -1;

	if (subject->compiled.score_skip) {
		return 0;
	}
	subject->plugin->score(subject->compiled.term, &subject->f->cache->view, node, 1, &raw);
	return raw;
}

/* The plugin refuses the node with this code and these texts, joined by "; ". */
static inline void assert_refused(
	const struct subject *subject, uint32_t node, enum bt_code code, const char *texts)
{
	struct bt_rejection rejection;
	struct bt_buf text = {0};

	assert_false(passes(subject, node));
	bt_plugin_reject(subject->plugin, subject->compiled.term, &subject->f->cache->view, node, &rejection);
	for (uint32_t i = 0; i < rejection.n; i++) {
		bt_buf_text(&text, i ? "; " : "");
		bt_plugin_reason(
			subject->plugin, subject->f->cache->dictionary, &rejection.reasons[i], &text);
	}
	assert_string_equal(text.ptr, texts);
	assert_int_equal(rejection.code, code);
	bt_buf_fini(&text);
}
