/* SPDX-License-Identifier: Apache-2.0
 * Deep copies: first a struct is copied, then each of its pointers is replaced by a copy of its target. A
 * field without a pointer needs no line here; a new pointer in engine/model/object.h does.
 */
#include "tools/kube/objects/copy.h"

#include <string.h>

struct copier {
	struct bt_arena *arena;
	enum bt_copy_depth depth;
};

struct bt_str bt_copy_str(struct bt_arena *arena, struct bt_str text)
{
	return text.len ? (struct bt_str){bt_arena_copy(arena, text.ptr, text.len), text.len} : text;
}

static void *copy_array(const struct copier *copier, const void *items, size_t n, size_t size)
{
	if (n == 0) {
		return NULL;
	}
	void *copy = bt_arena_alloc(copier->arena, n * size, 16);
	memcpy(copy, items, n * size);
	return copy;
}

static void text(const struct copier *copier, struct bt_str *str)
{
	if (copier->depth == BT_COPY_ALL) {
		*str = bt_copy_str(copier->arena, *str);
	}
}

static void texts(const struct copier *copier, struct bt_str_list *list)
{
	list->items = copy_array(copier, list->items, list->n, sizeof(*list->items));
	for (uint32_t i = 0; i < list->n; i++) {
		text(copier, &list->items[i]);
	}
}

static void pairs(const struct copier *copier, struct bt_str_map *map)
{
	map->items = copy_array(copier, map->items, map->n, sizeof(*map->items));
	for (uint32_t i = 0; i < map->n; i++) {
		text(copier, &map->items[i].key);
		text(copier, &map->items[i].value);
	}
}

static void quantities(const struct copier *copier, struct bt_resource_list *list)
{
	list->items = copy_array(copier, list->items, list->n, sizeof(*list->items));
	for (uint32_t i = 0; i < list->n; i++) {
		text(copier, &list->items[i].name);
	}
}

static void requirements(const struct copier *copier, struct bt_requirements_object *object)
{
	quantities(copier, &object->requests);
	quantities(copier, &object->limits);
	texts(copier, &object->claims);
}

static void meta(const struct copier *copier, struct bt_meta_object *object)
{
	text(copier, &object->name);
	text(copier, &object->namespace_);
	text(copier, &object->uid);
	text(copier, &object->generate_name);
	text(copier, &object->resource_version);
	pairs(copier, &object->labels);
	pairs(copier, &object->annotations);
	texts(copier, &object->finalizers);
	object->owners = copy_array(copier, object->owners, object->owner_n, sizeof(*object->owners));
	for (uint32_t i = 0; i < object->owner_n; i++) {
		text(copier, &object->owners[i].api_version);
		text(copier, &object->owners[i].kind);
		text(copier, &object->owners[i].name);
		text(copier, &object->owners[i].uid);
	}
}

static void expressions(const struct copier *copier, struct bt_requirement_object_list *list)
{
	list->items = copy_array(copier, list->items, list->n, sizeof(*list->items));
	for (uint32_t i = 0; i < list->n; i++) {
		text(copier, &list->items[i].key);
		text(copier, &list->items[i].operator_);
		texts(copier, &list->items[i].values);
	}
}

static void label_selector(const struct copier *copier, struct bt_label_selector_object *selector)
{
	pairs(copier, &selector->match_labels);
	expressions(copier, &selector->match_expressions);
}

static void node_term(const struct copier *copier, struct bt_node_term_object *term)
{
	expressions(copier, &term->match_expressions);
	expressions(copier, &term->match_fields);
}

static void node_affinity(const struct copier *copier, struct bt_node_affinity_object *affinity)
{
	struct bt_node_selector_object *required = &affinity->required;

	required->terms = copy_array(copier, required->terms, required->term_n, sizeof(*required->terms));
	for (uint32_t i = 0; i < required->term_n; i++) {
		node_term(copier, &required->terms[i]);
	}
	affinity->preferred =
		copy_array(copier, affinity->preferred, affinity->preferred_n, sizeof(*affinity->preferred));
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		node_term(copier, &affinity->preferred[i].preference);
	}
}

static void pod_term(const struct copier *copier, struct bt_pod_term_object *term)
{
	label_selector(copier, &term->label_selector);
	texts(copier, &term->namespaces);
	text(copier, &term->topology_key);
	label_selector(copier, &term->namespace_selector);
	texts(copier, &term->match_label_keys);
	texts(copier, &term->mismatch_label_keys);
}

static void pod_affinity(const struct copier *copier, struct bt_pod_affinity_object *affinity)
{
	affinity->required =
		copy_array(copier, affinity->required, affinity->required_n, sizeof(*affinity->required));
	for (uint32_t i = 0; i < affinity->required_n; i++) {
		pod_term(copier, &affinity->required[i]);
	}
	affinity->preferred =
		copy_array(copier, affinity->preferred, affinity->preferred_n, sizeof(*affinity->preferred));
	for (uint32_t i = 0; i < affinity->preferred_n; i++) {
		pod_term(copier, &affinity->preferred[i].term);
	}
}

static void tolerations(const struct copier *copier, struct bt_pod_spec_object *spec)
{
	spec->tolerations =
		copy_array(copier, spec->tolerations, spec->toleration_n, sizeof(*spec->tolerations));
	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		text(copier, &spec->tolerations[i].key);
		text(copier, &spec->tolerations[i].operator_);
		text(copier, &spec->tolerations[i].value);
		text(copier, &spec->tolerations[i].effect);
	}
}

