/* SPDX-License-Identifier: Apache-2.0
 * JSON of ResourceClaims: reads the server's, and writes patches. Parts that the scheduler does not interpret
 * (configurations, tolerations) are copied unchanged. Source: bindClaim, and the allocator of
 * k8s.io/dynamic-resource-allocation, v0.36.3.
 */
#include <time.h>

#include "engine/base/quote.h"
#include "tools/cli/json_write.h"
#include "tools/cluster/write/prebind_int.h"

/* ---- reading ---- */

struct bt_str bt_json_member(struct bt_writer *writer, struct bt_str text, const char *name)
{
	struct bt_str key, value = {.len = 0};
	struct bt_json *json = writer->json;

	if (!text.len || text.ptr[0] != '{') {
		return value;
	}
	bt_json_begin(json, text, &writer->scratch);
	for (bool in = bt_json_enter_object(json); in && bt_json_next_key(json, &key);) {
		if (!bt_str_is(key, name)) {
			bt_json_skip(json);
		} else if (bt_json_raw(json, &value)) {
			return bt_str_is(value, "null") ? (struct bt_str){.len = 0} : value;
		}
	}
	return (struct bt_str){.len = 0};
}

bool bt_json_element(struct bt_writer *writer, struct bt_str array, size_t *offset, struct bt_str *out)
{
	struct bt_json *json = writer->json;
	size_t n = 0;

	if (!array.len || array.ptr[0] != '[') {
		return false;
	}
	bt_json_begin(json, array, &writer->scratch);
	for (bool in = bt_json_enter_array(json); in && bt_json_next_element(json); n++) {
		if (n < *offset) {
			bt_json_skip(json);
		} else if (bt_json_raw(json, out)) {
			++*offset;
			return true;
		}
	}
	return false;
}

struct bt_str bt_json_name(struct bt_str raw)
{
	return raw.len >= 2 && raw.ptr[0] == '"' ? bt_str_sub(raw, 1, raw.len - 1)
						 : (struct bt_str){.len = 0};
}

static bool has_string(struct bt_writer *writer, struct bt_str array, struct bt_str string)
{
	struct bt_str element;

	for (size_t at = 0; bt_json_element(writer, array, &at, &element);) {
		if (bt_str_eq(bt_json_name(element), string)) {
			return true;
		}
	}
	return false;
}

static bool has_uid(struct bt_writer *writer, struct bt_str array, struct bt_str uid)
{
	struct bt_str element;

	for (size_t at = 0; bt_json_element(writer, array, &at, &element);) {
		if (bt_str_eq(bt_json_name(bt_json_member(writer, element, "uid")), uid)) {
			return true;
		}
	}
	return false;
}

bool bt_claim_read(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	struct bt_prebind_claim *claim = &op->prebind->claims[op->prebind->at];
	struct bt_str meta = bt_json_member(writer, body, "metadata");
	struct bt_str spec = bt_json_member(writer, body, "spec");
	struct bt_str status = bt_json_member(writer, body, "status");
	struct bt_str devices = bt_json_member(writer, spec, "devices");
	struct bt_str allocation = bt_json_member(writer, status, "allocation");

	claim->version = bt_write_op_copy(op, bt_json_name(bt_json_member(writer, meta, "resourceVersion")));
	claim->name = bt_write_op_copy(op, bt_json_name(bt_json_member(writer, meta, "name")));
	claim->deleting = bt_json_member(writer, meta, "deletionTimestamp").len != 0;
	claim->finalizers = bt_write_op_copy(op, bt_json_member(writer, meta, "finalizers"));
	claim->has_finalizer =
		has_string(writer, claim->finalizers, bt_str("resource.kubernetes.io/delete-protection"));
	claim->config = bt_write_op_copy(op, bt_json_member(writer, devices, "config"));
	claim->spec_requests = bt_write_op_copy(op, bt_json_member(writer, devices, "requests"));
	claim->allocated = allocation.len != 0;
	claim->dated = bt_json_member(writer, allocation, "allocationTimestamp").len != 0;
	claim->reserved = bt_write_op_copy(op, bt_json_member(writer, status, "reservedFor"));
	claim->is_reserved = has_uid(writer, claim->reserved, op->pod.uid) ||
			     (claim->group.len && has_uid(writer, claim->reserved, claim->group_uid));
	struct bt_str uid = bt_json_name(bt_json_member(writer, meta, "uid"));
	if (claim->special && !claim->uid.len) {
		claim->uid = bt_write_op_copy(op, uid);
	}
	return uid.len && claim->version.len && bt_str_eq(uid, claim->uid);
}

