/* SPDX-License-Identifier: Apache-2.0
 * Random nodes and pods.
 */
#include "random_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/offline/generate/build.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const zones[] = {"a", "b", "c"};
static const char *const numbers[] = {
	"1", "5", "9", "-3", "05", "x", "9223372036854775807", "9223372036854775808"};
static const char *const effects[] = {"NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"};
static const char *const taint_keys[] = {"dedicated", "level"};
static const char *const taint_values[] = {"", "blue", "3", "7", "07"};
static const char *const images[] = {"app:1", "db", "registry:5000/web", "registry:5000/web:2"};
static const char *const image_names[] = {
	"app:1", "db:latest", "registry:5000/web:latest", "registry:5000/web:2"};
static const char *const ips[] = {"", "0.0.0.0", "10.0.0.1", "::"};
static const char *const widget = "example.com/widget";

uint32_t random_below(struct random_source *source, uint32_t n)
{
	return bt_rng_below(&source->rng, n);
}

bool random_chance(struct random_source *source, uint32_t percent)
{
	return random_below(source, 100) < percent;
}

static struct bt_str pick_of(struct random_source *s, const char *const *texts, size_t n)
{
	return bt_str(texts[random_below(s, (uint32_t)n)]);
}

#define PICK(source, texts) pick_of(source, texts, COUNT_OF(texts))

static void add_amount(
	struct random_source *s, struct bt_resource_list *list, const char *name, const char *text)
{
	struct bt_quantity quantity;

	if (bt_quantity_parse(bt_str(text), &quantity) != BT_OK) {
		abort();
	}
	bt_build_quantity(&s->arena, list, name, quantity);
}

/* ---- nodes ---- */

static void add_allocatable(struct random_source *s, struct bt_resource_list *list)
{
	static const char *const cpus[] = {"2", "4", "4", "7500m", "16"};
	static const char *const memories[] = {"4Gi", "8Gi", "8Gi", "7.5Gi", "64Gi"};
	static const char *const out_of_range[] = {"0", "1n", "8Ei", "9223372036854775807", "1", "-1"};
	static const char *const pods[] = {"3", "10", "110", "0"};

	if (!random_chance(s, 3)) {
		add_amount(s, list, "cpu", PICK(s, cpus).ptr);
	}
	if (s->out_of_range && random_chance(s, 40)) {
		add_amount(s, list, "memory", PICK(s, out_of_range).ptr);
	} else {
		add_amount(s, list, "memory", PICK(s, memories).ptr);
	}
	add_amount(s, list, "pods", pods[random_chance(s, 4) ? 3 : random_below(s, 3)]);
	if (random_chance(s, 50)) {
		add_amount(s, list, "ephemeral-storage", "10Gi");
	}
	if (random_chance(s, 40)) {
		add_amount(s, list, widget,
			s->out_of_range && random_chance(s, 30) ? PICK(s, out_of_range).ptr : "4");
	}
	add_amount(s, list, "storage", "10Gi");
}

static void add_taints(struct random_source *s, struct bt_node_object *node)
{
	node->taint_n = random_chance(s, 50) ? 0 : random_below(s, 4);
	node->taints = bt_arena_zalloc(&s->arena, 4 * sizeof(*node->taints));
	for (uint32_t i = 0; i < node->taint_n; i++) {
		node->taints[i] = (struct bt_taint_object){
			.key = PICK(s, taint_keys),
			.value = PICK(s, taint_values),
			.effect = random_chance(s, 60) ? bt_str("PreferNoSchedule") : PICK(s, effects),
		};
	}
}

static void add_images(struct random_source *s, struct bt_node_object *node)
{
	node->images = bt_arena_zalloc(&s->arena, COUNT_OF(image_names) * sizeof(*node->images));
	for (uint32_t i = 0; i < COUNT_OF(image_names); i++) {
		if (random_chance(s, 40)) {
			struct bt_image_object *image = &node->images[node->image_n++];

			bt_build_item(&s->arena, &image->names, bt_str(image_names[i]));
			bt_build_item(&s->arena, &image->names,
				bt_build_text(&s->arena, "%s-alias", image_names[i]));
			image->size_bytes = (int64_t)(i + 1) * 300 * 1024 * 1024;
		}
	}
}

const struct bt_node_object *random_node(struct random_source *s, uint32_t ix)
{
	struct bt_node_object *node = bt_arena_zalloc(&s->arena, sizeof(*node));
	struct bt_str_map *labels = &node->meta.labels;

	node->meta.name = bt_build_text(&s->arena, "node-%" PRIu32, ix);
	bt_build_pair(&s->arena, labels, bt_str("kubernetes.io/hostname"), node->meta.name);
	if (!random_chance(s, 10)) {
		bt_build_pair(&s->arena, labels, bt_str("topology.kubernetes.io/zone"), PICK(s, zones));
	}
	if (random_chance(s, 70)) {
		bt_build_pair(&s->arena, labels, bt_str("gen"), PICK(s, numbers));
	}
	if (random_chance(s, 30)) {
		bt_build_pair(&s->arena, labels, bt_str("empty"), bt_str(""));
	}
	add_allocatable(s, &node->allocatable);
	add_taints(s, node);
	add_images(s, node);
	node->unschedulable = random_chance(s, 7);
	return node;
}

