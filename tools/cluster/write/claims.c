/* SPDX-License-Identifier: Apache-2.0
 * A ResourceClaim before a binding: read, and patched with the resource version that was read; a conflict
 * reads it again. Source: bindClaim, Unreserve and PostFilter of DynamicResources, v1.36.3.
 *
 *  (CREATE) --> CLAIM_GET --> CLASS_GET --> (FINALIZER) --> CLAIM --> (POD_GET --> POD) --> the next one
 *                 ^                                |          |
 *                 +------------- 409 --------------+----------+
 *  After all writes, each claim whose devices have binding conditions: READY, until they are met.
 *  Rollback: UNRESERVE; or, for a created claim, UNFINALIZE --> DELETE
 */
#include "tools/cli/json_write.h"
#include "engine/base/quote.h"
#include "tools/cluster/write/prebind_int.h"

#define CLAIMS	  "/apis/resource.k8s.io/v1"
#define RETRIES	  5		   /* after conflicts */
#define READY_NS  (5 * BT_WRITE_S) /* between two checks of devices' conditions */
#define RETRY_NS  (BT_WRITE_S / 100)
#define DEVICES	  "DynamicResources"
#define MERGE	  "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"
#define CHANGES	  "application/json-patch+json"

static struct bt_prebind_claim *claim_of(const struct bt_write_op *op)
{
	return &op->prebind->claims[op->prebind->at];
}

static void BT_PRINTF(3, 4) fail(struct bt_writer *writer, struct bt_write_op *op, const char *format, ...)
{
	struct bt_buf why = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&why, format, args);
	va_end(args);
	bt_prebind_fail(writer, op, DEVICES, bt_buf_view(&why));
	bt_buf_fini(&why);
}

void bt_claim_begin(struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);

	op->confirmed = 0; /* conflicts of this claim */
	bt_prebind_go(op, claim->special && !claim->created ? BT_PREBIND_CREATE : BT_PREBIND_CLAIM_GET);
}

/* ---- requests ---- */

static void write_mappings(struct bt_writer *writer, const struct bt_write_op *op, struct bt_buf *out)
{
	const struct bt_prebind_claim *claim = claim_of(op);
	struct bt_json_writer json = {.out = out};
	struct bt_str name;

	bt_buf_text(out, "{\"status\":{\"extendedResourceClaimStatus\":{\"requestMappings\":");
	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < claim->mapping_n; i++) {
		size_t at = claim->mappings[i].container;

		name.len = 0;
		bt_json_element(writer, op->containers, &at, &name);
		bt_json_write_begin_object(&json);
		bt_json_write_key(&json, "containerName");
		bt_json_write_str(&json, bt_json_name(name));
		bt_json_write_key(&json, "resourceName");
		bt_json_write_str(&json, claim->mappings[i].resource);
		bt_json_write_key(&json, "requestName");
		bt_json_write_str(&json, claim->mappings[i].request);
		bt_json_write_end(&json);
	}
	bt_json_write_end(&json);
	bt_buf_text(out, ",\"resourceClaimName\":");
	bt_quote_json(out, claim->name);
	bt_buf_text(out, "}}}");
}

/* A class whose configuration is not known yet. */
static struct bt_prebind_request *unknown_class(const struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);

	for (uint32_t i = 0; claim->allocates && i < claim->request_n; i++) {
		if (!claim->requests[i].has_config) {
			return &claim->requests[i];
		}
	}
	return NULL;
}

static void write_body(struct bt_writer *writer, const struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);
	struct bt_buf *body = &writer->body;

	switch (op->stage) {
	case BT_PREBIND_CREATE:
		bt_claim_special(op, claim, body);
		break;
	case BT_PREBIND_FINALIZER:
		bt_claim_finalize(claim, true, body);
		break;
	case BT_PREBIND_CLAIM:
		bt_claim_status(writer, op, claim, body);
		break;
	case BT_PREBIND_POD:
		write_mappings(writer, op, body);
		break;
	case BT_PREBIND_UNRESERVE:
		bt_claim_unreserve(claim, op->pod.uid, body);
		break;
	case BT_PREBIND_UNFINALIZE:
		bt_claim_finalize(claim, false, body);
		break;
	case BT_PREBIND_DELETE:
		bt_claim_delete(claim, body);
		break;
	}
}

