/* SPDX-License-Identifier: Apache-2.0
 * Feature gates: the table, their dependencies, and reading a list of settings as upstream does.
 */
#include "engine/flow/config/gates.h"

#include "engine/base/check.h"

static const struct bt_gate_info gates_info[BT_GATE_N] = {
#define BT_GATE(id, text, stage_, on_, locked_)                                                              \
	[BT_GATE_##id] = {.name = text, .stage = BT_GATE_##stage_, .on = on_, .locked = locked_},
#include "engine/flow/config/gates.def"
#undef BT_GATE
};

/* The first cannot be on while the second is off. Grouped by the first, the second in order of names. */
static const struct dependency {
	enum bt_gate gate, needs;
} dependencies[] = {
	{BT_GATE_AUTHORIZE_NODE_WITH_SELECTORS, BT_GATE_AUTHORIZE_WITH_SELECTORS},
	{BT_GATE_CLUSTER_TRUST_BUNDLE_PROJECTION, BT_GATE_CLUSTER_TRUST_BUNDLE},
	{BT_GATE_DRA_ADMIN_ACCESS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_CONSUMABLE_CAPACITY, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_DEVICE_BINDING_CONDITIONS, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS},
	{BT_GATE_DRA_DEVICE_BINDING_CONDITIONS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_DEVICE_TAINT_RULES, BT_GATE_DRA_DEVICE_TAINTS},
	{BT_GATE_DRA_DEVICE_TAINTS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_EXTENDED_RESOURCE, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_LIST_TYPE_ATTRIBUTES, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_PARTITIONABLE_DEVICES, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_PRIORITIZED_LIST, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_RESOURCE_CLAIM_GRANULAR_STATUS_AUTHORIZATION, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS},
	{BT_GATE_DRA_RESOURCE_CLAIM_GRANULAR_STATUS_AUTHORIZATION, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_RESOURCE_POOL_STATUS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS, BT_GATE_GENERIC_WORKLOAD},
	{BT_GATE_DECLARATIVE_VALIDATION_BETA, BT_GATE_DECLARATIVE_VALIDATION},
	{BT_GATE_DECLARATIVE_VALIDATION_TAKEOVER, BT_GATE_DECLARATIVE_VALIDATION},
	{BT_GATE_DISABLE_ALLOCATOR_DUAL_WRITE, BT_GATE_MULTI_CIDR_SERVICE_ALLOCATOR},
	{BT_GATE_EXTEND_WEB_SOCKETS_TO_KUBELET, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_GATE_GANG_SCHEDULING, BT_GATE_GENERIC_WORKLOAD},
	{BT_GATE_GRACEFUL_NODE_SHUTDOWN_BASED_ON_POD_PRIORITY, BT_GATE_GRACEFUL_NODE_SHUTDOWN},
	{BT_GATE_IMAGE_VOLUME_WITH_DIGEST, BT_GATE_IMAGE_VOLUME},
	{BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING, BT_GATE_IN_PLACE_POD_VERTICAL_SCALING},
	{BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING, BT_GATE_POD_LEVEL_RESOURCES},
	{BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_EXCLUSIVE_CPUS, BT_GATE_IN_PLACE_POD_VERTICAL_SCALING},
	{BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_EXCLUSIVE_MEMORY, BT_GATE_IN_PLACE_POD_VERTICAL_SCALING},
	{BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS, BT_GATE_IN_PLACE_POD_VERTICAL_SCALING},
	{BT_GATE_IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD_SELECTOR_MERGE,
		BT_GATE_MATCH_LABEL_KEYS_IN_POD_TOPOLOGY_SPREAD},
	{BT_GATE_POD_CERTIFICATE_REQUEST, BT_GATE_AUTHORIZE_NODE_WITH_SELECTORS},
	{BT_GATE_POD_LEVEL_RESOURCE_MANAGERS, BT_GATE_POD_LEVEL_RESOURCES},
	{BT_GATE_POD_LIFECYCLE_SLEEP_ACTION_ALLOW_ZERO, BT_GATE_POD_LIFECYCLE_SLEEP_ACTION},
	{BT_GATE_PROC_MOUNT_TYPE, BT_GATE_USER_NAMESPACES_SUPPORT},
	{BT_GATE_RESOURCE_HEALTH_STATUS, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{BT_GATE_RESOURCE_HEALTH_STATUS_MESSAGE, BT_GATE_RESOURCE_HEALTH_STATUS},
	{BT_GATE_RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS, BT_GATE_CONTAINER_RESTART_RULES},
	{BT_GATE_RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_GATE_SERVICE_ACCOUNT_TOKEN_NODE_BINDING, BT_GATE_SERVICE_ACCOUNT_TOKEN_NODE_BINDING_VALIDATION},
	{BT_GATE_STALE_CONTROLLER_CONSISTENCY_DAEMON_SET, BT_GATE_ATOMIC_FIFO},
	{BT_GATE_STALE_CONTROLLER_CONSISTENCY_JOB, BT_GATE_ATOMIC_FIFO},
	{BT_GATE_STALE_CONTROLLER_CONSISTENCY_REPLICA_SET, BT_GATE_ATOMIC_FIFO},
	{BT_GATE_STALE_CONTROLLER_CONSISTENCY_STATEFUL_SET, BT_GATE_ATOMIC_FIFO},
	{BT_GATE_STORAGE_VERSION_API, BT_GATE_API_SERVER_IDENTITY},
	{BT_GATE_STRUCTURED_AUTHENTICATION_CONFIGURATION_EGRESS_SELECTOR,
		BT_GATE_STRUCTURED_AUTHENTICATION_CONFIGURATION},
	{BT_GATE_STRUCTURED_AUTHENTICATION_CONFIGURATION_JWKS_METRICS,
		BT_GATE_STRUCTURED_AUTHENTICATION_CONFIGURATION},
	{BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING, BT_GATE_GENERIC_WORKLOAD},
	{BT_GATE_UNKNOWN_VERSION_INTEROPERABILITY_PROXY, BT_GATE_API_SERVER_IDENTITY},
	{BT_GATE_USER_NAMESPACES_HOST_NETWORK_SUPPORT, BT_GATE_NODE_DECLARED_FEATURES},
	{BT_GATE_USER_NAMESPACES_HOST_NETWORK_SUPPORT, BT_GATE_USER_NAMESPACES_SUPPORT},
	{BT_GATE_WINDOWS_GRACEFUL_NODE_SHUTDOWN, BT_GATE_GRACEFUL_NODE_SHUTDOWN},
	{BT_GATE_WORKLOAD_AWARE_PREEMPTION, BT_GATE_GANG_SCHEDULING},
	{BT_GATE_WORKLOAD_WITH_JOB, BT_GATE_GENERIC_WORKLOAD},
};

const struct bt_gate_info *bt_gate_info(enum bt_gate gate)
{
	BT_REQUIRE(gate < BT_GATE_N);
	return &gates_info[gate];
}

enum bt_gate bt_gate_find(struct bt_str name)
{
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (bt_str_is(name, gates_info[gate].name)) {
			return (enum bt_gate)gate;
		}
	}
	return BT_GATE_N;
}

bool bt_gate_needs(enum bt_gate gate, enum bt_gate other)
{
	for (size_t i = 0; i < sizeof(dependencies) / sizeof(dependencies[0]); i++) {
		if (dependencies[i].gate == gate && dependencies[i].needs == other) {
			return true;
		}
	}
	return false;
}

void bt_gates_init(struct bt_gates *gates)
{
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		gates->on[gate] = gates_info[gate].on;
	}
}

