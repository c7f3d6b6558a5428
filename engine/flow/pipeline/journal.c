/* SPDX-License-Identifier: Apache-2.0
 * Journals: writing and reading records.
 */
#include "engine/flow/pipeline/journal.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/varint.h"
#include "engine/base/async_writer.h"

#define MAGIC_BYTES  8u
#define VERSION	     4u /* 1 to 3: other node slots or pod indices */
#define BUFFER_BYTES ((size_t)256 << 10)
#define SUM_BYTES    4u

struct bt_journal {
	struct bt_journal_options options;
	struct bt_buf out, body;
	struct bt_async_writer *writer; /* or NULL */
	int64_t now_ns;
	bool begun, failed;
};

/* ---- writing ---- */

static void write_fixed(uint32_t n, struct bt_buf *out)
{
	for (int i = 0; i < 4; i++) {
		bt_buf_char(out, (char)(n >> 8 * i));
	}
}

static uint32_t sum_of(const char *bytes, size_t n)
{
	return (uint32_t)bt_hash_bytes(bytes, n);
}

struct bt_journal *bt_journal_create(const struct bt_journal_options *options)
{
	struct bt_journal *journal = bt_mem_zalloc(1, sizeof(*journal));

	journal->options = *options;
	if (journal->options.buffer_bytes == 0) {
		journal->options.buffer_bytes = BUFFER_BYTES;
	}
	if (options->ring_bytes) {
		journal->options.buffer_bytes = 1; /* each record is written at once */
	}
	bt_buf_text(&journal->out, BT_JOURNAL_MAGIC);
	write_fixed(VERSION, &journal->out);
	return journal;
}

static void flush(struct bt_journal *journal)
{
	const struct bt_journal_options *options = &journal->options;

	if (journal->writer) {
		bt_async_writer_put(journal->writer, journal->out.ptr, journal->out.len);
	} else if (!journal->failed && journal->out.len) {
		journal->failed = !options->write(options->context, journal->out.ptr, journal->out.len);
	}
	bt_buf_clear(&journal->out);
}

void bt_journal_destroy(struct bt_journal *journal)
{
	if (journal) {
		flush(journal);
		bt_async_writer_destroy(journal->writer);
		bt_buf_fini(&journal->out);
		bt_buf_fini(&journal->body);
		bt_mem_free(journal);
	}
}

static void write_record(struct bt_journal *journal, enum bt_journal_kind kind, struct bt_str body)
{
	struct bt_buf *out = &journal->out;

	bt_varint_put(body.len, out);
	size_t from = out->len;
	bt_buf_char(out, (char)kind);
	bt_buf_str(out, body);
	write_fixed(sum_of(out->ptr + from, out->len - from), out);
	if (out->len >= journal->options.buffer_bytes) {
		flush(journal);
	}
}

enum bt_status bt_journal_finish(struct bt_journal *journal)
{
	write_record(journal, BT_JOURNAL_END, (struct bt_str){0});
	flush(journal);
	if (journal->writer) {
		journal->failed = !bt_async_writer_flush(journal->writer);
	}
	return journal->failed ? BT_IO : BT_OK;
}

static void start_writer(struct bt_journal *journal)
{
	const struct bt_async_writer_options options = {.take = journal->options.write,
		.context = journal->options.context,
		.name = "journal",
		.capacity = journal->options.ring_bytes};

	journal->writer = bt_async_writer_create(&options);
}

void bt_journal_begin(struct bt_journal *journal, const struct bt_journal_header *header)
{
	const bool flags[] = {header->has_clock, header->binds, header->evicts, header->evicts_at_once,
		header->strict_order, header->no_backoff, header->groups_by_events, header->evaluate_always,
		header->releases, header->extends, header->moves_pods, header->status_is_shown};
	struct bt_buf *body = &journal->body;
	uint64_t bits = 0;

	BT_REQUIRE(!journal->begun);
	journal->begun = true;
	if (journal->options.ring_bytes) {
		start_writer(journal);
	}
	journal->now_ns = header->begin_ns;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		bits |= (uint64_t)flags[i] << i;
	}
	bt_buf_clear(body);
	bt_varint_put(header->seed, body);
	bt_varint_put_signed(header->begin_ns, body);
	bt_varint_put(bits, body);
	bt_varint_put((uint64_t)header->sampling, body);
	bt_varint_put(header->tombstones, body);
	bt_varint_put_text(journal->options.config, body);
	write_record(journal, BT_JOURNAL_HEADER, bt_buf_view(body));
}