static void choose_method(const struct bt_write_op *op, struct bt_http_call *call)
{
	bool strategic = op->stage == BT_PREBIND_POD || op->stage == BT_PREBIND_UNRESERVE;

	call->method = BT_HTTP_PATCH;
	call->content_type = bt_str(strategic ? STRATEGIC : op->stage == BT_PREBIND_CLAIM ? CHANGES : MERGE);
	if (op->reads) {
		call->method = BT_HTTP_GET;
		call->content_type.len = 0;
	} else if (op->stage == BT_PREBIND_CREATE || op->stage == BT_PREBIND_DELETE) {
		call->method = op->stage == BT_PREBIND_CREATE ? BT_HTTP_POST : BT_HTTP_DELETE;
		call->content_type = bt_str("application/json");
	}
}

static struct bt_str path_of(struct bt_writer *writer, const struct bt_write_op *op)
{
	bool of_status = op->stage == BT_PREBIND_CLAIM || op->stage == BT_PREBIND_UNRESERVE;

	if (op->stage == BT_PREBIND_POD_GET || op->stage == BT_PREBIND_POD) {
		return bt_write_pod_path(writer, &op->pod, op->stage == BT_PREBIND_POD ? "/status" : "");
	}
	if (op->stage == BT_PREBIND_CLASS_GET) {
		return bt_write_path(writer, CLAIMS, (struct bt_str){.len = 0}, "/deviceclasses/",
			unknown_class(op)->class_, "");
	}
	if (op->stage == BT_PREBIND_CREATE) {
		return bt_write_path(
			writer, CLAIMS, op->pod.namespace_, "/resourceclaims", (struct bt_str){.len = 0}, "");
	}
	return bt_write_path(writer, CLAIMS, op->pod.namespace_, "/resourceclaims/", claim_of(op)->name,
		of_status ? "/status" : "");
}

bool bt_claim_request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	write_body(writer, op);
	*out_call = (struct bt_http_call){.path = path_of(writer, op), .body = bt_buf_view(&writer->body)};
	choose_method(op, out_call);
	return true;
}

/* ---- answers ---- */

static void describe(const struct bt_write_op *op, struct bt_buf *out)
{
	bt_buf_printf(out, "%.*s/%.*s", BT_STR_ARG(op->pod.namespace_), BT_STR_ARG(claim_of(op)->name));
}

static void fail_claim(
	struct bt_writer *writer, struct bt_write_op *op, const char *before, const char *after)
{
	struct bt_buf name = {.len = 0};

	describe(op, &name);
	fail(writer, op, "%s%.*s%s", before, BT_STR_ARG(bt_buf_view(&name)), after);
	bt_buf_fini(&name);
}

static void fail_call(
	struct bt_writer *writer, struct bt_write_op *op, const char *what, const struct bt_answer *answer)
{
	struct bt_str why = bt_write_message(writer, answer);
	bool again = op->stage == BT_PREBIND_CLAIM_GET && op->confirmed;

	fail(writer, op, "%s %.*s/%.*s%s: %.*s", what, BT_STR_ARG(op->pod.namespace_),
		BT_STR_ARG(claim_of(op)->name), again ? " after conflict" : "", BT_STR_ARG(why));
}

static uint64_t number_of(struct bt_str version)
{
	uint64_t number = 0;

	for (size_t i = 0; i < version.len && version.ptr[i] >= '0' && version.ptr[i] <= '9'; i++) {
		number = number * 10 + (uint64_t)(version.ptr[i] - '0');
	}
	return number;
}