static struct bt_str trim(struct bt_str s)
{
	while (s.len && (s.ptr[0] == ' ' || (s.ptr[0] >= '\t' && s.ptr[0] <= '\r'))) {
		s = bt_str_sub(s, 1, s.len);
	}
	while (s.len && (s.ptr[s.len - 1] == ' ' || (s.ptr[s.len - 1] >= '\t' && s.ptr[s.len - 1] <= '\r'))) {
		s.len--;
	}
	return s;
}

static bool read_bool(struct bt_str s, bool *out_value)
{
	static const char *const words[2][6] = {
		{"0", "f", "F", "false", "FALSE", "False"}, {"1", "t", "T", "true", "TRUE", "True"}};

	for (unsigned value = 0; value < 2; value++) {
		for (unsigned i = 0; i < 6; i++) {
			if (bt_str_is(s, words[value][i])) {
				*out_value = value;
				return true;
			}
		}
	}
	return false;
}

/* What a list says about each gate; the last word on a gate counts. */
struct settings {
	bool given[BT_GATE_N], value[BT_GATE_N];
};

static enum bt_status read_setting(struct settings *settings, struct bt_str item, struct bt_buf *out_error)
{
	size_t equals = bt_str_find(item, '=', 0);
	struct bt_str name = trim(bt_str_sub(item, 0, equals)), text;
	enum bt_gate gate;
	bool value = false;

	if (equals == item.len) {
		bt_buf_printf(out_error, "missing bool value for %.*s", BT_STR_ARG(name));
		return BT_INVALID;
	}
	text = trim(bt_str_sub(item, equals + 1, item.len));
	if (!read_bool(text, &value)) {
		bt_buf_printf(out_error,
			"invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing \"%.*s\": invalid "
			"syntax",
			BT_STR_ARG(name), BT_STR_ARG(text), BT_STR_ARG(text));
		return BT_INVALID;
	}
	gate = bt_gate_find(name);
	if (gate == BT_GATE_N) {
		bt_buf_printf(out_error, "unrecognized feature gate: %.*s", BT_STR_ARG(name));
		return BT_INVALID;
	}
	settings->given[gate] = true;
	settings->value[gate] = value;
	return BT_OK;
}

