/* SPDX-License-Identifier: Apache-2.0
 * Objects in kubectl's output, lists of every form, and invalid objects, after which reading continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tools/format/object_reader.h"
#include "tools/format/time.h"
#include "tools/format/yaml.h"

static struct bt_object_reader *reader;
static struct bt_buf problems; /* one per line */

static void note(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	bt_diagnosis_text(diagnosis, &problems);
	bt_buf_char(&problems, '\n');
}

static int setup(void **state)
{
	(void)state;
	reader = bt_object_reader_create(note, NULL);
	bt_buf_clear(&problems);
	bt_buf_text(&problems, "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_object_reader_destroy(reader);
	bt_buf_fini(&problems);
	return 0;
}

static void begin(const char *text, enum bt_format format)
{
	bt_buf_clear(&problems);
	bt_object_reader_begin_text(reader, "f", bt_str(text), format);
}

/* Reads all of text and compares the names of the objects, one per line, and the problems. */
static void reads(const char *text, enum bt_format format, const char *names, const char *want_problems)
{
	const struct bt_object *object;
	struct bt_buf got = {0};
	char name[128];

	begin(text, format);
	bt_buf_text(&got, "");
	while ((object = bt_object_reader_next(reader))) {
		bt_object_name(object, name, sizeof(name));
		bt_buf_printf(&got, "%s\n", name);
	}
	bt_buf_text(&problems, "");
	bt_buf_reserve(&problems, 1);
	problems.ptr[problems.len] = '\0';
	assert_string_equal(problems.ptr, want_problems);
	assert_string_equal(got.len ? got.ptr : "", names);
	bt_buf_fini(&got);
}

#define JSON(text, names, problems) reads(text, BT_FORMAT_JSON, names, problems)
#define YAML(text, names, problems) reads(text, BT_FORMAT_YAML, names, problems)

#define NODE(name) "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\"}}"
#define BARE(name) "{\"metadata\":{\"name\":\"" name "\"}}"

static const char pod_json[] =
	"{\n"
	"    \"apiVersion\": \"v1\",\n"
	"    \"kind\": \"Pod\",\n"
	"    \"metadata\": {\n"
	"        \"creationTimestamp\": \"2024-02-29T13:00:00.5+01:00\",\n"
	"        \"labels\": {\"app\": \"web\", \"tier\": \"a\\u00e9\"},\n"
	"        \"managedFields\": [{\"manager\": \"kubectl\", \"fieldsV1\": {\"f:spec\": "
	"{\"k:{\\\"name\\\":\\\"c\\\"}\": {\".\": {}}}}}],\n"
	"        \"name\": \"web-0\",\n"
	"        \"namespace\": \"team-a\",\n"
	"        \"ownerReferences\": [{\"apiVersion\": \"apps/v1\", \"controller\": true, \"kind\": "
	"\"StatefulSet\", \"name\": \"web\", \"uid\": \"u\"}]\n"
	"    },\n"
	"    \"spec\": {\n"
	"        \"affinity\": {\n"
	"            \"nodeAffinity\": {\"requiredDuringSchedulingIgnoredDuringExecution\": "
	"{\"nodeSelectorTerms\": [\n"
	"                {\"matchExpressions\": [{\"key\": \"zone\", \"operator\": \"In\", \"values\": "
	"[\"a\", \"b\"]}]}, {}]}},\n"
	"            \"podAntiAffinity\": {\"preferredDuringSchedulingIgnoredDuringExecution\": [\n"
	"                {\"podAffinityTerm\": {\"labelSelector\": {}, \"topologyKey\": \"host\"}, "
	"\"weight\": 7}]}\n"
	"        },\n"
	"        \"containers\": [{\"image\": \"a:1\", \"name\": \"c\", \"ports\": [{\"containerPort\": 80, "
	"\"hostPort\": 8080}],\n"
	"            \"resources\": {\"limits\": null, \"requests\": {\"cpu\": \"250m\", \"memory\": "
	"1024}}}],\n"
	"        \"hostUsers\": false,\n"
	"        \"priority\": -5,\n"
	"        \"schedulingGates\": [{\"name\": \"g1\"}, {\"name\": \"g2\"}],\n"
	"        \"tolerations\": [{\"effect\": \"NoExecute\", \"key\": \"k\", \"operator\": \"Exists\", "
	"\"tolerationSeconds\": 0}],\n"
	"        \"topologySpreadConstraints\": [{\"maxSkew\": 1, \"minDomains\": 2, \"topologyKey\": "
	"\"zone\", \"whenUnsatisfiable\": \"DoNotSchedule\"}],\n"
	"        \"volumes\": [{\"name\": \"d\", \"persistentVolumeClaim\": {\"claimName\": \"data\", "
	"\"readOnly\": true}},\n"
	"            {\"name\": \"r\", \"rbd\": {\"image\": \"i\", \"monitors\": [\"m1\", \"m2\"], \"pool\": "
	"\"p\"}},\n"
	"            {\"name\": \"e\", \"ephemeral\": {\"volumeClaimTemplate\": {}}}, {\"emptyDir\": {}, "
	"\"name\": \"x\"}]\n"
	"    },\n"
	"    \"status\": {\"conditions\": [{\"status\": \"False\", \"type\": \"PodScheduled\"}], \"phase\": "
	"\"Pending\"}\n"
	"}\n";

static void check_pod_spec(const struct bt_pod_spec_object *spec)
{
	const struct bt_container_object *c = &spec->containers[0];

	assert_true(spec->container_n == 1 && bt_str_is(c->image, "a:1") && c->ports[0].host_port == 8080);
	assert_true(c->resources.set && !c->resources.limits.set && c->resources.requests.n == 2);
	assert_int_equal(bt_quantity_milli(c->resources.requests.items[0].quantity), 250);
	assert_int_equal(bt_quantity_value(c->resources.requests.items[1].quantity), 1024);
	assert_true(spec->has_host_users && !spec->host_users && spec->has_priority && spec->priority == -5);
	assert_true(spec->scheduling_gates.n == 2 && bt_str_is(spec->scheduling_gates.items[1], "g2"));
	assert_true(spec->toleration_n == 1 && spec->tolerations[0].has_toleration_seconds);
	assert_true(spec->spread_n == 1 && spec->spread[0].min_domains == 2 &&
		    !spec->spread[0].label_selector.set);
	assert_true(spec->volume_n == 4 && spec->volumes[0].type == BT_VOLUME_CLAIM &&
		    spec->volumes[0].read_only);
	assert_true(bt_str_is(spec->volumes[0].source, "data") && bt_str_is(spec->volumes[0].name, "d"));
	assert_true(spec->volumes[1].type == BT_VOLUME_RBD && spec->volumes[1].monitors.n == 2);
	assert_true(spec->volumes[2].type == BT_VOLUME_EPHEMERAL && spec->volumes[3].type == BT_VOLUME_OTHER);
}

static void a_pod_is_decoded_field_by_field(void **state)
{
	(void)state;
	begin(pod_json, BT_FORMAT_JSON);
	const struct bt_object *o = bt_object_reader_next(reader);
	assert_non_null(o);
	assert_int_equal(o->kind, BT_KIND_POD);
	assert_true(o->meta.creation_ns == 1709208000500000000);
	assert_true(o->meta.labels.n == 2 && bt_str_is(o->meta.labels.items[1].value, "a\xc3\xa9"));
	assert_true(o->meta.owner_n == 1 && o->meta.owners[0].controller &&
		    bt_str_is(o->meta.owners[0].name, "web"));
	check_pod_spec(&o->pod.spec);
	const struct bt_affinity_object *a = &o->pod.spec.affinity;
	assert_true(a->node_affinity.set && a->node_affinity.required.set &&
		    a->node_affinity.required.term_n == 2);
	assert_true(bt_str_is(
		a->node_affinity.required.terms[0].match_expressions.items[0].values.items[1], "b"));
	assert_true(
		!a->pod_affinity.set && a->pod_anti_affinity.set && a->pod_anti_affinity.preferred_n == 1);
	assert_true(a->pod_anti_affinity.preferred[0].weight == 7);
	assert_true(a->pod_anti_affinity.preferred[0].term.label_selector.set);
	assert_false(a->pod_anti_affinity.preferred[0].term.namespace_selector.set);
	assert_true(bt_str_is(o->pod.phase, "Pending") && bt_str_is(o->pod.conditions[0].status, "False"));
	assert_null(bt_object_reader_next(reader));
	assert_int_equal(problems.len, 0);
}

static void a_node_and_its_images_are_decoded(void **state)
{
	(void)state;
	begin("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec:\n  unschedulable: true\n"
	      "  taints: [{key: k, effect: NoSchedule}]\nstatus:\n  allocatable: {cpu: 1.5, memory: 8Gi}\n"
	      "  images: [{names: [a, b], sizeBytes: 5}]\n  declaredFeatures: [x]\n",
		BT_FORMAT_YAML);
	const struct bt_object *o = bt_object_reader_next(reader);
	assert_true(o && o->kind == BT_KIND_NODE && o->node.unschedulable && o->node.taint_n == 1);
	assert_int_equal(bt_quantity_milli(o->node.allocatable.items[0].quantity), 1500);
	assert_true(
		o->node.image_n == 1 && o->node.images[0].names.n == 2 && o->node.images[0].size_bytes == 5);
	assert_true(o->node.declared_features.n == 1 && !o->node.capacity.set);
}

static void workloads_fill_one_struct(void **state)
{
	const struct bt_object *o;

	(void)state;
	begin("{\"apiVersion\":\"apps/"
	      "v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"s\"},\"spec\":{\"ordinals\":{\"start\":"
	      "3},"
	      "\"replicas\":2,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
	      "\"labels\":{\"a\":\"b\"}},"
	      "\"spec\":{\"nodeName\":\"n\"}},\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"}}]}}"
	      "{\"apiVersion\":\"v1\",\"kind\":\"ReplicationController\",\"metadata\":{\"name\":\"r\"},"
	      "\"spec\":{\"selector\":{\"x\":\"y\"}}}"
	      "{\"apiVersion\":\"batch/"
	      "v1\",\"kind\":\"CronJob\",\"metadata\":{\"name\":\"c\"},\"spec\":{\"jobTemplate\":{\"spec\":"
	      "{\"completionMode\":\"Indexed\",\"completions\":4,\"suspend\":true,\"template\":{\"spec\":{"
	      "\"nodeName\":\"m\"}}}},"
	      "\"suspend\":false}}",
		BT_FORMAT_JSON);
	o = bt_object_reader_next(reader);
	assert_true(o->kind == BT_KIND_STATEFUL_SET && o->workload.has_replicas && o->workload.replicas == 2);
	assert_true(o->workload.start_ordinal == 3 && o->workload.selector.set &&
		    o->workload.template_meta.labels.n == 1);
	assert_true(bt_str_is(o->workload.template_spec.node_name, "n"));
	assert_true(o->workload.claim_template_n == 1 &&
		    bt_str_is(o->workload.claim_templates[0].meta.name, "data"));
	o = bt_object_reader_next(reader);
	assert_true(o->kind == BT_KIND_REPLICATION_CONTROLLER && o->workload.selector.set);
	assert_true(bt_str_is(o->workload.selector.match_labels.items[0].value, "y") &&
		    !o->workload.has_replicas);
	o = bt_object_reader_next(reader);
	assert_true(o->kind == BT_KIND_CRON_JOB && o->workload.suspend && o->workload.indexed);
	assert_true(o->workload.completions == 4 && bt_str_is(o->workload.template_spec.node_name, "m"));
	assert_null(bt_object_reader_next(reader));
	assert_int_equal(problems.len, 0);
}