/* ---- binding conditions ---- */

static struct bt_str results_of(struct bt_writer *writer, struct bt_str claim)
{
	struct bt_str status = bt_json_member(writer, claim, "status");
	struct bt_str allocation = bt_json_member(writer, status, "allocation");

	return bt_json_member(writer, bt_json_member(writer, allocation, "devices"), "results");
}

void bt_claim_read_devices(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str body, struct bt_prebind_claim *out)
{
	struct bt_str results = results_of(writer, body), result, condition;
	uint32_t n = 0;

	for (size_t at = 0; bt_json_element(writer, results, &at, &result);) {
		n++;
	}
	out->devices = bt_arena_zalloc(&op->arena, (n + 1) * sizeof(*out->devices));
	out->device_n = n;
	out->conditional = false;
	n = 0;
	for (size_t at = 0; n < out->device_n && bt_json_element(writer, results, &at, &result); n++) {
		struct bt_str conditions = bt_json_member(writer, result, "bindingConditions");
		size_t first = 0;

		out->devices[n] = (struct bt_prebind_device){
			.driver =
				bt_write_op_copy(op, bt_json_name(bt_json_member(writer, result, "driver"))),
			.conditional = bt_json_element(writer, conditions, &first, &condition)};
		out->conditional |= out->devices[n].conditional;
	}
}

static bool same_member(struct bt_writer *writer, struct bt_str a, struct bt_str b, const char *name)
{
	return bt_str_eq(bt_json_member(writer, a, name), bt_json_member(writer, b, name));
}

/* The conditions of a result's device in the claim's status; empty: no such device. */
static struct bt_str conditions_of(
	struct bt_writer *writer, struct bt_str claim, struct bt_str result, bool *out_there)
{
	struct bt_str status = bt_json_member(writer, claim, "status"), device;
	struct bt_str devices = bt_json_member(writer, status, "devices");

	for (size_t at = 0; bt_json_element(writer, devices, &at, &device);) {
		if (same_member(writer, device, result, "device") &&
			same_member(writer, device, result, "driver") &&
			same_member(writer, device, result, "pool")) {
			*out_there = true;
			return bt_json_member(writer, device, "conditions");
		}
	}
	*out_there = false;
	return (struct bt_str){.len = 0};
}

/* The condition of that type if it is true; else empty. */
static struct bt_str true_condition(struct bt_writer *writer, struct bt_str conditions, struct bt_str type)
{
	struct bt_str condition;

	for (size_t at = 0; bt_json_element(writer, conditions, &at, &condition);) {
		if (bt_str_eq(bt_json_member(writer, condition, "type"), type)) {
			return bt_str_is(bt_json_name(bt_json_member(writer, condition, "status")), "True")
				       ? condition
				       : (struct bt_str){.len = 0};
		}
	}
	return (struct bt_str){.len = 0};
}

static enum bt_claim_state state_of_device(struct bt_writer *writer, struct bt_str claim,
	struct bt_str result, struct bt_str name, struct bt_buf *out_why)
{
	struct bt_str wanted = bt_json_member(writer, result, "bindingConditions");
	struct bt_str fatal = bt_json_member(writer, result, "bindingFailureConditions"), type;
	bool there;
	struct bt_str conditions = conditions_of(writer, claim, result, &there);