/* Moves on to the claim's next step. */
static void go_on(struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);

	if (unknown_class(op)) {
		bt_prebind_go(op, BT_PREBIND_CLASS_GET);
	} else if (claim->allocates && !claim->has_finalizer) {
		bt_prebind_go(op, BT_PREBIND_FINALIZER);
	} else {
		bt_prebind_go(op, BT_PREBIND_CLAIM);
	}
}

/* Whether an earlier reference of the pod is to the same claim. Upstream writes the claim again, from its
 * state before that, and fails. */
static bool was_named(const struct bt_write_op *op)
{
	const struct bt_prebind *prebind = op->prebind;

	for (uint32_t i = 0; i < prebind->at; i++) {
		if (bt_str_eq(prebind->claims[i].name, claim_of(op)->name)) {
			return true;
		}
	}
	return false;
}

static void take_claim(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_prebind_claim *claim = claim_of(op);

	bt_claim_read_devices(writer, op, body, claim);
	if (!bt_claim_read(writer, op, body)) {
		fail_claim(writer, op, "claim ", " is another one by now");
	} else if (claim->is_reserved && !was_named(op) && !(claim->group.len && claim->allocates)) {
		claim->written = number_of(claim->version);
		claim->reserves = true;
		bt_prebind_next(writer, op);
	} else if (claim->deleting) {
		fail_claim(writer, op, "claim ", " got deleted in the meantime");
	} else if (claim->allocates && claim->allocated) {
		fail_claim(writer, op, "claim ", " got allocated elsewhere in the meantime");
	} else if (!claim->allocates && !claim->allocated) {
		fail_claim(writer, op, "claim ", " got deallocated elsewhere in the meantime");
	} else {
		go_on(op);
	}
}

static void take_class(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_prebind_claim *claim = claim_of(op);
	struct bt_str class_ = unknown_class(op)->class_;
	struct bt_str config =
		bt_write_op_copy(op, bt_json_member(writer, bt_json_member(writer, body, "spec"), "config"));

	for (uint32_t i = 0; i < claim->request_n; i++) {
		if (bt_str_eq(claim->requests[i].class_, class_)) {
			claim->requests[i].config = config;
			claim->requests[i].has_config = true;
		}
	}
	go_on(op);
}

static void note_version(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_str meta = bt_json_member(writer, body, "metadata");

	claim_of(op)->version =
		bt_write_op_copy(op, bt_json_name(bt_json_member(writer, meta, "resourceVersion")));
}

static void take_written(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_prebind_claim *claim = claim_of(op);

	note_version(writer, op, body);
	bt_claim_read_devices(writer, op, body, claim);
	claim->written = number_of(claim->version);
	claim->reserves = true;
	if (claim->special && claim->mapping_n == 0) {
		fail(writer, op,
			"nil or empty request mappings, no update of pod %.*s/%.*s "
			"ExtendedResourceClaimStatus",
			BT_STR_ARG(op->pod.namespace_), BT_STR_ARG(op->pod.name));
	} else if (claim->special) {
		bt_prebind_go(op, BT_PREBIND_POD_GET);
	} else {
		bt_prebind_next(writer, op);
	}
}

/* The names of all containers, init containers first, as a JSON array. */
static void take_pod(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct bt_str spec = bt_json_member(writer, body, "spec"), element;
	struct bt_buf names = {.len = 0};

	bt_buf_char(&names, '[');
	for (int i = 0; i < 2; i++) {
		struct bt_str list = bt_json_member(writer, spec, lists[i]);

		for (size_t at = 0; bt_json_element(writer, list, &at, &element);) {
			bt_buf_printf(&names, "%s%.*s", names.len > 1 ? "," : "",
				BT_STR_ARG(bt_json_member(writer, element, "name")));
		}
	}
	bt_buf_char(&names, ']');
	op->containers = bt_write_op_copy(op, bt_buf_view(&names));
	bt_buf_fini(&names);
	bt_prebind_go(op, BT_PREBIND_POD);
}