void bt_journal_encode(const struct bt_journal *journal, const struct bt_object *object, struct bt_buf *out)
{
	journal->options.codec.encode(journal->options.codec.context, object, out);
}

void bt_journal_object(struct bt_journal *journal, enum bt_journal_kind kind, struct bt_str bytes)
{
	write_record(journal, kind, bytes);
}

void bt_journal_time(struct bt_journal *journal, int64_t now_ns, enum bt_journal_time what)
{
	bt_buf_clear(&journal->body);
	bt_varint_put((uint64_t)what, &journal->body);
	bt_varint_put_signed(now_ns - journal->now_ns, &journal->body);
	journal->now_ns = now_ns;
	write_record(journal, BT_JOURNAL_TIME, bt_buf_view(&journal->body));
}

void bt_journal_answer(struct bt_journal *journal, enum bt_journal_kind kind, uint64_t number)
{
	bt_buf_clear(&journal->body);
	bt_varint_put(number, &journal->body);
	write_record(journal, kind, bt_buf_view(&journal->body));
}

void bt_journal_binding(struct bt_journal *journal, uint64_t number, const struct bt_binding_answer *answer)
{
	struct bt_buf *body = &journal->body;

	bt_buf_clear(body);
	bt_varint_put(number, body);
	for (uint32_t i = 0; i < answer->claim_n; i++) {
		const struct bt_written_claim *claim = &answer->claims[i];

		bt_varint_put_text(claim->name, body);
		bt_varint_put_text(claim->uid, body);
		bt_varint_put(claim->version, body);
		bt_varint_put((uint64_t)claim->reserved | (uint64_t)claim->special << 1, body);
	}
	write_record(journal, answer->bound ? BT_JOURNAL_BOUND : BT_JOURNAL_FAILED, bt_buf_view(body));
}

void bt_journal_extender(struct bt_journal *journal, struct bt_str answer)
{
	write_record(journal, BT_JOURNAL_EXTENDER, answer);
}

void bt_journal_taken(struct bt_journal *journal, uint32_t pod_ix)
{
	bt_journal_answer(journal, BT_JOURNAL_TAKEN, pod_ix);
}

void bt_journal_decision(
	struct bt_journal *journal, struct bt_engine *engine, const struct bt_decision *decision)
{
	bt_buf_clear(&journal->body);
	bt_journal_write_decision(engine, decision, &journal->body);
	write_record(journal, BT_JOURNAL_DECISION, bt_buf_view(&journal->body));
}

/* ---- decisions ---- */

static void write_pod(struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *out)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);

	bt_varint_put(pod_ix, out);
	bt_varint_put_text(bt_intern_str(cache->dictionary->intern, pod->signature->namespace_), out);
	bt_varint_put_text(bt_intern_str(cache->dictionary->intern, pod->name), out);
}

static void write_node(struct bt_engine *engine, uint32_t node_ix, struct bt_buf *out)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	struct bt_str name = {0};

	if (node_ix != BT_NO_NODE) {
		name = bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
	}
	bt_varint_put_text(name, out);
}

