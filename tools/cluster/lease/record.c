/* SPDX-License-Identifier: Apache-2.0
 * Reads and writes Lease objects as JSON.
 */
#include "tools/cluster/lease/record_int.h"

#include "engine/base/quote.h"
#include "tools/format/schema.h"
#include "tools/format/time.h"

#define FIELD(json, kind, member)                                                                            \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind,                                               \
		.offset = offsetof(struct bt_lease_record, member)                                           \
	}

static const struct bt_field spec_fields[] = {
	FIELD("holderIdentity", STR, holder),
	FIELD("leaseDurationSeconds", I32, duration_s),
	FIELD("acquireTime", STR, acquire_time),
	FIELD("renewTime", STR, renew_time),
	FIELD("leaseTransitions", I32, transitions),
	FIELD("strategy", RAW, strategy),
	FIELD("preferredHolder", RAW, preferred_holder),
};
static const struct bt_schema spec_schema = BT_SCHEMA(spec_fields, struct bt_lease_record);

static const struct bt_field lease_fields[] = {
	FIELD("metadata", RAW, metadata),
	{.name = BT_STR("spec"), .type = BT_FIELD_OBJECT, .offset = 0, .schema = &spec_schema},
};
static const struct bt_schema lease_schema = BT_SCHEMA(lease_fields, struct bt_lease_record);

void bt_lease_record_fini(struct bt_lease_record *record)
{
	bt_buf_fini(&record->text);
	bt_arena_fini(&record->arena);
	*record = (struct bt_lease_record){0};
}

bool bt_lease_record_read(struct bt_lease_record *record, struct bt_str json, struct bt_buf *out_error)
{
	struct bt_lease_record fresh = {.text = record->text, .arena = record->arena};
	struct bt_json *cursor = bt_json_create();

	bt_arena_reset(&fresh.arena);
	bt_buf_clear(&fresh.text);
	bt_buf_str(&fresh.text, json);
	*record = (struct bt_lease_record){.text = fresh.text, .arena = fresh.arena};
	struct bt_decode decode = {.json = cursor, .arena = &record->arena};

	bt_json_begin(cursor, bt_buf_view(&record->text), &record->arena);
	bool good = bt_schema_decode(&decode, &lease_schema, record);

	if (good && (!record->metadata.len || record->metadata.ptr[0] != '{')) {
		good = bt_decode_fail(&decode, BT_INVALID, 0, NULL, "no metadata");
	}
	if (!good) {
		bt_buf_printf(out_error, "the server's Lease: %s%s%s", decode.error.path,
			*decode.error.path ? ": " : "", decode.error.message);
		*record = (struct bt_lease_record){.text = record->text, .arena = record->arena};
	}
	bt_json_destroy(cursor);
	return good;
}

bool bt_lease_record_same(const struct bt_lease_record *a, const struct bt_lease_record *b)
{
	return bt_str_eq(a->holder, b->holder) && a->duration_s == b->duration_s &&
	       a->transitions == b->transitions && bt_str_eq(a->acquire_time, b->acquire_time) &&
	       bt_str_eq(a->renew_time, b->renew_time) && !a->metadata.len == !b->metadata.len;
}

/* A MicroTime: always six digits after the point. */
static void write_time(struct bt_buf *out, int64_t ns)
{
	int64_t micro = ns / 1000 % 1000000;
	char text[BT_TIME_TEXT_MAX];
	size_t n = bt_time_text(ns - ns % 1000000000, text);

	bt_buf_char(out, '"');
	bt_buf_add(out, text, n - 1); /* without its Z */
	bt_buf_printf(out, ".%06dZ\"", (int)micro);
}

struct lease_version {
	struct bt_str uid, version;
};

static const struct bt_field identity_fields[] = {
	{.name = BT_STR("uid"), .type = BT_FIELD_STR, .offset = offsetof(struct lease_version, uid)},
	{.name = BT_STR("resourceVersion"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct lease_version, version)},
};
static const struct bt_schema identity_schema = BT_SCHEMA(identity_fields, struct lease_version);

static void write_member(struct bt_buf *out, const char *name, struct bt_str value)
{
	bt_buf_printf(out, ",\"%s\":", name);
	bt_quote_json(out, value);
}