/* Starts another text in a list that will be closed with end_list. */
static void next_error(struct bt_buf *out_error, unsigned *error_n)
{
	bt_buf_text(out_error, (*error_n)++ ? ", " : "[");
}

/* A single error stands alone, without the brackets. */
static enum bt_status end_list(struct bt_buf *out_error, size_t start, unsigned error_n)
{
	if (error_n == 1) {
		memmove(out_error->ptr + start, out_error->ptr + start + 1, out_error->len - start);
		out_error->len--;
	} else if (error_n) {
		bt_buf_char(out_error, ']');
	}
	return error_n ? BT_INVALID : BT_OK;
}

/* AllAlpha and AllBeta speak for the gates of their stage that are not named themselves. */
static void set_stage(
	struct bt_gates *gates, const struct settings *settings, enum bt_gate all, enum bt_gate_stage stage)
{
	if (!settings->given[all]) {
		return;
	}
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		if (gates_info[gate].stage == stage) {
			gates->on[gate] = settings->value[all];
		}
	}
}

static enum bt_status apply(struct bt_gates *gates, const struct settings *settings, struct bt_buf *out_error)
{
	size_t start = out_error->len;
	unsigned error_n = 0;

	set_stage(gates, settings, BT_GATE_ALL_ALPHA, BT_GATE_ALPHA);
	set_stage(gates, settings, BT_GATE_ALL_BETA, BT_GATE_BETA);
	for (unsigned gate = 0; gate < BT_GATE_N; gate++) {
		const struct bt_gate_info *info = &gates_info[gate];

		if (!settings->given[gate]) {
			continue;
		}
		if (info->locked && settings->value[gate] != info->on) {
			next_error(out_error, &error_n);
			bt_buf_printf(out_error, "cannot set feature gate %s to %s, feature is locked to %s",
				info->name, settings->value[gate] ? "true" : "false",
				info->on ? "true" : "false");
		}
		gates->on[gate] = settings->value[gate];
	}
	return end_list(out_error, start, error_n);
}

static enum bt_status check_dependencies(const struct bt_gates *gates, struct bt_buf *out_error)
{
	const size_t n = sizeof dependencies / sizeof dependencies[0];
	size_t start = out_error->len, i = 0;
	unsigned error_n = 0;

	while (i < n) {
		enum bt_gate gate = dependencies[i].gate;
		unsigned off_n = 0;

		for (; i < n && dependencies[i].gate == gate; i++) {
			enum bt_gate needs = dependencies[i].needs;

			if (!gates->on[gate] || gates->on[needs]) {
				continue;
			}
			if (!off_n++) {
				next_error(out_error, &error_n);
				bt_buf_printf(out_error,
					"%s is enabled, but depends on features that are disabled: [",
					gates_info[gate].name);
			} else {
				bt_buf_char(out_error, ' ');
			}
			bt_buf_text(out_error, gates_info[needs].name);
		}
		if (off_n) {
			bt_buf_char(out_error, ']');
		}
	}
	return end_list(out_error, start, error_n);
}

/* A setting may name its component, which must be kube, for all settings or for none. */
static enum bt_status cut_component(struct bt_str *item, bool named[2], struct bt_buf *out_error)
{
	size_t colon = bt_str_find(*item, ':', 0);
	struct bt_str component = trim(bt_str_sub(*item, 0, colon < item->len ? colon : 0));

	if (colon < item->len) {
		*item = bt_str_sub(*item, colon + 1, item->len);
	}
	if (component.len && !bt_str_is(component, "kube")) {
		bt_buf_printf(out_error, "component not registered: %.*s", BT_STR_ARG(component));
		return BT_INVALID;
	}
	named[component.len != 0] = true;
	if (named[0] && named[1]) {
		bt_buf_text(out_error, "set kube feature gates with default empty prefix or kube: prefix "
				       "consistently, do not mix use");
		return BT_INVALID;
	}
	return BT_OK;
}

enum bt_status bt_gates_parse(struct bt_gates *gates, struct bt_str text, struct bt_buf *out_error)
{
	struct settings settings = {.given = {false}};
	struct bt_gates changed = *gates;
	bool named[2] = {false, false};
	enum bt_status status;

	for (size_t from = 0; from < text.len;) {
		size_t to = bt_str_find(text, ',', from);
		struct bt_str item = bt_str_sub(text, from, to);

		if (to > from) {
			status = cut_component(&item, named, out_error);
			if (status == BT_OK) {
				status = read_setting(&settings, item, out_error);
			}
			if (status != BT_OK) {
				return status;
			}
		}
		from = to + 1;
	}
	status = apply(&changed, &settings, out_error);
	if (status == BT_OK) {
		status = check_dependencies(&changed, out_error);
	}
	if (status == BT_OK) {
		*gates = changed;
	}
	return status;
}