/* ---- pods ---- */

static void add_request(struct random_source *s, struct bt_resource_list *list)
{
	static const char *const cpus[] = {"0", "100m", "100m", "1", "1500m"};
	static const char *const memories[] = {"0", "128Mi", "128Mi", "1Gi", "1500m"};
	static const char *const out_of_range[] = {"1n", "0", "1e-30", "64Pi", "3e17", "900P", "8Ei",
		"9223372036854775807", "4Ei", "5e18", "100E"};

	if (random_chance(s, 75)) {
		add_amount(s, list, "cpu", PICK(s, cpus).ptr);
	}
	if (random_chance(s, 75)) {
		add_amount(s, list, "memory",
			s->out_of_range && random_chance(s, 30) ? PICK(s, out_of_range).ptr
								: PICK(s, memories).ptr);
	}
	if (random_chance(s, 15)) {
		add_amount(s, list, "ephemeral-storage", "3Gi");
	}
	if (random_chance(s, 15)) {
		add_amount(s, list, widget, random_chance(s, 20) ? "0" : "1");
	}
	if (random_chance(s, 3)) {
		add_amount(s, list, "hugepages-2Mi", "4Mi");
	}
	if (random_chance(s, 5)) {
		add_amount(s, list, "storage", "1Gi"); /* no scalar: dropped */
	}
}

static struct bt_container_object *add_container(
	struct random_source *s, struct bt_container_object **list, uint32_t *n)
{
	struct bt_container_object *container;

	if (!*list) {
		*list = bt_arena_zalloc(&s->arena, 4 * sizeof(**list));
	}
	container = &(*list)[(*n)++];
	container->name = bt_build_text(&s->arena, "c%" PRIu32, *n);
	container->image = PICK(s, images);
	container->resources.set = true;
	add_request(s, &container->resources.requests);
	if (random_chance(s, 12)) {
		container->port_n = 1 + random_below(s, 2);
		container->ports = bt_arena_zalloc(&s->arena, 2 * sizeof(*container->ports));
		for (uint32_t i = 0; i < container->port_n; i++) {
			container->ports[i] = (struct bt_port_object){
				.host_port = (int32_t)random_below(s, 3) * 80,
				.protocol = bt_str(random_chance(s, 30)	  ? "UDP"
						   : random_chance(s, 50) ? "TCP"
									  : ""),
				.host_ip = PICK(s, ips),
			};
		}
	}
	return container;
}

static void add_expression(struct random_source *s, struct bt_requirement_object_list *list)
{
	static const char *const zone_ops[] = {"In", "In", "NotIn", "Exists", "DoesNotExist"};
	static const char *const odd_ops[] = {"In", "Exists", "Gt", "Near", "NotIn", "DoesNotExist", "Lt"};
	struct bt_requirement_object *r;

	switch (random_below(s, 8)) {
	case 0:
	case 1:
	case 2:
		r = bt_build_requirement(
			&s->arena, list, "topology.kubernetes.io/zone", PICK(s, zone_ops).ptr);
		if (bt_str_ends(r->operator_, "In")) {
			bt_build_item(&s->arena, &r->values, PICK(s, zones));
			bt_build_item(&s->arena, &r->values, PICK(s, zones));
		}
		return;
	case 3:
	case 4:
		r = bt_build_requirement(&s->arena, list, "gen", random_chance(s, 50) ? "Gt" : "Lt");
		bt_build_item(&s->arena, &r->values, PICK(s, numbers));
		return;
	case 5:
		r = bt_build_requirement(&s->arena, list, "empty", "In");
		bt_build_item(&s->arena, &r->values, bt_str(""));
		return;
	case 6:
		bt_build_requirement(
			&s->arena, list, "absent", random_chance(s, 50) ? "DoesNotExist" : "Exists");
		return;
	default: /* as often malformed as not */
		r = bt_build_requirement(
			&s->arena, list, random_chance(s, 10) ? "no key" : "gen", PICK(s, odd_ops).ptr);
		for (uint32_t n = random_below(s, 3); n; n--) {
			bt_build_item(&s->arena, &r->values,
				random_chance(s, 10) ? bt_str("no value") : PICK(s, numbers));
		}
		return;
	}
}

static void add_field(struct random_source *s, struct bt_requirement_object_list *list)
{
	struct bt_requirement_object *r = bt_build_requirement(&s->arena, list,
		random_chance(s, 90) ? "metadata.name" : "metadata.namespace",
		random_chance(s, 80) ? "In" : "NotIn");
	uint32_t n = random_chance(s, 85) ? 1 : random_below(s, 3);

	while (n--) {
		bt_build_item(&s->arena, &r->values,
			bt_build_text(&s->arena, "node-%" PRIu32, random_below(s, 12)));
	}
}