static void the_group_decides_what_a_kind_is(void **state)
{
	(void)state;
	begin("{\"apiVersion\":\"foo.example.com/"
	      "v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"taints\":7}}",
		BT_FORMAT_JSON);
	const struct bt_object *o = bt_object_reader_next(reader);
	assert_true(o && o->kind == BT_KIND_OTHER && bt_str_is(o->kind_name, "Node") &&
		    bt_str_is(o->meta.name, "x"));
}

static void lists_of_every_shape_are_flattened(void **state)
{
	(void)state;
	JSON("{\"apiVersion\":\"v1\",\"items\":[" NODE("a") "," NODE(
		     "b") "],\"kind\":\"List\",\"metadata\":{}}" NODE("c"),
		"Node a\nNode b\nNode c\n", "");
	JSON("{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[" BARE("a") "," BARE(
		     "b") "]}",
		"Node a\nNode b\n", "");
	JSON("{\"items\":[" BARE("a") "," NODE("b") "," BARE(
		     "c") "],\"kind\":\"NodeList\",\"apiVersion\":\"v1\"}",
		"Node a\nNode b\nNode c\n", "");
	JSON("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"List\",\"apiVersion\":\"v1\","
	     "\"items\":[" NODE("a") "]}," NODE("b") "]}",
		"Node a\nNode b\n", "");
	JSON("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":null}" NODE("a"), "Node a\n", "");
	YAML("apiVersion: v1\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\nkind: List\n---\n"
	     "apiVersion: v1\nkind: Node\nmetadata:\n  name: b\n",
		"Node a\nNode b\n", "");
}