	for (size_t at = 0; there && bt_json_element(writer, fatal, &at, &type);) {
		struct bt_str failed = true_condition(writer, conditions, type);

		if (failed.len) {
			struct bt_str message = bt_json_member(writer, failed, "message");

			bt_buf_printf(out_why, "device binding failed: claim=%.*s, reason=%.*s, message=%.*s",
				BT_STR_ARG(name),
				BT_STR_ARG(bt_json_name(bt_json_member(writer, failed, "reason"))),
				BT_STR_ARG(message));
			return BT_CLAIM_FAILED;
		}
	}
	for (size_t at = 0; bt_json_element(writer, wanted, &at, &type);) {
		if (!true_condition(writer, conditions, type).len) {
			return BT_CLAIM_WAITS;
		}
	}
	return BT_CLAIM_READY;
}

enum bt_claim_state bt_claim_state(
	struct bt_writer *writer, struct bt_str claim, struct bt_str name, struct bt_buf *out_why)
{
	struct bt_str results = results_of(writer, claim), result, condition;
	enum bt_claim_state state = BT_CLAIM_READY;

	for (size_t at = 0; state == BT_CLAIM_READY && bt_json_element(writer, results, &at, &result);) {
		struct bt_str wanted = bt_json_member(writer, result, "bindingConditions");
		size_t first = 0;

		if (bt_json_element(writer, wanted, &first, &condition)) {
			state = state_of_device(writer, claim, result, name, out_why);
		}
	}
	return results.len ? state : BT_CLAIM_WAITS;
}

/* ---- the writes of a bind request ---- */

static void write_strings(struct bt_json_writer *json, const char *key, const struct bt_str_list *list)
{
	if (!list->n) {
		return;
	}
	bt_json_write_key(json, key);
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_json_write_str(json, list->items[i]);
	}
	bt_json_write_end(json);
}

static void write_member(struct bt_json_writer *json, const char *key, struct bt_str value)
{
	bt_json_write_key(json, key);
	bt_json_write_str(json, value);
}

static void write_consumed(struct bt_json_writer *json, const struct bt_resource_list *list)
{
	char text[BT_QUANTITY_TEXT_MAX];

	if (!list->n) {
		return;
	}
	bt_json_write_key(json, "consumedCapacity");
	bt_json_write_begin_object(json);
	for (uint32_t i = 0; i < list->n; i++) {
		size_t n = bt_quantity_text(list->items[i].quantity, text);

		bt_json_write_key_str(json, list->items[i].name);
		bt_json_write_str(json, (struct bt_str){text, n});
	}
	bt_json_write_end(json);
}

/* Without the closing brace. */
static void write_result(const struct bt_device_result_object *from, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};

	bt_json_write_begin_object(&json);
	write_member(&json, "request", from->request);
	write_member(&json, "driver", from->driver);
	write_member(&json, "pool", from->pool);
	write_member(&json, "device", from->device);
	if (from->admin_access) {
		bt_json_write_key(&json, "adminAccess");
		bt_json_write_bool(&json, true);
	}
	write_strings(&json, "bindingConditions", &from->binding_conditions);
	write_strings(&json, "bindingFailureConditions", &from->binding_failure_conditions);
	if (from->has_share_id) {
		write_member(&json, "shareID", from->share_id);
	}
	write_consumed(&json, &from->consumed);
	write_strings(&json, "skipNodeOperations", &from->skipped);
	bt_json_write_end(&json);
	out->len--;
}

static void write_requirements(
	struct bt_json_writer *json, const char *key, const struct bt_requirement_object_list *list)
{
	if (!list->n) {
		return;
	}
	bt_json_write_key(json, key);
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_json_write_begin_object(json);
		write_member(json, "key", list->items[i].key);
		write_member(json, "operator", list->items[i].operator_);
		write_strings(json, "values", &list->items[i].values);
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
}

