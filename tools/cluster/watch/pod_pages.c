/* SPDX-License-Identifier: Apache-2.0
 * Lists of pods on nodes.
 */
#include "tools/cluster/watch/pod_pages.h"

#include <string.h>

#include "engine/base/mem.h"
#include "tools/cluster/net/escape.h"
#include "tools/cluster/watch/frame_int.h"
#include "tools/cluster/watch/stream_int.h"

#define PAGE	   250u
#define TIMEOUT_NS (30 * INT64_C(1000000000))
#define ERROR_MAX  200u /* of a quoted answer */
#define PROTO_TYPE "application/vnd.kubernetes.protobuf"
#define JSON_TYPE  "application/json"

struct bt_pod_pages {
	struct bt_pod_pages_options options;
	struct bt_watch_frame_reader reader;
	struct bt_arena arena;
	struct bt_buf node, continue_, path, body, error;
	uint32_t page;
	bool of_nodes;
	struct bt_http_head head;
};

struct bt_pod_pages *bt_pod_pages_create(const struct bt_pod_pages_options *options)
{
	struct bt_pod_pages *pages = bt_mem_zalloc(1, sizeof(*pages));

	pages->options = *options;
	pages->options.page = options->page ? options->page : PAGE;
	pages->page = pages->options.page;
	bt_watch_frame_reader_init(&pages->reader);
	return pages;
}

void bt_pod_pages_destroy(struct bt_pod_pages *pages)
{
	if (pages) {
		bt_watch_frame_reader_fini(&pages->reader);
		bt_arena_fini(&pages->arena);
		bt_buf_fini(&pages->node);
		bt_buf_fini(&pages->continue_);
		bt_buf_fini(&pages->path);
		bt_buf_fini(&pages->body);
		bt_buf_fini(&pages->error);
		bt_mem_free(pages);
	}
}

struct bt_str bt_pod_pages_error(const struct bt_pod_pages *pages)
{
	return bt_buf_view(&pages->error);
}

int64_t bt_pod_pages_retry_after_ns(const struct bt_pod_pages *pages)
{
	return pages->head.retry_after_ns;
}

/* Requests pages->path. Returns: the status, or 0. */
static uint32_t request_page(struct bt_pod_pages *pages)
{
	const struct bt_http_call call = {.path = bt_buf_view(&pages->path),
		.accept = bt_str(pages->options.json ? JSON_TYPE : PROTO_TYPE "," JSON_TYPE),
		.timeout_ns = TIMEOUT_NS};

	pages->head = (struct bt_http_head){.retry_after_ns = -1};
	bt_buf_clear(&pages->error);
	enum bt_http_end end =
		pages->options.fetch(pages->options.http, &call, &pages->head, &pages->body, &pages->error);
	if (end == BT_HTTP_ANSWERED && pages->head.status != 200) {
		bt_buf_printf(&pages->error, "HTTP status %u: %.*s", pages->head.status,
			(int)(pages->body.len < ERROR_MAX ? pages->body.len : ERROR_MAX), pages->body.ptr);
	}
	return end == BT_HTTP_ANSWERED ? pages->head.status : 0;
}

/* bt_http_fetch does not keep the content type; the body starts with the envelope's magic. */
static bool is_proto(const struct bt_pod_pages *pages)
{
	return pages->body.len >= 4 && memcmp(pages->body.ptr, "k8s", 4) == 0;
}

/* ---- a page ---- */

void bt_pod_pages_begin(struct bt_pod_pages *pages, struct bt_str node)
{
	bt_buf_clear(&pages->node);
	bt_buf_str(&pages->node, node);
	bt_buf_clear(&pages->continue_);
	pages->of_nodes = false;
}

void bt_pod_pages_begin_nodes(struct bt_pod_pages *pages)
{
	bt_pod_pages_begin(pages, (struct bt_str){.len = 0});
	pages->of_nodes = true;
}

static void write_path(struct bt_pod_pages *pages)
{
	struct bt_buf *path = &pages->path;

	bt_buf_clear(path);
	if (pages->of_nodes) {
		bt_buf_printf(path, "/api/v1/nodes?limit=%u", pages->page);
	} else {
		bt_buf_printf(path, "/api/v1/pods?limit=%u&fieldSelector=", pages->page);
		bt_buf_text(path, BT_WATCH_ALIVE "%2Cspec.nodeName");
		bt_buf_text(path, pages->node.len ? "%3D" : "%21%3D");
		bt_escape(path, bt_buf_view(&pages->node));
	}
	if (pages->continue_.len) {
		bt_buf_text(path, "&continue=");
		bt_escape(path, bt_buf_view(&pages->continue_));
	}
}