static void kind_may_stand_behind_everything(void **state)
{
	(void)state;
	JSON("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"unschedulable\":true},\"kind\":\"Node\","
	     "\"apiVersion\":\"v1\"}",
		"Node a\n", "");
	JSON("{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"},\"apiVersion\":\"v1\",\"status\":{}}",
		"Node a\n", "");
}

static void a_bad_object_does_not_stop_the_next(void **state)
{
	(void)state;
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n" NODE(
		     "a") ",\n"
			  "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
			  "\"namespace\":\"x\"},\"spec\":{\"containers\":[\n"
			  "{\"resources\":{\"requests\":{\"cpu\":\"1x\"}}}]}},\n" NODE("b") "]}",
		"Node a\nNode b\n",
		"f:4:33: Pod x/p: spec.containers[0].resources.requests.cpu: \"1x\" is not a quantity; write "
		"it like 500m, 2 or 1.5Gi\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[7,{\"kind\":\"Pod\"},{\"spec\":{"
	     "\"priority\":3000000000},\"kind\":\"Pod\","
	     "\"apiVersion\":\"v1\"}," NODE("b") "]}",
		"Node b\n",
		"f:1:43: object at items[0]: expected an object; give it as an object with apiVersion and "
		"kind\n"
		"f:1:45: Pod at items[1]: the object has no apiVersion; add apiVersion and kind\n"
		"f:1:80: Pod at items[2]: spec.priority: 3000000000 is outside -2147483648 to 2147483647; "
		"use a number that fits\n");
	YAML("apiVersion: v1\nkind: Node\nmetadata:\n  name: q\n  labels:\n    x: 1\n---\napiVersion: "
	     "v1\nkind: Node\nmetadata: {name: m}\n",
		"Node m\n",
		"f:6: Node q: metadata.labels.x: expected a string, found a number; put the value into "
		"quotes\n");
}