static void write_selector(const struct bt_node_selector_object *selector, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};

	if (!selector->set) {
		return;
	}
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "nodeSelectorTerms");
	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < selector->term_n; i++) {
		bt_json_write_begin_object(&json);
		write_requirements(&json, "matchExpressions", &selector->terms[i].match_expressions);
		write_requirements(&json, "matchFields", &selector->terms[i].match_fields);
		bt_json_write_end(&json);
	}
	bt_json_write_end(&json);
	bt_json_write_end(&json);
}

static void copy_lists(
	struct bt_write_op *op, const struct bt_bind_request_claim *from, struct bt_prebind_claim *out)
{
	struct bt_buf text = {.len = 0};

	for (uint32_t i = 0; i < from->result_n; i++) {
		bt_buf_clear(&text);
		write_result(&from->results[i], &text);
		out->results[i] = (struct bt_prebind_result){bt_write_op_copy(op, from->results[i].request),
			bt_write_op_copy(op, bt_buf_view(&text))};
	}
	for (uint32_t i = 0; i < from->request_n; i++) {
		out->requests[i] =
			(struct bt_prebind_request){.name = bt_write_op_copy(op, from->requests[i].name),
				.class_ = bt_write_op_copy(op, from->requests[i].class_)};
	}
	for (uint32_t i = 0; i < from->mapping_n; i++) {
		const struct bt_bind_request_mapping *mapping = &from->mappings[i];

		out->mappings[i] = (struct bt_prebind_mapping){mapping->container,
			bt_write_op_copy(op, mapping->resource), bt_write_op_copy(op, mapping->request)};
	}
	bt_buf_fini(&text);
}

void bt_claim_copy(
	struct bt_write_op *op, const struct bt_bind_request_claim *from, struct bt_prebind_claim *out)
{
	struct bt_buf text = {.len = 0};

	*out = (struct bt_prebind_claim){
		.name = bt_write_op_copy(op, from->name),
		.uid = bt_write_op_copy(op, from->uid),
		.group = bt_write_op_copy(op, from->group),
		.group_uid = bt_write_op_copy(op, from->group_uid),
		.allocates = from->allocates,
		.special = from->special,
		.timed = from->timed,
		.held = from->reserved,
		.reserves = from->reserved,
		.conditional = from->conditional,
		.results = bt_arena_zalloc(&op->arena, (from->result_n + 1) * sizeof(*out->results)),
		.requests = bt_arena_zalloc(&op->arena, (from->request_n + 1) * sizeof(*out->requests)),
		.mappings = bt_arena_zalloc(&op->arena, (from->mapping_n + 1) * sizeof(*out->mappings)),
		.result_n = from->result_n,
		.request_n = from->request_n,
		.mapping_n = from->mapping_n,
	};
	write_selector(&from->node_selector, &text);
	out->selector = bt_write_op_copy(op, bt_buf_view(&text));
	bt_buf_fini(&text);
	copy_lists(op, from, out);
}

/* ---- writing ---- */

static struct bt_str base_of(struct bt_str request)
{
	return bt_str_sub(request, 0, bt_str_find(request, '/', 0));
}

/* The tolerations of a request, or of the chosen alternative, in the claim's spec. */
static struct bt_str tolerations_of(
	struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_str name)
{
	struct bt_str request, base = base_of(name), alternative;

	for (size_t at = 0; bt_json_element(writer, claim->spec_requests, &at, &request);) {
		if (!bt_str_eq(bt_json_name(bt_json_member(writer, request, "name")), base)) {
			continue;
		}
		if (base.len == name.len) {
			return bt_json_member(
				writer, bt_json_member(writer, request, "exactly"), "tolerations");
		}
		struct bt_str of = bt_str_sub(name, base.len + 1, name.len);
		struct bt_str alternatives = bt_json_member(writer, request, "firstAvailable");
		for (size_t i = 0; bt_json_element(writer, alternatives, &i, &alternative);) {
			if (bt_str_eq(bt_json_name(bt_json_member(writer, alternative, "name")), of)) {
				return bt_json_member(writer, alternative, "tolerations");
			}
		}
	}
	return (struct bt_str){.len = 0};
}

