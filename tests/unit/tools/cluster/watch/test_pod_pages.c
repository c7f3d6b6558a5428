/* SPDX-License-Identifier: Apache-2.0
 * Lists of pods on nodes, page by page, in both forms, with pods that cannot be read whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server.h"
#include "tools/cluster/watch/pod_pages.h"

static const struct pod pods[] = {{"a", 1, 3, "n1"}, {"b", 2, 4, "n2"}, {"c", 3, 5, NULL}};

static enum form form;
static bool refuses;
static struct bt_buf asked, accepted;

/* Two pages, of two pods and one. Like bt_http_fetch, which does not return the content type. */
static enum bt_http_end fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error)
{
	(void)http;
	(void)out_error;
	bt_buf_clear(&asked);
	bt_buf_str(&asked, call->path);
	bt_buf_clear(&accepted);
	bt_buf_str(&accepted, call->accept);
	bt_buf_clear(out_body);
	out_head->status = refuses ? 500 : 200;
	bool second = strstr(asked.ptr, "&continue=to%2Fken") != NULL;
	write_list(out_body, form, 9, second ? "" : "to/ken", second ? pods + 2 : pods, second ? 1 : 2);
	return BT_HTTP_ANSWERED;
}

static void note(void *context, const struct bt_watch_pod *pod)
{
	bt_buf_printf(context, "%.*s/%.*s on %.*s; ", BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name),
		BT_STR_ARG(pod->node));
}

static void all_pods_on_nodes_are_delivered(void **state)
{
	(void)state;
	for (form = JSON; form < FORM_N; form++) {
		for (server_poison = CLEAN; server_poison <= BAD_VALUE; server_poison++) {
			struct bt_pod_pages *pages =
				bt_pod_pages_create(&(struct bt_pod_pages_options){.fetch = fetch});
			struct bt_buf out = {0};

			bt_pod_pages_begin(pages, (struct bt_str){.len = 0});
			assert_int_equal(bt_pod_pages_next(pages, note, &out), BT_PAGES_MORE);
			assert_non_null(strstr(asked.ptr, "?limit=250&"));
			assert_int_equal(bt_pod_pages_next(pages, note, &out), BT_PAGES_END);
			assert_string_equal(out.ptr, "team/a on n1; team/b on n2; ");
			bt_buf_fini(&out);
			bt_pod_pages_destroy(pages);
		}
		server_poison = CLEAN;
	}
	bt_buf_fini(&asked);
	bt_buf_fini(&accepted);
}

static void with_json_alone_nothing_else_is_accepted(void **state)
{
	(void)state;
	form = JSON;
	for (int json = 0; json < 2; json++) {
		struct bt_pod_pages *pages =
			bt_pod_pages_create(&(struct bt_pod_pages_options){.fetch = fetch, .json = json});
		struct bt_buf out = {0};

		bt_pod_pages_begin(pages, (struct bt_str){.len = 0});
		assert_int_equal(bt_pod_pages_next(pages, note, &out), BT_PAGES_MORE);
		assert_int_equal(strstr(accepted.ptr, "protobuf") == NULL, json);
		bt_buf_fini(&out);
		bt_pod_pages_destroy(pages);
	}
	bt_buf_fini(&asked);
	bt_buf_fini(&accepted);
}

static void fewer_objects_are_requested_after_a_failure(void **state)
{
	struct bt_pod_pages *pages = bt_pod_pages_create(&(struct bt_pod_pages_options){.fetch = fetch});
	struct bt_buf out = {0};

	(void)state;
	form = PROTO;
	refuses = true;
	bt_pod_pages_begin(pages, (struct bt_str){.len = 0});
	assert_int_equal(bt_pod_pages_next(pages, note, &out), BT_PAGES_FAILED);
	refuses = false;
	bt_pod_pages_begin(pages, bt_str("n/1"));
	assert_int_equal(bt_pod_pages_next(pages, note, &out), BT_PAGES_MORE);
	assert_non_null(strstr(asked.ptr, "?limit=125&"));
	assert_non_null(strstr(asked.ptr, "spec.nodeName%3Dn%2F1"));
	bt_buf_fini(&out);
	bt_buf_fini(&asked);
	bt_buf_fini(&accepted);
	bt_pod_pages_destroy(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pods_on_nodes_are_delivered),
		cmocka_unit_test(with_json_alone_nothing_else_is_accepted),
		cmocka_unit_test(fewer_objects_are_requested_after_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