static void fill_term(struct random_source *s, struct bt_node_term_object *term, bool fields)
{
	uint32_t n = random_chance(s, 8) ? 0 : 1 + random_chance(s, 25);

	while (n--) {
		if (fields) {
			add_field(s, &term->match_fields);
		} else {
			add_expression(s, &term->match_expressions);
		}
	}
}

static void add_affinity(struct random_source *s, struct bt_pod_spec_object *spec)
{
	struct bt_node_affinity_object *affinity = &spec->affinity.node_affinity;
	bool fields = random_chance(s, 15);

	if (random_chance(s, 15)) {
		bt_build_pair(&s->arena, &spec->node_selector, bt_str("topology.kubernetes.io/zone"),
			PICK(s, zones));
		spec->node_selector.set = true;
	}
	affinity->set = random_chance(s, 60);
	affinity->required.set = affinity->set && random_chance(s, 40);
	if (affinity->required.set) {
		affinity->required.term_n = random_chance(s, 5) ? 0 : 1 + random_below(s, 2);
		affinity->required.terms = bt_arena_zalloc(&s->arena, 2 * sizeof(*affinity->required.terms));
		for (uint32_t i = 0; i < affinity->required.term_n; i++) {
			fill_term(s, &affinity->required.terms[i], fields);
		}
	}
	affinity->preferred_set = affinity->set && random_chance(s, 60);
	if (affinity->preferred_set) {
		affinity->preferred_n = random_below(s, 4);
		affinity->preferred = bt_arena_zalloc(&s->arena, 3 * sizeof(*affinity->preferred));
		for (uint32_t i = 0; i < affinity->preferred_n; i++) {
			affinity->preferred[i].weight = (int32_t)random_below(s, 101);
			fill_term(s, &affinity->preferred[i].preference, random_chance(s, 5));
		}
	}
}

static void add_tolerations(struct random_source *s, struct bt_pod_spec_object *spec)
{
	static const char *const operators[] = {"", "Equal", "Exists", "Lt", "Gt", "Near"};

	spec->toleration_n = random_below(s, 4);
	spec->tolerations = bt_arena_zalloc(&s->arena, 4 * sizeof(*spec->tolerations));
	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		spec->tolerations[i] = (struct bt_toleration_object){
			.key = random_chance(s, 20) ? bt_str("") : PICK(s, taint_keys),
			.operator_ = PICK(s, operators),
			.value = PICK(s, taint_values),
			.effect = random_chance(s, 50) ? bt_str("") : PICK(s, effects),
		};
	}
	if (random_chance(s, 10)) {
		spec->tolerations[spec->toleration_n++] =
			(struct bt_toleration_object){.operator_ = BT_STR("Exists")};
	}
}

struct bt_pod_object *random_pod(struct random_source *s, uint32_t ix)
{
	struct bt_pod_object *pod = bt_arena_zalloc(&s->arena, sizeof(*pod));
	struct bt_pod_spec_object *spec = &pod->spec;

	pod->meta.name = bt_build_text(&s->arena, "pod-%" PRIu32, ix);
	pod->meta.namespace_ = bt_str(random_chance(s, 80) ? "default" : "other");
	pod->meta.creation_ns = 1 + random_below(s, 5);
	spec->scheduler_name = bt_str("default-scheduler");
	spec->has_priority = random_chance(s, 70);
	spec->priority = spec->has_priority ? (int32_t)random_below(s, 3) - 1 : 0;
	for (uint32_t n = 1 + random_chance(s, 20); n; n--) {
		add_container(s, &spec->containers, &spec->container_n);
	}
	for (uint32_t n = random_chance(s, 25) ? 1 + random_below(s, 3) : 0; n; n--) {
		struct bt_container_object *container =
			add_container(s, &spec->init_containers, &spec->init_container_n);

		container->restart_policy = bt_str(random_chance(s, 50) ? "Always" : "");
	}
	if (random_chance(s, 10)) {
		spec->resources.set = true;
		add_request(s, &spec->resources.requests);
	}
	if (random_chance(s, 10)) {
		add_amount(s, &spec->overhead, "memory", "1Mi");
		add_amount(s, &spec->overhead, "cpu", "10500u");
	}
	add_affinity(s, spec);
	add_tolerations(s, spec);
	if (random_chance(s, 3)) {
		bt_build_item(&s->arena, &spec->scheduling_gates, bt_str("example.com/wait"));
	}
	return pod;
}

void random_port(struct random_source *s, struct bt_pod_object *pod)
{
	uint32_t n = pod->spec.container_n;
	struct bt_container_object *containers = bt_arena_zalloc(&s->arena, n * sizeof(*containers));

	memcpy(containers, pod->spec.containers, n * sizeof(*containers));
	containers[0].port_n = 1;
	containers[0].ports = bt_arena_zalloc(&s->arena, sizeof(*containers[0].ports));
	containers[0].ports[0].host_port = 8000 + (int32_t)random_below(s, 3);
	pod->spec.containers = containers;
}