/* Whether the array names the request, or the parent of this alternative. */
static bool names_request(struct bt_writer *writer, struct bt_str requests, struct bt_str name)
{
	return has_string(writer, requests, base_of(name)) || has_string(writer, requests, name);
}

static bool names_all(struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_str requests)
{
	uint32_t i = 0;

	while (i < claim->request_n && names_request(writer, requests, claim->requests[i].name)) {
		i++;
	}
	return i == claim->request_n;
}

/* One configuration; all members except requests are copied unchanged. */
static void add_config(struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_str element,
	const char *source, struct bt_str requests, struct bt_buf *out)
{
	struct bt_str opaque = bt_json_member(writer, element, "opaque");
	bool named =
		requests.len && !(writer->options.configs_stand_once && names_all(writer, claim, requests));

	bt_buf_printf(out, "{\"source\":\"%s\"", source);
	if (named) {
		bt_buf_printf(out, ",\"requests\":%.*s", BT_STR_ARG(requests));
	}
	if (opaque.len) {
		bt_buf_printf(out, ",\"opaque\":%.*s", BT_STR_ARG(opaque));
	}
	bt_buf_text(out, "},");
}

/* The requests of a class, as a JSON array. */
static void list_requests(const struct bt_prebind_claim *claim, struct bt_str class_, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};

	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < claim->request_n; i++) {
		if (bt_str_eq(claim->requests[i].class_, class_)) {
			bt_json_write_str(&json, claim->requests[i].name);
		}
	}
	bt_json_write_end(&json);
}

static bool is_first_of_class(const struct bt_prebind_claim *claim, uint32_t ix)
{
	for (uint32_t i = 0; i < ix; i++) {
		if (bt_str_eq(claim->requests[i].class_, claim->requests[ix].class_)) {
			return false;
		}
	}
	return true;
}

static void add_class_configs(
	struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	struct bt_str element;

	for (uint32_t i = 0; i < claim->request_n; i++) {
		struct bt_buf names = {.len = 0};

		list_requests(claim, claim->requests[i].class_, &names);
		for (size_t at = 0; is_first_of_class(claim, i) &&
				    bt_json_element(writer, claim->requests[i].config, &at, &element);) {
			add_config(writer, claim, element, "FromClass", bt_buf_view(&names), out);
		}
		bt_buf_fini(&names);
	}
}

/* Once for all requests, or for each request that it names; later releases write it once in any case. */
static void add_claim_config(struct bt_writer *writer, const struct bt_prebind_claim *claim,
	struct bt_str element, struct bt_buf *out)
{
	struct bt_str requests = bt_json_member(writer, element, "requests"), first;
	size_t at = 0;

	if (!bt_json_element(writer, requests, &at, &first)) {
		add_config(writer, claim, element, "FromClaim", (struct bt_str){.len = 0}, out);
		return;
	}
	bool done = false;

	for (uint32_t i = 0; i < claim->request_n && !done; i++) {
		if (names_request(writer, requests, claim->requests[i].name)) {
			add_config(writer, claim, element, "FromClaim", requests, out);
			done = writer->options.configs_stand_once;
		}
	}
}

static void trim_comma(struct bt_buf *out)
{
	if (out->ptr[out->len - 1] == ',') {
		out->len--;
	}
}

static void add_devices(struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	struct bt_str element;

	bt_buf_text(out, "\"devices\":{\"results\":[");
	for (uint32_t i = 0; i < claim->result_n; i++) {
		struct bt_str tolerations = tolerations_of(writer, claim, claim->results[i].request);

		bt_buf_str(out, claim->results[i].text);
		if (tolerations.len) {
			bt_buf_printf(out, ",\"tolerations\":%.*s", BT_STR_ARG(tolerations));
		}
		bt_buf_text(out, "},");
	}
	trim_comma(out);
	bt_buf_text(out, "],\"config\":[");
	add_class_configs(writer, claim, out);
	for (size_t at = 0; bt_json_element(writer, claim->config, &at, &element);) {
		add_claim_config(writer, claim, element, out);
	}
	trim_comma(out);
	bt_buf_text(out, "]}");
}