static void spread(const struct copier *copier, struct bt_pod_spec_object *spec)
{
	spec->spread = copy_array(copier, spec->spread, spec->spread_n, sizeof(*spec->spread));
	for (uint32_t i = 0; i < spec->spread_n; i++) {
		struct bt_spread_constraint_object *constraint = &spec->spread[i];

		text(copier, &constraint->topology_key);
		text(copier, &constraint->when_unsatisfiable);
		text(copier, &constraint->node_affinity_policy);
		text(copier, &constraint->node_taints_policy);
		label_selector(copier, &constraint->label_selector);
		texts(copier, &constraint->match_label_keys);
	}
}

static struct bt_container_object *containers(
	const struct copier *copier, const struct bt_container_object *from, uint32_t n)
{
	struct bt_container_object *copy = copy_array(copier, from, n, sizeof(*from));

	for (uint32_t i = 0; i < n; i++) {
		text(copier, &copy[i].name);
		text(copier, &copy[i].image);
		text(copier, &copy[i].restart_policy);
		requirements(copier, &copy[i].resources);
		copy[i].ports = copy_array(copier, copy[i].ports, copy[i].port_n, sizeof(*copy[i].ports));
		for (uint32_t j = 0; j < copy[i].port_n; j++) {
			text(copier, &copy[i].ports[j].protocol);
			text(copier, &copy[i].ports[j].host_ip);
		}
	}
	return copy;
}

static struct bt_pod_claim_object *pod_claims(
	const struct copier *copier, struct bt_pod_claim_object *claims, uint32_t n)
{
	claims = copy_array(copier, claims, n, sizeof(*claims));
	for (uint32_t i = 0; i < n; i++) {
		text(copier, &claims[i].name);
		text(copier, &claims[i].claim_name);
		text(copier, &claims[i].template_name);
	}
	return claims;
}

static void volumes(const struct copier *copier, struct bt_pod_spec_object *spec)
{
	spec->volumes = copy_array(copier, spec->volumes, spec->volume_n, sizeof(*spec->volumes));
	for (uint32_t i = 0; i < spec->volume_n; i++) {
		text(copier, &spec->volumes[i].name);
		text(copier, &spec->volumes[i].source);
		text(copier, &spec->volumes[i].pool);
		text(copier, &spec->volumes[i].portal);
		text(copier, &spec->volumes[i].handle);
		text(copier, &spec->volumes[i].kind);
		text(copier, &spec->volumes[i].claim_template);
		texts(copier, &spec->volumes[i].monitors);
	}
	spec->claims = pod_claims(copier, spec->claims, spec->claim_n);
}

static void pod_spec(const struct copier *copier, struct bt_pod_spec_object *spec)
{
	text(copier, &spec->node_name);
	text(copier, &spec->scheduler_name);
	text(copier, &spec->priority_class_name);
	text(copier, &spec->preemption_policy);
	text(copier, &spec->restart_policy);
	text(copier, &spec->runtime_class_name);
	text(copier, &spec->pod_group);
	text(copier, &spec->workload_ref.name);
	text(copier, &spec->workload_ref.pod_group);
	text(copier, &spec->workload_ref.replica_key);
	pairs(copier, &spec->node_selector);
	node_affinity(copier, &spec->affinity.node_affinity);
	pod_affinity(copier, &spec->affinity.pod_affinity);
	pod_affinity(copier, &spec->affinity.pod_anti_affinity);
	tolerations(copier, spec);
	spread(copier, spec);
	spec->containers = containers(copier, spec->containers, spec->container_n);
	spec->init_containers = containers(copier, spec->init_containers, spec->init_container_n);
	quantities(copier, &spec->overhead);
	requirements(copier, &spec->resources);
	texts(copier, &spec->scheduling_gates);
	volumes(copier, spec);
}

static void claim(const struct copier *copier, struct bt_claim_object *object)
{
	meta(copier, &object->meta);
	text(copier, &object->volume_name);
	text(copier, &object->storage_class);
	text(copier, &object->volume_mode);
	text(copier, &object->attributes_class);
	text(copier, &object->phase);
	texts(copier, &object->access_modes);
	quantities(copier, &object->requests);
	label_selector(copier, &object->selector);
}

struct bt_meta_object bt_copy_meta(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_meta_object *from)
{
	struct bt_meta_object copy = *from;

	meta(&(struct copier){arena, depth}, &copy);
	return copy;
}

struct bt_pod_spec_object bt_copy_pod_spec(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_pod_spec_object *from)
{
	struct bt_pod_spec_object copy = *from;

	pod_spec(&(struct copier){arena, depth}, &copy);
	return copy;
}

struct bt_pod_claim_object *bt_copy_pod_claims(
	struct bt_arena *arena, enum bt_copy_depth depth, struct bt_pod_claim_object *from, uint32_t n)
{
	return pod_claims(&(struct copier){arena, depth}, from, n);
}

struct bt_claim_object bt_copy_claim(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_claim_object *from)
{
	struct bt_claim_object copy = *from;

	claim(&(struct copier){arena, depth}, &copy);
	return copy;
}

struct bt_workload_object bt_copy_workload(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_workload_object *from)
{
	struct copier copier = {arena, depth};
	struct bt_workload_object copy = *from;

	meta(&copier, &copy.meta);
	label_selector(&copier, &copy.selector);
	meta(&copier, &copy.template_meta);
	pod_spec(&copier, &copy.template_spec);
	copy.claim_templates = copy_array(
		&copier, copy.claim_templates, copy.claim_template_n, sizeof(*copy.claim_templates));
	for (uint32_t i = 0; i < copy.claim_template_n; i++) {
		claim(&copier, &copy.claim_templates[i]);
	}
	text(&copier, &copy.managed_by);
	text(&copier, &copy.completed_indexes);
	text(&copier, &copy.failed_indexes);
	return copy;
}
