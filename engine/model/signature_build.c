/* SPDX-License-Identifier: Apache-2.0
 * Builds a new signature from a pod: names instead of texts, and compiled terms.
 */
#include "engine/model/signature_int.h"
#include "engine/base/buf.h"
#include "engine/base/check.h"

#include <stdlib.h>

static struct bt_amounts keep_amounts(struct bt_signature_maker *s, struct bt_amounts amounts)
{
	struct bt_amount *items = bt_arena_alloc(&s->arena, amounts.n * sizeof(*items), 8);

	if (amounts.n) {
		memcpy(items, amounts.items, amounts.n * sizeof(*items));
	}
	return (struct bt_amounts){items, amounts.n};
}

static int by_name(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool listed(const struct bt_str_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_eq(list->items[i], name)) {
			return true;
		}
	}
	return false;
}

static bool demands_names(const struct bt_requirement_object *field)
{
	return bt_str_is(field->key, "metadata.name") && bt_str_is(field->operator_, "In");
}

/*
 * The names that one term demands: those of its first In on metadata.name that are also in all its other
 * ones. They apply even when the rest of the term is invalid, as in upstream's PreFilter. Returns false when
 * the term demands none.
 */
static bool term_names(
	struct bt_signature_maker *s, const struct bt_node_term_object *term, uint32_t *names, uint32_t *n)
{
	const struct bt_requirement_object *first = NULL;

	for (uint32_t i = 0; i < term->match_fields.n && !first; i++) {
		first = demands_names(&term->match_fields.items[i]) ? &term->match_fields.items[i] : NULL;
	}
	for (uint32_t v = 0; first && v < first->values.n; v++) {
		bool in_all = true;

		for (uint32_t i = 0; i < term->match_fields.n; i++) {
			const struct bt_requirement_object *field = &term->match_fields.items[i];

			in_all &= !demands_names(field) || listed(&field->values, first->values.items[v]);
		}
		if (in_all) {
			names[(*n)++] = bt_name_refs_add(&s->held, first->values.items[v]);
		}
	}
	return first != NULL;
}

static void find_names(struct bt_signature_maker *s, const struct bt_node_selector_object *required,
	struct bt_signature *signature)
{
	size_t limit = 0;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < required->term_n; i++) {
		for (uint32_t j = 0; j < required->terms[i].match_fields.n; j++) {
			limit += required->terms[i].match_fields.items[j].values.n;
		}
	}
	uint32_t *names = bt_arena_alloc(&s->arena, limit * sizeof(*names), 8);
	for (uint32_t i = 0; i < required->term_n; i++) {
		if (!term_names(s, &required->terms[i], names, &n)) {
			return;
		}
	}
	if (n) {
		qsort(names, n, sizeof(*names), by_name);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || names[kept - 1] != names[i]) {
			names[kept++] = names[i];
		}
	}
	signature->names_only = required->term_n > 0;
	signature->node_names = names;
	signature->node_name_n = kept;
	BT_INVARIANT(kept <= n && n <= limit);
}

static void keep_preferred(struct bt_signature_maker *s, const struct bt_node_affinity_object *affinity,
	struct bt_signature *signature)
{
	struct bt_preferred_term *items = bt_arena_zalloc(&s->arena, affinity->preferred_n * sizeof(*items));
	uint32_t n = 0;

	bt_buf_clear(&s->text);
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		items[n].weight = affinity->preferred[i].weight;
		n += items[n].weight != 0 &&
		     bt_node_term_compile(&s->held, &s->arena, &affinity->preferred[i].preference,
			     &items[n].term, &s->text);
	}
	signature->has_preferred = affinity->preferred_set;
	signature->preferred = items;
	signature->preferred_n = n;
	signature->preferred_error = s->text.len ? bt_arena_copy(&s->arena, s->text.ptr, s->text.len) : NULL;
	BT_INVARIANT(n <= affinity->preferred_n);
}