/* The start of one operation of a JSON patch, up to its value. */
static void begin_change(const char *verb, const char *path, struct bt_buf *out)
{
	bt_buf_printf(out, "{\"op\":\"%s\",\"path\":\"%s\",\"value\":", verb, path);
}

static void add_timestamp(struct bt_writer *writer, struct bt_buf *out)
{
	time_t now = (time_t)(bt_write_wall(writer) / BT_WRITE_S);
	struct tm tm;
	char text[32];

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &tm);
	bt_buf_text(out, text);
}

static void add_allocation(struct bt_writer *writer, const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	bool dates = claim->timed && !(claim->allocated && claim->dated);

	if (claim->allocates) {
		begin_change("add", "/status/allocation", out);
		bt_buf_char(out, '{');
		if (dates) {
			bt_buf_text(out, "\"allocationTimestamp\":");
			add_timestamp(writer, out);
			bt_buf_char(out, ',');
		}
		add_devices(writer, claim, out);
		if (claim->selector.len) {
			bt_buf_printf(out, ",\"nodeSelector\":%.*s", BT_STR_ARG(claim->selector));
		}
		bt_buf_text(out, "}},");
	} else if (dates) {
		begin_change("add", "/status/allocation/allocationTimestamp", out);
		add_timestamp(writer, out);
		bt_buf_text(out, "},");
	}
}

static void add_meta(const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	bt_buf_text(out, "{\"metadata\":{\"uid\":");
	bt_quote_json(out, claim->uid);
	bt_buf_text(out, ",\"resourceVersion\":");
	bt_quote_json(out, claim->version);
}

/* A JSON patch: a merge patch would remove null values from opaque parameters. Another UID or version is a
 * conflict. */
void bt_claim_status(struct bt_writer *writer, const struct bt_write_op *op,
	const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	struct bt_str element;

	bt_buf_char(out, '[');
	begin_change("replace", "/metadata/uid", out);
	bt_quote_json(out, claim->uid);
	bt_buf_text(out, "},");
	begin_change("replace", "/metadata/resourceVersion", out);
	bt_quote_json(out, claim->version);
	bt_buf_text(out, "},");
	add_allocation(writer, claim, out);
	begin_change("add", "/status/reservedFor", out);
	bt_buf_char(out, '[');
	for (size_t at = 0; bt_json_element(writer, claim->reserved, &at, &element);) {
		bt_buf_str(out, element);
		bt_buf_char(out, ',');
	}
	bt_buf_text(out, claim->group.len
				 ? "{\"apiGroup\":\"scheduling.k8s.io\",\"resource\":\"podgroups\",\"name\":"
				 : "{\"resource\":\"pods\",\"name\":");
	bt_quote_json(out, claim->group.len ? claim->group : op->pod.name);
	bt_buf_text(out, ",\"uid\":");
	bt_quote_json(out, claim->group.len ? claim->group_uid : op->pod.uid);
	bt_buf_text(out, "}]}]");
}

void bt_claim_free(const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	add_meta(claim, out);
	bt_buf_text(out, "},\"status\":{\"allocation\":null,\"reservedFor\":null,\"devices\":null}}");
}

void bt_claim_unreserve(const struct bt_prebind_claim *claim, struct bt_str consumer, struct bt_buf *out)
{
	bt_buf_text(out, "{\"metadata\":{\"uid\":");
	bt_quote_json(out, claim->uid);
	bt_buf_text(out, "},\"status\":{\"reservedFor\":[{\"$patch\":\"delete\",\"uid\":");
	bt_quote_json(out, consumer);
	bt_buf_text(out, "}]}}");
}