void bt_journal_write_decision(
	struct bt_engine *engine, const struct bt_decision *decision, struct bt_buf *out_body)
{
	bt_varint_put((uint64_t)decision->outcome | (decision->waits ? BT_JOURNAL_WAITS : 0) |
			      (decision->waited ? BT_JOURNAL_WAITED : 0),
		out_body);
	write_pod(engine, decision->pod_ix, out_body);
	write_node(engine, decision->outcome == BT_PLACED ? decision->node_ix : BT_NO_NODE, out_body);
	bt_varint_put(decision->unschedulable_plugins, out_body);
	bt_varint_put((uint64_t)decision->preempt | (decision->by_group ? BT_JOURNAL_BY_GROUP : 0), out_body);
	write_node(engine, decision->nominated_ix, out_body);
	bt_varint_put(decision->victim_n, out_body);
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		write_pod(engine, decision->victims[i].pod_ix, out_body);
	}
}

/* ---- reading ---- */

bool bt_journal_claim(struct bt_str *body, struct bt_written_claim *out_claim)
{
	uint64_t bits;

	if (!bt_varint_get_text(body, &out_claim->name) || !bt_varint_get_text(body, &out_claim->uid) ||
		!bt_varint_get(body, &out_claim->version) || !bt_varint_get(body, &bits)) {
		return false;
	}
	out_claim->reserved = bits & 1;
	out_claim->special = bits >> 1 & 1;
	return true;
}

static uint32_t read_fixed(const char *bytes)
{
	uint32_t n = 0;

	for (int i = 0; i < 4; i++) {
		n |= (uint32_t)(uint8_t)bytes[i] << 8 * i;
	}
	return n;
}

static enum bt_status journal_fail(
	enum bt_status status, size_t offset, const char *what, struct bt_buf *out_error)
{
	bt_buf_printf(out_error, "at byte %zu: %s", offset, what);
	return status;
}

enum bt_status bt_journal_next(
	struct bt_journal_reader *reader, struct bt_journal_record *out_record, struct bt_buf *out_error)
{
	struct bt_str rest = bt_str_sub(reader->bytes, reader->offset, reader->bytes.len);
	uint64_t n;

	if (rest.len == 0) {
		return BT_NOT_FOUND;
	}
	if (!bt_varint_get(&rest, &n)) {
		return rest.len >= 10
			       ? journal_fail(BT_INVALID, reader->offset, "this is no record", out_error)
			       : journal_fail(
					 BT_TRUNCATED, reader->offset, "the journal breaks off", out_error);
	}
	if (n > rest.len || rest.len - n < 1 + SUM_BYTES) {
		return journal_fail(
			BT_TRUNCATED, reader->offset, "the journal breaks off in a record", out_error);
	}
	if (sum_of(rest.ptr, (size_t)n + 1) != read_fixed(rest.ptr + n + 1)) {
		return journal_fail(BT_INVALID, reader->offset,
			"the record is damaged: its checksum is not that of its bytes", out_error);
	}
	*out_record = (struct bt_journal_record){
		(enum bt_journal_kind)rest.ptr[0], reader->offset, bt_str_sub(rest, 1, (size_t)n + 1)};
	reader->offset = reader->bytes.len - (rest.len - (size_t)n - 1 - SUM_BYTES);
	return BT_OK;
}

static bool read_header(struct bt_str body, struct bt_journal_header *out)
{
	bool *const flags[] = {&out->has_clock, &out->binds, &out->evicts, &out->evicts_at_once,
		&out->strict_order, &out->no_backoff, &out->groups_by_events, &out->evaluate_always,
		&out->releases, &out->extends, &out->moves_pods, &out->status_is_shown};
	uint64_t bits, sampling, tombstones;

	if (!bt_varint_get(&body, &out->seed) || !bt_varint_get_signed(&body, &out->begin_ns) ||
		!bt_varint_get(&body, &bits) || !bt_varint_get(&body, &sampling) ||
		!bt_varint_get(&body, &tombstones) || tombstones == 0 || tombstones > UINT32_MAX ||
		!bt_varint_get_text(&body, &out->config)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		*flags[i] = bits >> i & 1;
	}
	out->sampling = (enum bt_node_sampling)sampling;
	out->tombstones = (uint32_t)tombstones;
	return sampling <= BT_SAMPLING_UPSTREAM && body.len == 0;
}