static void keep_ports(struct bt_signature_maker *s, const struct bt_container_object *container,
	struct bt_host_port *ports, uint32_t *n)
{
	struct bt_name_refs *held = &s->held;

	for (uint32_t i = 0; i < container->port_n; i++) {
		const struct bt_port_object *port = &container->ports[i];

		if (port->host_port > 0) {
			ports[(*n)++] = (struct bt_host_port){
				.ip = port->host_ip.len ? bt_name_refs_add(held, port->host_ip)
							: BT_NAME_ANY_IP,
				.protocol = port->protocol.len ? bt_name_refs_add(held, port->protocol)
							       : BT_NAME_TCP,
				.port = port->host_port,
			};
		}
	}
}

static void keep_all_ports(
	struct bt_signature_maker *s, const struct bt_pod_spec_object *spec, struct bt_signature *signature)
{
	size_t limit = 0;

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		limit += spec->init_containers[i].port_n;
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		limit += spec->containers[i].port_n;
	}
	struct bt_host_port *ports = bt_arena_zalloc(&s->arena, limit * sizeof(*ports));
	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		if (bt_signature_is_sidecar(&spec->init_containers[i])) {
			keep_ports(s, &spec->init_containers[i], ports, &signature->port_n);
		}
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		keep_ports(s, &spec->containers[i], ports, &signature->port_n);
	}
	signature->ports = ports;
	BT_INVARIANT(signature->port_n <= limit);
}

/* An image name with a tag: ":latest" is added unless the last colon comes after the last slash. */
static uint32_t image_name(struct bt_signature_maker *s, struct bt_str image)
{
	size_t colon = image.len, slash = image.len;

	for (size_t i = 0; i < image.len; i++) {
		colon = image.ptr[i] == ':' ? i : colon;
		slash = image.ptr[i] == '/' ? i : slash;
	}
	if (colon != image.len && (slash == image.len || colon > slash)) {
		return bt_name_refs_add(&s->held, image);
	}
	bt_buf_clear(&s->text);
	bt_buf_str(&s->text, image);
	bt_buf_text(&s->text, ":latest");
	return bt_name_refs_add(&s->held, bt_buf_view(&s->text));
}

static void keep_images(
	struct bt_signature_maker *s, const struct bt_pod_spec_object *spec, struct bt_signature *signature)
{
	uint32_t *images = bt_arena_alloc(&s->arena,
		(spec->init_container_n + spec->container_n + spec->volume_n) * sizeof(*images), 8);
	uint32_t n = 0;

	for (uint32_t i = 0; i < spec->init_container_n; i++) {
		images[n++] = image_name(s, spec->init_containers[i].image);
	}
	for (uint32_t i = 0; i < spec->container_n; i++) {
		images[n++] = image_name(s, spec->containers[i].image);
	}
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (spec->volumes[i].type == BT_VOLUME_IMAGE) {
			images[n++] = image_name(s, spec->volumes[i].source);
		}
	}
	signature->images = images;
	signature->image_n = n;
	signature->container_n = spec->init_container_n + spec->container_n;
	BT_INVARIANT(signature->container_n <= n);
}

static void keep_spread(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_spread_constraint *items = bt_arena_zalloc(&s->arena, spec->spread_n * sizeof(*items));

	for (uint32_t i = 0; i < spec->spread_n; i++) {
		bt_spread_constraint_compile(
			&s->held, &s->arena, &spec->spread[i], signature->labels, &items[i], &s->text);
	}
	signature->spread = items;
	signature->spread_n = spec->spread_n;
	if (spec->spread_n == 0) {
		struct bt_str name;

		signature->owner_kind = bt_pod_owner(&pod->meta, &name);
		signature->owner_name = signature->owner_kind == BT_OWNER_NONE
						? BT_NAME_NONE
						: bt_name_refs_add(&s->held, name);
	}
	BT_INVARIANT(signature->spread_n == 0 || signature->owner_kind == BT_OWNER_NONE);
}

