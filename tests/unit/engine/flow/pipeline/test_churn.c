/* SPDX-License-Identifier: Apache-2.0
 * Pods are added, decided and deleted, each with a unique name and UID: memory is bounded by the live ones
 * (I7). Arguments: pods in total, and at a time.
 */
#include "trial.h"

#include "engine/base/mem.h"
#include "tools/kube/objects/copy.h"

enum { NODES = 100, SIGNATURES = 300 };

static uint32_t pod_n = 100000, alive_n = 2000;

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	assert_non_null(file);
	while (!kib && fgets(line, sizeof(line), file)) {
		(void)sscanf(line, "VmRSS: %lu", &kib);
	}
	fclose(file);
	assert_true(kib > 0);
	return (size_t)kib * 1024;
}

struct memory {
	size_t in_use, resident;
};

static struct memory measure(uint32_t came_n)
{
	struct memory memory = {bt_mem_in_use_bytes(), resident_bytes()};

	print_message("%9" PRIu32 " pods: %zu KiB in use, %zu KiB resident\n", came_n, memory.in_use / 1024,
		memory.resident / 1024);
	return memory;
}

/* The templates of all pods; every third is bound when it is added. */
static void read_kinds(struct trial *t, struct bt_pod_object *out)
{
	for (uint32_t i = 0; i < SIGNATURES; i++) {
		bt_buf_clear(&t->text);
		bt_buf_printf(&t->text,
			"{apiVersion: v1, kind: Pod, metadata: {name: kind, namespace: default, labels: "
			"{app: a%" PRIu32
			"}}, spec: {schedulerName: default-scheduler, %s containers: [{name: c, image: "
			"i%" PRIu32 ", resources: {requests: {cpu: '%" PRIu32 "m'}}}]}}",
			i, i % 3 ? "" : "nodeName: n7, ", i % 20, 1 + i % 7);
		const struct bt_pod_object *read_pod = &fixture_read(t->f, t->text.ptr)->pod;
		out[i] = (struct bt_pod_object){
			.meta = bt_copy_meta(&t->f->arena, BT_COPY_ALL, &read_pod->meta),
			.spec = bt_copy_pod_spec(&t->f->arena, BT_COPY_ALL, &read_pod->spec)};
	}
}

static uint32_t enter(struct trial *t, const struct bt_pod_object *kinds, uint32_t number)
{
	struct bt_pod_object pod = kinds[number % SIGNATURES];
	struct bt_decision decision;
	enum bt_entry entry;
	char name[32], uid[48];
	uint32_t ix;

	snprintf(name, sizeof(name), "app-%" PRIu32 "-%08" PRIx32, number % SIGNATURES, number);
	snprintf(uid, sizeof(uid), "00000000-0000-4000-8000-%012" PRIx32, number);
	pod.meta.name = bt_str(name);
	pod.meta.uid = bt_str(uid);
	assert_int_equal(bt_engine_add_pod(t->engine, &pod, &entry, &ix), BT_OK);
	if (entry == BT_ENTERED_QUEUE) {
		assert_int_equal(bt_engine_pop(t->engine), ix);
		bt_engine_decide(t->engine, ix, &decision);
		assert_int_equal(decision.outcome, BT_PLACED);
	}
	return ix;
}

static void memory_follows_the_pods_that_are_there(void **state)
{
	static struct bt_pod_object kinds[SIGNATURES];
	struct trial t = begin(state);
	uint32_t *alive = bt_mem_zalloc(alive_n, sizeof(*alive));
	char node[16];
	struct memory early = {0};

	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(node, sizeof(node), "n%" PRIu32, i);
		const struct bt_object *object = read(&t,
			"{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: "
			"'%s', "
			"memory: 64Gi, pods: '100000'}}}",
			node, "1000");
		assert_int_equal(bt_engine_apply_node(t.engine, &object->node, &(uint32_t){0}), BT_OK);
	}
	read_kinds(&t, kinds);
	measure(0);
	for (uint32_t i = 0; i < pod_n; i++) {
		if (i >= alive_n) {
			bt_engine_remove_pod(t.engine, alive[i % alive_n]);
		}
		alive[i % alive_n] = enter(&t, kinds, i);
		if (i == pod_n / 10) {
			early = measure(i);
		}
	}
	struct memory late = measure(pod_n);
	assert_in_range(late.in_use, 0, early.in_use + early.in_use / 50 + 65536);
	assert_in_range(late.resident, 0, early.resident + early.resident / 20 + ((size_t)4 << 20));
	struct bt_intern *intern = bt_engine_cache(t.engine)->dictionary->intern;
	assert_int_equal(bt_intern_find(intern, bt_str("app-0-00000000")), BT_NAME_NONE);
	assert_in_range(bt_intern_count(intern), 2 * alive_n, 2 * alive_n + 3 * SIGNATURES);
	bt_mem_free(alive);
	end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {FIXTURE_TEST(memory_follows_the_pods_that_are_there)};

	if (argc == 3) {
		pod_n = (uint32_t)strtoul(argv[1], NULL, 10);
		alive_n = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