static void duplicate_keys_name_the_field(void **state)
{
	(void)state;
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"labels\":{\"a/"
	     "b\":\"1\",\"a/b\":\"2\"}}}",
		"", "f:1:83: Node n: metadata.labels[a/b]: the key appears twice; keep one of them\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"name\":\"m\"}}", "",
		"f:1:64: Node n: metadata.name: the key appears twice; keep one of them\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\"kind\":\"Node\"}", "",
		"f:1:65: Node n: kind: the key appears twice; keep one of them\n");
}

static void an_object_without_a_name_is_refused(void **state)
{
	(void)state;
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n" NODE("a"), "Node a\n",
		"f:1:1: Node: metadata.name: the object has no name; give it one\n");
	YAML("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-, namespace: b}\n---\n" NODE("a"),
		"Node a\n",
		"f:1: Pod b/a-: metadata.name: the object has no name; give it a name in place of "
		"generateName\n");
	JSON(NODE("a\\u0000b"), "",
		"f:1:1: Node a: metadata.name: the name holds a NUL byte; write the name without it\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}", "ConfigMap\n", "");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"message\":\"gone\"}", "",
		"f:1:1: Status: an error of the API server in place of objects: gone; correct the command "
		"that wrote it, and run it again\n");
}

static void a_syntax_error_costs_one_document(void **state)
{
	(void)state;
	JSON(NODE("a") "\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"spec\":{\"taints\":[{},]}}\n" NODE(
		     "b") "\n",
		"Node a\nNode b\n",
		"f:2:55: Node: spec.taints: expected a value; write the file again, for example with kubectl "
		"get -o json\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" NODE("a") ",{\"apiVersion\":\"v1\",\"ki",
		"Node a\n",
		"f:1:123: object at items[1]: the text ends inside a string; write the file again, for "
		"example with kubectl get -o json\n");
	JSON("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"\xc3(\"}}", "",
		"f:1:54: Node: metadata.name: invalid UTF-8; write the file again, for example with kubectl "
		"get -o json\n");
}

static void inputs_without_objects_are_named(void **state)
{
	(void)state;
	JSON(" \n", "",
		"f: the file holds no objects; write objects into it, for example with kubectl get -o json, "
		"or leave it out\n");
	YAML("# nothing\n---\n", "",
		"f: the file holds no objects; write objects into it, for example with kubectl get -o json, "
		"or leave it out\n");
}

/* Reads one object from JSON, where strings are views of the text, copies it, and overwrites the text.
 * nameless: as of an object made by hand, without apiVersion and kind. */
static struct bt_object read_and_own(
	const char *yaml, bool nameless, struct bt_arena *texts, struct bt_arena *arena)
{
	struct bt_yaml *converter = bt_yaml_create();
	struct bt_str json;

	bt_yaml_begin(converter, bt_str(yaml));
	assert_int_equal(bt_yaml_next(converter, &json), BT_OK);
	char *text = bt_arena_copy(texts, json.ptr, json.len);
	bt_object_reader_begin_any(reader, "f", (struct bt_str){text, json.len});
	const struct bt_object *object = bt_object_reader_next(reader);
	if (!object) {
		fail_msg("%s", problems.ptr);
	}
	struct bt_object owned = *object;
	if (nameless) {
		owned.api_version = owned.kind_name = (struct bt_str){"", 0};
	}
	bt_object_own(&owned, arena);
	memset(text, '#', json.len);
	bt_yaml_destroy(converter);
	return owned;
}

static void assert_is(struct bt_str got, const char *want)
{
	if (!bt_str_is(got, want)) {
		fail_msg("\"%.*s\" instead of \"%s\"", BT_STR_ARG(got), want);
	}
}

static void an_owned_object_of_no_named_kind_needs_nothing_else(void **state)
{
	struct bt_arena arena = {0}, texts = {0};
	struct bt_object pod = read_and_own(
		"{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {l: v}}, spec: {nodeName: m}}", true,
		&texts, &arena);

	(void)state;
	bt_arena_fini(&texts);
	assert_is(pod.pod.meta.name, "p");
	assert_is(pod.pod.meta.labels.items[0].value, "v");
	assert_is(pod.pod.spec.node_name, "m");
	bt_arena_fini(&arena);
}

static void an_owned_object_needs_nothing_else(void **state)
{
	struct bt_arena arena = {0}, texts = {0};

	(void)state;
	struct bt_object pod = read_and_own(
		"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: s, labels: {l: v}, "
		"ownerReferences: "
		"[{kind: ReplicaSet, name: rs, uid: u, controller: true}]}, spec: {nodeSelector: {a: b}, "
		"tolerations: [{key: t, operator: Exists}], affinity: {nodeAffinity: "
		"{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
		"[{key: "
		"k, operator: In, values: [one, two]}]}]}}}, containers: [{name: c, image: i, ports: "
		"[{hostPort: "
		"1, protocol: TCP}], resources: {requests: {cpu: 2}}}], volumes: [{name: v, "
		"persistentVolumeClaim: {claimName: claim}}, {name: w, rbd: {image: im, pool: po, monitors: "
		"[m1]}}], schedulingGates: [{name: gate}]}}",
		false, &texts, &arena);
	assert_is(pod.api_version, "v1");
	assert_is(pod.kind_name, "Pod");
	assert_is(pod.meta.namespace_, "s");
	assert_is(pod.meta.labels.items[0].value, "v");
	assert_is(pod.meta.owners[0].uid, "u");
	const struct bt_pod_spec_object *spec = &pod.pod.spec;
	assert_is(spec->node_selector.items[0].key, "a");
	assert_is(spec->tolerations[0].operator_, "Exists");
	assert_is(spec->affinity.node_affinity.required.terms[0].match_expressions.items[0].values.items[1],
		"two");
	assert_is(spec->containers[0].resources.requests.items[0].name, "cpu");
	assert_is(spec->containers[0].ports[0].protocol, "TCP");
	assert_int_equal(spec->volumes[0].type, BT_VOLUME_CLAIM);
	assert_is(spec->volumes[0].source, "claim");
	assert_is(spec->volumes[1].monitors.items[0], "m1");
	assert_is(spec->volumes[1].pool, "po");
	assert_is(spec->scheduling_gates.items[0], "gate");
	struct bt_object slice =
		read_and_own("{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, "
			     "spec: {driver: d, pool: "
			     "{name: po, generation: 1, resourceSliceCount: 1}, nodeName: node-1, devices: "
			     "[{name: dev, attributes: "
			     "{model: {string: x1}, size: {int: 3}}, capacity: {memory: {value: 4Gi}}}]}}",
			false, &texts, &arena);
	const struct bt_device_object *device = &slice.resource_slice.devices[0];
	assert_is(slice.resource_slice.pool, "po");
	assert_is(device->name, "dev");
	assert_is(device->attributes[0].name, "model");
	assert_is(device->attributes[0].text, "x1");
	assert_int_equal(device->attributes[1].number, 3);
	assert_is(device->capacities[0].name, "memory");
	struct bt_object group = read_and_own("{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, "
					      "metadata: {name: g}, spec: {schedulingConstraints: "
					      "{topology: [{key: rack}, {key: zone}]}}}",
		false, &texts, &arena);
	assert_true(group.pod_group.has_constraints);
	assert_is(group.pod_group.topology_keys.items[0], "rack");
	bt_arena_fini(&texts);
	bt_arena_fini(&arena);
}

static void times_are_read_to_the_nanosecond(void **state)
{
	int64_t ns;

	(void)state;
	assert_int_equal(bt_time_parse(bt_str("1970-01-01T00:00:01Z"), &ns), BT_OK);
	assert_true(ns == 1000000000);
	assert_int_equal(bt_time_parse(bt_str("2024-02-29T23:59:59.123456789-02:30"), &ns), BT_OK);
	assert_true(ns == 1709260199123456789);
	assert_int_equal(bt_time_parse(bt_str("0001-01-01T00:00:00Z"), &ns), BT_OK);
	assert_true(ns == INT64_MIN);
	static const char *const bad[] = {"", "2024", "2023-02-29T00:00:00Z", "2024-01-01T00:00:00",
		"2024-01-01t00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.Z",
		"2024-01-01T00:00:00Zx", "-2024", "-024-01-01T00:00:00Z", "02024-01-01T00:00:00Z",
		"1000000000000-01-01T00:00:00Z", "-01-01T00:00:00Z", "113224867327-02-29T15:54:01Z"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(bt_time_parse(bt_str(bad[i]), &ns), BT_INVALID);
	}
}

/* An API server stores any number of seconds that it gets by protobuf, and writes it in JSON. */
static void years_of_any_length_are_read_as_go_writes_them(void **state)
{
	const struct {
		const char *text;
		int64_t ns;
	} cases[] = {{"292277026596-12-04T15:30:07Z", INT64_MAX}, {"10000-01-01T00:00:00Z", INT64_MAX},
		{"0000-01-01T00:00:00Z", INT64_MIN}, {"-0001-12-31T23:59:59Z", INT64_MIN},
		{"-292277022399-01-01T00:00:00Z", INT64_MIN},
		/* A leap year, though the number of its first digits is none. */
		{"113223867328-02-29T15:54:01Z", INT64_MAX}, {"-113223867328-02-29T15:54:01Z", INT64_MIN}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ns = 0;

		assert_int_equal(bt_time_parse(bt_str(cases[i].text), &ns), BT_OK);
		assert_true(ns == cases[i].ns);
	}
}

/* Positions are counted from the last one, also within a line. */
static void each_problem_has_its_line_and_column(void **state)
{
	(void)state;
	JSON("{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[{},{},\n{},\n\n {},{}]}", "",
		"f:1:47: Node at items[0]: metadata.name: the object has no name; give it one\n"
		"f:1:50: Node at items[1]: metadata.name: the object has no name; give it one\n"
		"f:2:1: Node at items[2]: metadata.name: the object has no name; give it one\n"
		"f:4:2: Node at items[3]: metadata.name: the object has no name; give it one\n"
		"f:4:5: Node at items[4]: metadata.name: the object has no name; give it one\n");
}

/* Reads the next object and compares its line. */
static void is_on_line(size_t line)
{
	assert_non_null(bt_object_reader_next(reader));
	assert_int_equal(bt_object_reader_line(reader), line);
	assert_string_equal(bt_object_reader_file(reader), "f");
}

static void each_object_has_the_line_that_it_begins_on(void **state)
{
	(void)state;
	begin("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" NODE("a") ",\n\n" NODE("b") "]}\n" NODE(
		      "c"),
		BT_FORMAT_JSON);
	is_on_line(1);
	is_on_line(3);
	is_on_line(4);
	begin("# a comment\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
	      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: b}\n"
	      "- " NODE("c") "\n",
		BT_FORMAT_YAML);
	is_on_line(2);
	is_on_line(9);
	is_on_line(12);
	assert_null(bt_object_reader_next(reader));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_problem_has_its_line_and_column, setup, teardown),
		cmocka_unit_test(years_of_any_length_are_read_as_go_writes_them),
		cmocka_unit_test_setup_teardown(a_pod_is_decoded_field_by_field, setup, teardown),
		cmocka_unit_test_setup_teardown(a_node_and_its_images_are_decoded, setup, teardown),
		cmocka_unit_test_setup_teardown(workloads_fill_one_struct, setup, teardown),
		cmocka_unit_test_setup_teardown(the_group_decides_what_a_kind_is, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_every_shape_are_flattened, setup, teardown),
		cmocka_unit_test_setup_teardown(kind_may_stand_behind_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(a_bad_object_does_not_stop_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(duplicate_keys_name_the_field, setup, teardown),
		cmocka_unit_test_setup_teardown(an_object_without_a_name_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_syntax_error_costs_one_document, setup, teardown),
		cmocka_unit_test_setup_teardown(inputs_without_objects_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owned_object_needs_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_owned_object_of_no_named_kind_needs_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(each_object_has_the_line_that_it_begins_on, setup, teardown),
		cmocka_unit_test(times_are_read_to_the_nanosecond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