/* Makes the signature specific to the pod. */
static void keep_pod(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	struct bt_name_refs *held = &s->held;

	signature->pod_name = bt_name_refs_add(held, pod->meta.name);
	signature->pod_uid = pod->meta.uid.len ? bt_name_refs_add(held, pod->meta.uid) : BT_NAME_NONE;
}

static void keep_volumes(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, struct bt_signature *signature)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	struct bt_name_refs *held = &s->held;
	struct bt_pod_volume *volumes = bt_arena_zalloc(&s->arena, spec->volume_n * sizeof(*volumes));

	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (!bt_volume_matters(spec->volumes[i].type)) {
			continue;
		}
		bt_pod_volume_compile(
			held, &s->arena, &spec->volumes[i], pod->meta.name, &volumes[signature->volume_n++]);
		if (spec->volumes[i].type == BT_VOLUME_EPHEMERAL) {
			keep_pod(s, pod, signature);
		}
	}
	signature->noted_n = signature->volume_n;
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		if (bt_volume_noted(spec->volumes[i].type)) {
			bt_pod_volume_compile(held, &s->arena, &spec->volumes[i], pod->meta.name,
				&volumes[signature->noted_n++]);
		}
	}
	signature->volumes = volumes;
	BT_INVARIANT(signature->volume_n <= signature->noted_n && signature->noted_n <= spec->volume_n);
}

/* The claim's name, and a line per mapping: names contain no space or newline. */
static uint32_t extended_status(struct bt_signature_maker *s, const struct bt_pod_object *pod)
{
	struct bt_buf text = {0};

	if (pod->extended_claim.len == 0) {
		return BT_NAME_NONE;
	}
	bt_buf_str(&text, pod->extended_claim);
	for (uint32_t i = 0; i < pod->extended_mapping_n; i++) {
		const struct bt_extended_mapping_object *mapping = &pod->extended_mappings[i];

		bt_buf_printf(&text, "\n%.*s %.*s %.*s", BT_STR_ARG(mapping->container),
			BT_STR_ARG(mapping->resource), BT_STR_ARG(mapping->request));
	}
	uint32_t name = bt_name_refs_add(&s->held, bt_buf_view(&text));

	bt_buf_fini(&text);
	return name;
}

static void keep_claims(struct bt_signature_maker *s, const struct bt_pod_object *pod,
	const struct bt_requests *requests, struct bt_signature *signature)
{
	struct bt_pod_claim *claims = bt_arena_zalloc(&s->arena, pod->spec.claim_n * sizeof(*claims));
	uint32_t n = bt_signature_list_extended(s->dictionary, &pod->spec, requests, NULL);
	struct bt_extended_request *extended = bt_arena_zalloc(&s->arena, n * sizeof(*extended));

	for (uint32_t i = 0; i < pod->spec.claim_n; i++) {
		struct bt_str name;

		claims[i].kind = bt_signature_claim_kind(pod, &pod->spec.claims[i], &name);
		claims[i].name = bt_name_refs_add(&s->held, pod->spec.claims[i].name);
		claims[i].claim = name.len ? bt_name_refs_add(&s->held, name) : BT_NAME_NONE;
		claims[i].template_ = pod->spec.claims[i].template_name.len
					      ? bt_name_refs_add(&s->held, pod->spec.claims[i].template_name)
					      : BT_NAME_NONE;
		if (claims[i].kind == BT_POD_CLAIM_GENERATED) {
			keep_pod(s, pod, signature);
		}
	}
	signature->claims = claims;
	signature->claim_n = pod->spec.claim_n;
	signature->extended_status = extended_status(s, pod);
	signature->extended = extended;
	signature->extended_n = bt_signature_list_extended(s->dictionary, &pod->spec, requests, extended);
	BT_INVARIANT(signature->extended_n == n);
}