void bt_claim_delete(const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	bt_buf_text(out, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":");
	bt_quote_json(out, claim->uid);
	bt_buf_text(out, "}}\n");
}

/* A removal is unconditional and does not test the version. */
void bt_claim_finalize(const struct bt_prebind_claim *claim, bool adds, struct bt_buf *out)
{
	if (!adds) {
		bt_buf_text(out, "{\"metadata\":{\"uid\":");
		bt_quote_json(out, claim->uid);
		bt_buf_text(out, ",\"finalizers\":null}}");
		return;
	}
	add_meta(claim, out);
	bt_buf_text(out, ",\"finalizers\":");
	if (claim->finalizers.len > 2) {
		bt_buf_str(out, bt_str_sub(claim->finalizers, 0, claim->finalizers.len - 1));
		bt_buf_text(out, ",\"resource.kubernetes.io/delete-protection\"]");
	} else {
		bt_buf_text(out, "[\"resource.kubernetes.io/delete-protection\"]");
	}
	bt_buf_text(out, "}}");
}

/* ---- claims for extended resources ---- */

static uint32_t result_n_of(const struct bt_prebind_claim *claim, struct bt_str request)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < claim->result_n; i++) {
		n += bt_str_eq(claim->results[i].request, request);
	}
	return n;
}

static void write_owner(struct bt_json_writer *json, const struct bt_write_op *op)
{
	bt_json_write_key(json, "ownerReferences");
	bt_json_write_begin_array(json);
	bt_json_write_begin_object(json);
	write_member(json, "apiVersion", bt_str("v1"));
	write_member(json, "kind", bt_str("Pod"));
	write_member(json, "name", op->pod.name);
	write_member(json, "uid", op->pod.uid);
	bt_json_write_key(json, "controller");
	bt_json_write_bool(json, true);
	bt_json_write_key(json, "blockOwnerDeletion");
	bt_json_write_bool(json, true);
	bt_json_write_end(json);
	bt_json_write_end(json);
}

static void write_special_meta(struct bt_json_writer *json, const struct bt_write_op *op)
{
	struct bt_buf stem = {.len = 0};

	bt_buf_printf(&stem, "%.*s-extended-resources-", BT_STR_ARG(op->pod.name));
	bt_json_write_key(json, "metadata");
	bt_json_write_begin_object(json);
	write_member(json, "generateName", bt_buf_view(&stem));
	write_member(json, "namespace", op->pod.namespace_);
	bt_json_write_key(json, "annotations");
	bt_json_write_begin_object(json);
	write_member(json, "resource.kubernetes.io/extended-resource-claim", bt_str("true"));
	bt_json_write_end(json);
	write_owner(json, op);
	bt_json_write_end(json);
	bt_buf_fini(&stem);
}

void bt_claim_special(const struct bt_write_op *op, const struct bt_prebind_claim *claim, struct bt_buf *out)
{
	struct bt_json_writer json = {.out = out};

	bt_json_write_begin_object(&json);
	write_member(&json, "kind", bt_str("ResourceClaim"));
	write_member(&json, "apiVersion", bt_str("resource.k8s.io/v1"));
	write_special_meta(&json, op);
	bt_json_write_key(&json, "spec");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "devices");
	bt_json_write_begin_object(&json);
	bt_json_write_key(&json, "requests");
	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < claim->request_n; i++) {
		bt_json_write_begin_object(&json);
		write_member(&json, "name", claim->requests[i].name);
		bt_json_write_key(&json, "exactly");
		bt_json_write_begin_object(&json);
		write_member(&json, "deviceClassName", claim->requests[i].class_);
		write_member(&json, "allocationMode", bt_str("ExactCount"));
		bt_json_write_key(&json, "count");
		bt_json_write_int(&json, result_n_of(claim, claim->requests[i].name));
		bt_json_write_end(&json);
		bt_json_write_end(&json);
	}
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
	bt_json_write_end(&json);
}