static void take_created(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	claim_of(op)->created = true;
	take_claim(writer, op, body);
}

/* ---- devices with binding conditions ---- */

static void report_pending(struct bt_writer *writer, struct bt_write_op *op)
{
	const struct bt_str controller = op->known.pod.scheduler_name;
	struct bt_buf note = {.len = 0}, instance = {.len = 0};
	struct bt_api_call call = {.verb = BT_API_EVENT, .pod = &op->known.pod};

	bt_buf_printf(&note, "waiting for binding conditions for device on node %.*s", BT_STR_ARG(op->node));
	bt_buf_printf(&instance, "%.*s-%s", BT_STR_ARG(controller), writer->host);
	call.event = (struct bt_api_event){.reason = "BindingConditionsPending",
		.action = "Scheduling",
		.note = bt_buf_view(&note),
		.reporting_controller = controller,
		.reporting_instance = bt_buf_view(&instance)};
	bt_event_recorder_add(writer->events, &call);
	bt_buf_fini(&note);
	bt_buf_fini(&instance);
}

void bt_claim_wait(struct bt_writer *writer, struct bt_write_op *op)
{
	if (!op->waits_for_devices) {
		op->waits_for_devices = true;
		op->until_ns = bt_write_now(writer) + writer->options.device_timeout_ns;
		report_pending(writer, op);
	}
	bt_prebind_go(op, BT_PREBIND_READY);
}

/* The wait started when its timeout was set. As upstream, all devices of all claims count. */
void bt_claim_waited(struct bt_writer *writer, const struct bt_write_op *op, enum bt_devices_end end)
{
	const struct bt_prebind *prebind = op->prebind;
	int64_t begin_ns = op->until_ns - writer->options.device_timeout_ns;

	for (uint32_t i = 0; op->waits_for_devices && i < prebind->claim_n; i++) {
		for (uint32_t k = 0; k < prebind->claims[i].device_n; k++) {
			const struct bt_prebind_device *device = &prebind->claims[i].devices[k];

			bt_device_waits_note(writer->device_waits, op->known.pod.scheduler_name,
				device->driver, end, device->conditional, bt_write_now(writer) - begin_ns);
		}
	}
}

static void take_readiness(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_prebind_claim *claim = claim_of(op);
	struct bt_buf why = {.len = 0};
	enum bt_claim_state state = bt_claim_state(writer, body, claim->name, &why);

	if (claim->held) {
		bt_claim_read_devices(writer, op, body, claim);
	}

	note_version(writer, op, body);
	claim->written = number_of(claim->version);
	if (state == BT_CLAIM_FAILED) {
		bt_claim_waited(writer, op, BT_DEVICES_FAILED);
		fail(writer, op, "%.*s", BT_STR_ARG(bt_buf_view(&why)));
	} else if (state == BT_CLAIM_READY) {
		bt_prebind_next(writer, op);
	} else if (bt_write_now(writer) >= op->until_ns) {
		bt_claim_waited(writer, op, BT_DEVICES_TIMEOUT);
		fail(writer, op, "device binding timeout: claim=%.*s", BT_STR_ARG(claim->name));
	} else {
		bt_write_op_later(op, READY_NS);
	}
	bt_buf_fini(&why);
}

/* ---- answers, by step ---- */

static void take_done(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	switch (op->stage) {
	case BT_PREBIND_CREATE:
		BT_WRITE_COUNT(writer, claim_n);
		BT_WRITE_COUNT(writer, claim_created_n);
		take_created(writer, op, body);
		break;
	case BT_PREBIND_CLAIM_GET:
		take_claim(writer, op, body);
		break;
	case BT_PREBIND_CLASS_GET:
		take_class(writer, op, body);
		break;
	case BT_PREBIND_FINALIZER:
		note_version(writer, op, body);
		claim_of(op)->has_finalizer = true;
		go_on(op);
		break;
	case BT_PREBIND_CLAIM:
		BT_WRITE_COUNT(writer, claim_n);
		take_written(writer, op, body);
		break;
	case BT_PREBIND_POD_GET:
		take_pod(writer, op, body);
		break;
	case BT_PREBIND_POD:
		bt_prebind_next(writer, op);
		break;
	case BT_PREBIND_READY:
		take_readiness(writer, op, body);
		break;
	}
}