/* Why a pod is known only in part, with a remedy; NULL: it is complete. */
static const char *incomplete_text(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
	bt_buf_clear(&s->text);
	if (pod->spec.incomplete.len) {
		bt_buf_printf(&s->text,
			"the pod could not be read whole (%.*s), and is not scheduled: "
			"correct that field, or create the pod again without it",
			BT_STR_ARG(pod->spec.incomplete));
	} else if (requests->too_many_names) {
		bt_buf_printf(&s->text,
			"spec.containers: the pod requests more than %d resources, and is not scheduled: "
			"request "
			"fewer",
			BT_REQUEST_MAX);
	} else if (requests->names_missing) {
		bt_buf_printf(&s->text,
			"spec.containers: the pod requests a resource that no node offers, and pods have "
			"named %d already, which is the limit: correct the name, or delete the pods that "
			"name "
			"resources of no node and restart berth",
			BT_RESOURCE_POD_MAX);
	}
	return s->text.len ? bt_arena_copy(&s->arena, s->text.ptr, s->text.len) : NULL;
}

struct bt_signature *bt_signature_build(
	struct bt_signature_maker *s, const struct bt_pod_object *pod, const struct bt_requests *requests)
{
	const struct bt_pod_spec_object *spec = &pod->spec;
	const struct bt_node_affinity_object *affinity = &spec->affinity.node_affinity;
	struct bt_name_refs *held = &s->held;
	struct bt_signature *signature = bt_arena_zalloc(&s->arena, sizeof(*signature));
	struct bt_toleration *tolerations =
		bt_arena_zalloc(&s->arena, spec->toleration_n * sizeof(*tolerations));

	const struct bt_str group = bt_signature_group(s, spec);

	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		tolerations[i] = bt_toleration_intern(held, &spec->tolerations[i]);
	}
	*signature = (struct bt_signature){
		.table = s->signatures,
		.namespace_ = bt_name_refs_add(held, pod->meta.namespace_),
		.scheduler_name = bt_name_refs_add(held, spec->scheduler_name),
		.labels = bt_labels_intern(&s->held, &s->arena, &pod->meta.labels),
		.requests = *requests,
		.has_node_selector = spec->node_selector.set,
		.node_selector = bt_selector_from_map(held, &s->arena, &spec->node_selector),
		.has_required = affinity->required.set,
		.required = bt_node_selector_compile(held, &s->arena, &affinity->required),
		.tolerations = tolerations,
		.toleration_n = spec->toleration_n,
		.features = bt_signature_features(spec),
		.incomplete = incomplete_text(s, pod, requests),
		.pod_group = group.len ? bt_name_refs_add(held, group) : BT_NAME_NONE,
		.resize_node =
			requests->resize_waits ? bt_name_refs_add(held, spec->node_name) : BT_NAME_NONE,
	};
	signature->requests.fit = keep_amounts(s, requests->fit);
	signature->requests.used = keep_amounts(s, requests->used);
	signature->requests.used_milli = keep_amounts(s, requests->used_milli);
	signature->requests.own = requests->own.items == requests->used.items
					  ? signature->requests.used
					  : keep_amounts(s, requests->own);
	signature->requests.own_milli = requests->own_milli.items == requests->used_milli.items
						? signature->requests.used_milli
						: keep_amounts(s, requests->own_milli);
	signature->requests.score = keep_amounts(s, requests->score);
	find_names(s, &affinity->required, signature);
	keep_preferred(s, affinity, signature);
	keep_all_ports(s, spec, signature);
	keep_images(s, spec, signature);
	signature->pod_affinity =
		bt_pod_affinity_compile(held, &s->arena, &spec->affinity, signature->namespace_, &s->text);
	keep_spread(s, pod, signature);
	keep_volumes(s, pod, signature);
	keep_claims(s, pod, requests, signature);
	if (bt_signature_sums(s, pod, requests)) {
		signature->sums = bt_pod_sums_make(s->dictionary, held, &s->arena, pod);
		signature->node_claims = bt_node_claims_make(s->dictionary, held, &s->arena, pod);
		signature->node_claim_n = pod->node_claim_n;
	}
	BT_INVARIANT(signature->table == s->signatures && signature->namespace_ != BT_NAME_NONE);
	return signature;
}