/* Decodes a pod's identity, or all of a node. Returns: false when it has no identity. */
static bool identify(struct bt_pod_pages *pages, struct bt_str bytes, struct bt_object *out)
{
	struct bt_proto_error error;

	bt_arena_reset(&pages->arena);
	if (pages->of_nodes) {
		(void)bt_watch_frame_object(&pages->reader, is_proto(pages), bt_kind_info(BT_KIND_NODE),
			bytes, &pages->arena, out);
	} else if (is_proto(pages)) {
		(void)bt_proto_identify(pages->reader.proto, BT_KIND_POD, bytes, &pages->arena, out, &error);
	} else {
		(void)bt_watch_frame_object(
			&pages->reader, false, bt_kind_info(BT_KIND_POD), bytes, &pages->arena, out);
	}
	return bt_watch_frame_check_name(&pages->reader, out);
}

static bool read_meta(struct bt_pod_pages *pages, struct bt_str part)
{
	struct bt_proto_list_meta meta;

	if (!bt_watch_frame_list_meta(&pages->reader, is_proto(pages), part, &meta)) {
		return false;
	}
	bt_buf_clear(&pages->continue_);
	bt_buf_str(&pages->continue_, meta.continue_);
	return true;
}

/* The callback for the objects of a page: one of both. */
struct taker {
	void (*pod)(void *context, const struct bt_watch_pod *pod);
	void (*node)(void *context, const struct bt_object *node);
	void *context;
};

static void hand_over(const struct taker *taker, const struct bt_object *object)
{
	if (taker->node) {
		taker->node(taker->context, object);
	} else if (object->pod.spec.node_name.len) {
		taker->pod(taker->context, &(struct bt_watch_pod){.namespace_ = object->meta.namespace_,
						   .name = object->meta.name,
						   .uid = object->meta.uid,
						   .node = object->pod.spec.node_name});
	}
}

/* Returns: false when the page cannot be decoded, or one of its objects has no identity. */
static bool read_page(struct bt_pod_pages *pages, const struct taker *taker)
{
	struct bt_stream stream = {.form = BT_STREAM_JSON_LIST};
	enum bt_stream_step step;
	struct bt_str part;
	struct bt_object object;
	bool ok = true;

	bt_stream_begin(&stream, is_proto(pages) ? BT_STREAM_PROTO_LIST : BT_STREAM_JSON_LIST);
	bt_stream_add(&stream, pages->body.ptr, pages->body.len);
	while (ok && (step = bt_stream_next(&stream, &part)) != BT_STREAM_MORE) {
		if (step == BT_STREAM_BAD) {
			ok = false;
		} else if (step == BT_STREAM_META) {
			ok = read_meta(pages, part);
		} else if ((ok = identify(pages, part, &object))) {
			hand_over(taker, &object);
		}
	}
	ok = ok && bt_stream_is_whole(&stream);
	if (!ok) {
		bt_buf_text(&pages->error, stream.error ? stream.error : pages->reader.error);
	}
	bt_stream_fini(&stream);
	return ok;
}

static enum bt_pages next(struct bt_pod_pages *pages, const struct taker *taker)
{
	write_path(pages);
	bt_buf_clear(&pages->continue_);
	if (request_page(pages) != 200 || !read_page(pages, taker)) {
		pages->page = pages->page > 1 ? pages->page / 2 : 1;
		bt_buf_clear(&pages->continue_);
		return BT_PAGES_FAILED;
	}
	if (pages->continue_.len) {
		return BT_PAGES_MORE;
	}
	pages->page = pages->options.page;
	return BT_PAGES_END;
}

enum bt_pages bt_pod_pages_next(struct bt_pod_pages *pages,
	void (*call)(void *context, const struct bt_watch_pod *pod), void *context)
{
	return next(pages, &(struct taker){.pod = call, .context = context});
}

enum bt_pages bt_pod_pages_next_nodes(
	struct bt_pod_pages *pages, void (*call)(void *context, const struct bt_object *node), void *context)
{
	return next(pages, &(struct taker){.node = call, .context = context});
}

/* ---- one pod ---- */

static bool read_pod(struct bt_pod_pages *pages, struct bt_arena *arena, struct bt_object *out)
{
	struct bt_str bytes = bt_buf_view(&pages->body);
	struct bt_proto_unknown unknown;
	struct bt_proto_error error;

	if (is_proto(pages)) {
		if (!bt_proto_open(bytes, &unknown, &error)) {
			return false;
		}
		bytes = unknown.raw;
	}
	(void)bt_watch_frame_object(
		&pages->reader, is_proto(pages), bt_kind_info(BT_KIND_POD), bytes, arena, out);
	return bt_watch_frame_check_name(&pages->reader, out);
}

uint32_t bt_pod_pages_get(struct bt_pod_pages *pages, struct bt_str namespace_, struct bt_str name,
	struct bt_arena *arena, struct bt_object *out)
{
	bt_buf_clear(&pages->path);
	bt_buf_text(&pages->path, "/api/v1/namespaces/");
	bt_escape(&pages->path, namespace_);
	bt_buf_text(&pages->path, "/pods/");
	bt_escape(&pages->path, name);
	uint32_t status = request_page(pages);
	return status == 200 && !read_pod(pages, arena, out) ? 0 : status;
}
