/* SPDX-License-Identifier: Apache-2.0
 * Claims, extended resources and required node features of a pod's spec.
 */
#include "engine/model/signature_int.h"

/* ---- claims ---- */

enum bt_pod_claim_kind bt_pod_claim_kind_of(const struct bt_pod_claim_object *claim,
	const struct bt_pod_claim_object *statuses, uint32_t status_n, struct bt_str *out_name)
{
	*out_name = claim->claim_name;
	if (claim->claim_name.len) {
		return BT_POD_CLAIM_NAMED;
	}
	for (uint32_t i = 0; claim->template_name.len && i < status_n; i++) {
		const struct bt_pod_claim_object *status = &statuses[i];

		if (bt_str_eq(status->name, claim->name)) {
			*out_name = status->claim_name;
			return status->claim_name.len ? BT_POD_CLAIM_GENERATED : BT_POD_CLAIM_NONE;
		}
	}
	return claim->template_name.len ? BT_POD_CLAIM_NOT_CREATED : BT_POD_CLAIM_UNSUPPORTED;
}

enum bt_pod_claim_kind bt_signature_claim_kind(
	const struct bt_pod_object *pod, const struct bt_pod_claim_object *claim, struct bt_str *out_name)
{
	return bt_pod_claim_kind_of(claim, pod->claim_statuses, pod->claim_status_n, out_name);
}

/* ---- extended resources ---- */

/* A quantity that upstream represents as an integer. Source: Quantity.AsInt64, v1.36.3. */
static bool whole(struct bt_quantity quantity, int64_t *out)
{
	__extension__ __int128 value = quantity.nano / 1000000000;

	*out = (int64_t)value;
	return quantity.mantissa && quantity.nano_exp >= 9 && value <= INT64_MAX && value >= INT64_MIN;
}

static uint32_t signature_facts_key_of(const struct bt_resource_list *requests, struct bt_str name)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < requests->n; i++) {
		before += bt_str_cmp(requests->items[i].name, name) < 0;
	}
	return before;
}

/* Appends one container's requests for extended resources; items may be NULL, for counting. */
static void list_extended(const struct bt_dictionary *dictionary, const struct bt_container_object *container,
	uint32_t container_ix, bool short_lived, struct bt_extended_request *items, uint32_t *n)
{
	const struct bt_resource_list *requests = &container->resources.requests;

	for (uint32_t i = 0; i < requests->n; i++) {
		struct bt_str name = requests->items[i].name;
		/* Resources that fit have slots. */
		int slot = bt_resource_look_up(dictionary, name);
		int64_t count;

		if (slot < BT_FIRST_SCALAR ||
			(!dictionary->resources.extended[slot] &&
				!bt_str_starts(name, "deviceclass.resource.kubernetes.io/")) ||
			!whole(requests->items[i].quantity, &count)) {
			continue;
		}
		if (items) {
			items[*n] = (struct bt_extended_request){container_ix,
				signature_facts_key_of(requests, name), (uint32_t)slot, short_lived, count};
		}
		++*n;
	}
}

uint32_t bt_signature_list_extended(const struct bt_dictionary *dictionary,
	const struct bt_pod_spec_object *spec, const struct bt_requests *requests,
	struct bt_extended_request *items)
{
	uint32_t n = 0;

	if (bt_requests_incomplete(requests)) {
		return 0;
	}
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		list_extended(dictionary, &spec->init_containers[i], i,
			!bt_signature_is_sidecar(&spec->init_containers[i]), items, &n);
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		list_extended(dictionary, &spec->containers[i], spec->init_container_n + i, false, items, &n);
	}
	return n;
}

/* ---- features ---- */

/* The features that upstream knows, by name. Those without a bit affect pod updates, not scheduling. */
static const struct {
	struct bt_str name;
	uint32_t bit;
} known_features[] = {
	{BT_STR("ExtendWebSocketsToKubelet"), 0},
	{BT_STR("InPlacePodLevelResourcesVerticalScaling"), 0},
	{BT_STR("InPlacePodVerticalScalingInitContainers"), 0},
	{BT_STR("RestartAllContainersOnContainerExits"), BT_FEATURE_RESTART_ALL_CONTAINERS},
	{BT_STR("UserNamespacesHostNetworkSupport"), BT_FEATURE_USER_NAMESPACES_HOST_NETWORK},
	{BT_STR("VolumeBindMountOptions"), BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS},
};

/* Upstream merges two sorted lists; the API keeps a node's list sorted; in an unsorted one the merge misses
 * earlier entries. */
uint32_t bt_features_declared(const struct bt_str_list *names)
{
	size_t known = 0, known_n = sizeof(known_features) / sizeof(known_features[0]);
	uint32_t bits = 0, i = 0;

	while (i < names->n && known < known_n) {
		int order = bt_str_cmp(names->items[i], known_features[known].name);

		bits |= order == 0 ? known_features[known].bit : 0;
		i += order <= 0;
		known += order >= 0;
	}
	for (i = 0; i < names->n; i++) {
		bits |= bt_str_is(names->items[i], "DRAOptionalNodeOperations")
				? BT_FEATURE_DRA_OPTIONAL_NODE_OPERATIONS
				: 0;
	}
	return bits;
}

static uint32_t features_of(const struct bt_container_object *containers, uint32_t n)
{
	uint32_t features = 0;

	for (uint32_t i = 0; i < n; i++) {
		features |= containers[i].restarts_all ? BT_FEATURE_RESTART_ALL_CONTAINERS : 0;
		features |= containers[i].binds_options ? BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS : 0;
	}
	return features;
}

struct bt_str bt_signature_group(struct bt_signature_maker *maker, const struct bt_pod_spec_object *spec)
{
	const struct bt_workload_reference *workload = &spec->workload_ref;

	if (!maker->name_workloads) {
		return spec->pod_group;
	}
	bt_buf_clear(&maker->group);
	if (workload->name.len) {
		bt_buf_printf(&maker->group, "%.*s/%.*s/%.*s", BT_STR_ARG(workload->name),
			BT_STR_ARG(workload->pod_group), BT_STR_ARG(workload->replica_key));
	}
	return bt_buf_view(&maker->group);
}

uint32_t bt_signature_features(const struct bt_pod_spec_object *spec)
{
	bool user_namespaces = spec->host_network && spec->has_host_users && !spec->host_users;

	return features_of(spec->containers, spec->container_n) |
	       features_of(spec->init_containers, spec->init_container_n) |
	       (spec->ephemeral_binds_options ? BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS : 0) |
	       (user_namespaces ? BT_FEATURE_USER_NAMESPACES_HOST_NETWORK : 0);
}
