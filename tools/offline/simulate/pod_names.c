/* SPDX-License-Identifier: Apache-2.0
 * Names of pods that users mistype.
 */
#include "tools/offline/simulate/pod_names.h"

#include <string.h>

#include "engine/base/mem.h"
#include "tools/cli/command.h"
#include "tools/cli/message.h"

#define SUGGEST_MAX 200000 /* limit of pods for suggesting similar names */

/* Names of pods with their namespaces, to suggest the nearest one. */
struct pod_names {
	char **names;
	size_t n;
};

static const char *pod_name(const void *context, size_t ix)
{
	const struct pod_names *names = context;

	return ix < names->n ? names->names[ix] : NULL;
}

static const char *bare_name(const void *context, size_t ix)
{
	const char *name = pod_name(context, ix);

	return name ? strchr(name, '/') + 1 : NULL;
}

/* The nearest name is that of a pod with the same name in another namespace; then one that differs in some
 * letters; then one whose name alone does. */
static const char *nearest(const struct pod_names *names, const char *typed)
{
	const char *slash = strrchr(typed, '/'), *bare = slash ? slash + 1 : typed, *near, *near_bare;

	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(bare_name(names, i), bare) == 0) {
			return names->names[i];
		}
	}
	near = bt_name_suggest(typed, pod_name, names);
	near_bare = near ? NULL : bt_name_suggest(bare, bare_name, names);
	for (size_t i = 0; i < names->n && near_bare && !near; i++) {
		near = bare_name(names, i) == near_bare ? names->names[i] : NULL;
	}
	return near;
}

void bt_pod_names_unknown(struct bt_engine *engine, const char *what, const char *typed)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t end = bt_ledger_pod_end(cache->ledger);
	struct pod_names names = {.names = bt_mem_zalloc((size_t)end + 1, sizeof(*names.names))};
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < end && end <= SUGGEST_MAX; i++) {
		const struct bt_pod *pod = bt_ledger_pod(cache->ledger, i);

		if (pod->state != BT_POD_QUEUED && pod->state != BT_POD_SCHEDULED) {
			continue;
		}
		bt_buf_clear(&text);
		bt_buf_printf(&text, "%.*s/%.*s",
			BT_STR_ARG(bt_intern_str(cache->dictionary->intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(cache->dictionary->intern, pod->name)));
		names.names[names.n++] = bt_mem_copy(text.ptr, text.len);
	}
	const char *near = nearest(&names, typed);
	bt_message("berth %s %s: there is no such pod; %s%s%s\n", what, typed,
		near ? "did you mean " : "write NAMESPACE/NAME", near ? near : "", near ? "?" : "");
	for (size_t i = 0; i < names.n; i++) {
		bt_mem_free(names.names[i]);
	}
	bt_mem_free(names.names);
	bt_buf_fini(&text);
}

bool bt_pod_names_read(
	const char *typed, struct bt_buf *out_pod, struct bt_str *out_namespace, struct bt_str *out_name)
{
	const struct bt_str given = bt_str(typed);
	const bool has_namespace = bt_str_find(given, '/', 0) < given.len;

	bt_buf_printf(out_pod, "%s%s", has_namespace ? "" : "default/", typed);
	const struct bt_str text = bt_buf_view(out_pod);
	const size_t slash = bt_str_find(text, '/', 0);

	*out_namespace = bt_str_sub(text, 0, slash);
	*out_name = bt_str_sub(text, slash + 1, text.len);
	return slash > 0 && slash + 1 < text.len && bt_str_find(text, '/', slash + 1) == text.len;
}