enum bt_status bt_journal_open(struct bt_str bytes, struct bt_journal_reader *out_reader,
	struct bt_journal_header *out_header, struct bt_buf *out_error)
{
	struct bt_journal_record record;

	if (!bt_str_starts(bytes, BT_JOURNAL_MAGIC) || bytes.len < MAGIC_BYTES + 4) {
		return journal_fail(BT_INVALID, 0, "this is no journal of berth", out_error);
	}
	if (read_fixed(bytes.ptr + MAGIC_BYTES) != VERSION) {
		bt_buf_printf(out_error,
			"this is a journal of version %" PRIu32 "; this berth reads version %u",
			read_fixed(bytes.ptr + MAGIC_BYTES), VERSION);
		return BT_UNSUPPORTED;
	}
	*out_reader = (struct bt_journal_reader){bytes, MAGIC_BYTES + 4};
	enum bt_status status = bt_journal_next(out_reader, &record, out_error);
	if (status == BT_NOT_FOUND) {
		return journal_fail(BT_TRUNCATED, out_reader->offset,
			"the journal breaks off before its header", out_error);
	}
	if (status == BT_OK && (record.kind != BT_JOURNAL_HEADER || !read_header(record.body, out_header))) {
		return journal_fail(
			BT_INVALID, record.offset, "there is no header that can be read", out_error);
	}
	return status;
}

/* ---- decisions as text ---- */

static bool read_pod_text(struct bt_str *body, struct bt_buf *out)
{
	struct bt_str namespace_, name;
	uint64_t pod_ix;

	if (!bt_varint_get(body, &pod_ix) || !bt_varint_get_text(body, &namespace_) ||
		!bt_varint_get_text(body, &name)) {
		return false;
	}
	bt_buf_printf(out, "%.*s/%.*s (pod %" PRIu64 ")", BT_STR_ARG(namespace_), BT_STR_ARG(name), pod_ix);
	return true;
}

static bool read_victims_text(struct bt_str *body, struct bt_buf *out)
{
	uint64_t n;

	if (!bt_varint_get(body, &n)) {
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		bt_buf_text(out, i ? ", " : ", evicting ");
		if (!read_pod_text(body, out)) {
			return false;
		}
	}
	return true;
}

static bool read_decision_text(struct bt_str body, struct bt_buf *out)
{
	static const char *const words[] = {" placed on ", " refused", " gated", " failed", " skipped"};
	uint64_t outcome, unschedulable_plugins, preempt;
	struct bt_str node, nominated;

	if (!bt_varint_get(&body, &outcome) || (outcome & BT_JOURNAL_OUTCOME) > BT_SKIPPED ||
		!read_pod_text(&body, out) || !bt_varint_get_text(&body, &node) ||
		!bt_varint_get(&body, &unschedulable_plugins) || !bt_varint_get(&body, &preempt) ||
		!bt_varint_get_text(&body, &nominated)) {
		return false;
	}
	bt_buf_text(out, outcome & BT_JOURNAL_WAITED ? " after a wait" : "");
	bt_buf_text(out, words[outcome & BT_JOURNAL_OUTCOME]);
	bt_buf_str(out, node);
	bt_buf_text(out, outcome & BT_JOURNAL_WAITS ? ", where it waits" : "");
	if ((outcome & BT_JOURNAL_OUTCOME) == BT_REFUSED) {
		bt_buf_printf(out, " by plugins %" PRIx64 ", preemption %" PRIu64 "%s", unschedulable_plugins,
			preempt & ~BT_JOURNAL_BY_GROUP, preempt & BT_JOURNAL_BY_GROUP ? " by the group" : "");
	}
	if (nominated.len) {
		bt_buf_printf(out, ", nominated to %.*s", BT_STR_ARG(nominated));
	}
	return read_victims_text(&body, out);
}

void bt_journal_decision_text(struct bt_str body, struct bt_buf *out_text)
{
	if (!read_decision_text(body, out_text)) {
		bt_buf_text(out_text, " ... (this is no decision)");
	}
}