static void write_object(
	const struct bt_lease_record *lease, const struct bt_lease_event *event, struct bt_buf *out)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_decode decode = {.json = cursor, .arena = &arena};
	struct lease_version identity = {0};

	bt_json_begin(cursor, lease->metadata.len ? lease->metadata : bt_str("{}"), &arena);
	if (!bt_schema_decode(&decode, &identity_schema, &identity)) {
		identity = (struct lease_version){0};
	}
	bt_buf_text(out, ",\"involvedObject\":{\"kind\":\"Lease\"");
	write_member(out, "namespace", event->namespace_);
	write_member(out, "name", event->name);
	if (identity.uid.len) {
		write_member(out, "uid", identity.uid);
	}
	bt_buf_text(out, ",\"apiVersion\":\"coordination.k8s.io/v1\"");
	if (identity.version.len) {
		write_member(out, "resourceVersion", identity.version);
	}
	bt_buf_char(out, '}');
	bt_arena_fini(&arena);
	bt_json_destroy(cursor);
}

void bt_lease_event_write(
	const struct bt_lease_record *lease, const struct bt_lease_event *event, struct bt_buf *out)
{
	char time[BT_TIME_TEXT_MAX];
	struct bt_buf name = {0};
	size_t time_n = bt_time_text(event->now_ns - event->now_ns % 1000000000, time);
	const struct bt_str now = {time, time_n};

	bt_buf_printf(&name, "%.*s.%llx", BT_STR_ARG(event->name), (unsigned long long)event->now_ns);
	bt_buf_clear(out);
	bt_buf_text(out, "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":");
	bt_quote_json(out, bt_buf_view(&name));
	write_member(out, "namespace", event->namespace_);
	bt_buf_char(out, '}');
	write_object(lease, event, out);
	write_member(out, "reason", bt_str("LeaderElection"));
	write_member(out, "message", event->message);
	bt_buf_text(out, ",\"source\":{\"component\":");
	bt_quote_json(out, event->component);
	bt_buf_char(out, '}');
	write_member(out, "firstTimestamp", now);
	write_member(out, "lastTimestamp", now);
	bt_buf_text(out, ",\"count\":1,\"type\":\"Normal\",\"eventTime\":null");
	write_member(out, "reportingComponent", event->component);
	write_member(out, "reportingInstance", (struct bt_str){0});
	bt_buf_char(out, '}');
	bt_buf_fini(&name);
}

static void write_raw(struct bt_buf *out, const char *name, struct bt_str json)
{
	if (json.len && !bt_str_is(json, "null")) {
		bt_buf_printf(out, ",\"%s\":", name);
		bt_buf_str(out, json);
	}
}

/* Protobuf carries years of five digits and years before 0; the server writes them and does not parse
 * them. */
static bool server_reads(struct bt_str time)
{
	int64_t ns;

	return time.len > 4 && time.ptr[4] == '-' && bt_time_parse(time, &ns) == BT_OK;
}

void bt_lease_record_write(
	const struct bt_lease_record *old, const struct bt_lease_write *write, struct bt_buf *out)
{
	bt_buf_clear(out);
	bt_buf_text(out, "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":");
	if (old->metadata.len) {
		bt_buf_str(out, old->metadata);
	} else {
		bt_buf_text(out, "{\"name\":");
		bt_quote_json(out, write->name);
		bt_buf_text(out, ",\"namespace\":");
		bt_quote_json(out, write->namespace_);
		bt_buf_char(out, '}');
	}
	bt_buf_text(out, ",\"spec\":{\"holderIdentity\":");
	bt_quote_json(out, write->holder);
	bt_buf_printf(out, ",\"leaseDurationSeconds\":%d,\"acquireTime\":", (int)write->duration_s);
	if (server_reads(write->acquire_time)) {
		bt_quote_json(out, write->acquire_time);
	} else {
		write_time(out, write->now_ns);
	}
	bt_buf_text(out, ",\"renewTime\":");
	write_time(out, write->now_ns);
	bt_buf_printf(out, ",\"leaseTransitions\":%d", (int)write->transitions);
	write_raw(out, "strategy", old->strategy);
	write_raw(out, "preferredHolder", old->preferred_holder);
	bt_buf_text(out, "}}");
}