static void read_claim_again(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (++op->confirmed > RETRIES) {
		fail_call(writer, op, "add reservation to claim", answer);
		return;
	}
	op->stage = BT_PREBIND_CLAIM_GET;
	op->reads = true;
	bt_write_op_later(op, RETRY_NS);
}

/* Upstream reads a claim only after a conflict, and first writes it as cached; by then it may be deleted. */
static const char *what_failed(const struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);

	switch (op->stage) {
	case BT_PREBIND_CREATE:
		return "create claim for extended resources";
	case BT_PREBIND_CLAIM_GET:
		return op->confirmed	  ? "get updated claim"
		       : claim->allocates ? "add finalizer to claim"
					  : "add reservation to claim";
	case BT_PREBIND_READY:
		return "get claim";
	case BT_PREBIND_CLASS_GET:
		return "get the device classes of claim";
	case BT_PREBIND_FINALIZER:
		return "add finalizer to claim";
	case BT_PREBIND_CLAIM:
		return claim->allocates ? "add allocation and reservation to claim"
					: "add reservation to claim";
	}
	return "update the pod's extendedResourceClaimStatus for claim";
}

static void forward_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	bool changes = op->stage == BT_PREBIND_FINALIZER || op->stage == BT_PREBIND_CLAIM;

	if (answer->fate == BT_FATE_DONE) {
		take_done(writer, op, answer->body);
	} else if (changes && (answer->status == 409 || answer->fate == BT_FATE_LOST)) {
		read_claim_again(writer, op, answer);
	} else if ((op->stage == BT_PREBIND_CREATE && answer->fate == BT_FATE_LOST) ||
		   !bt_write_op_again(op, answer)) {
		/* A claim is not created twice: it would have another name. The first is garbage collected
		 * with the pod, its owner. */
		bt_add_owned(&writer->counts.claim_uncreated_n, op->stage == BT_PREBIND_CREATE);
		if (op->stage == BT_PREBIND_READY) {
			bt_claim_waited(writer, op, BT_DEVICES_ERROR);
		}
		fail_call(writer, op, what_failed(op), answer);
	}
}

/* ---- rollback ---- */

bool bt_claim_undo(struct bt_write_op *op)
{
	const struct bt_prebind_claim *claim = claim_of(op);

	if (claim->created) {
		bt_prebind_go(op, BT_PREBIND_UNFINALIZE);
	} else if (claim->reserves && !claim->group.len) {
		bt_prebind_go(op, BT_PREBIND_UNRESERVE);
	} else {
		return false;
	}
	return true;
}

/* A claim that cannot be rolled back stays as written; the pod's next cycle sees that. */
static void undo_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_prebind_claim *claim = claim_of(op);
	bool done = answer->fate == BT_FATE_DONE;

	if (!done && bt_write_op_again(op, answer)) {
		return;
	}
	if (done && op->stage == BT_PREBIND_UNRESERVE) {
		note_version(writer, op, answer->body);
		claim->written = number_of(claim->version);
		claim->reserves = false;
	} else if (op->stage == BT_PREBIND_UNFINALIZE) {
		bt_prebind_go(op, BT_PREBIND_DELETE);
		return;
	} else if (op->stage == BT_PREBIND_DELETE) {
		claim->deleted = done || answer->status == 404;
	}
	bt_prebind_next(writer, op);
}

void bt_claim_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (op->prebind->undoes) {
		undo_answered(writer, op, answer);
	} else {
		forward_answered(writer, op, answer);
	}
}
