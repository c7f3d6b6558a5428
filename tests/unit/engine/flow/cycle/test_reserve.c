/* SPDX-License-Identifier: Apache-2.0
 * Volumes and claims that are added, changed and deleted between the two halves of a cycle.
 */
#include "lab.h"

#define CLAIM_AS(name, uid, meta, spec)                                                                      \
	"{'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'namespace': 'default', "        \
	"'name': '" name "', 'uid': '" uid "'" meta "}, 'spec': {'accessModes': ['ReadWriteOnce'], "         \
	"'resources': {'requests': {'storage': '1Gi'}}" spec "}, 'status': {'phase': 'Pending'}}"
#define CLAIM(name, class_) CLAIM_AS(name, "u-" name, "", ", 'storageClassName': '" class_ "'")
#define BOUND(name)                                                                                          \
	CLAIM_AS(name, "u-" name, ", 'annotations': {'pv.kubernetes.io/bind-completed': 'yes'}",             \
		", 'storageClassName': 'none', 'volumeName': 'v'")
#define LATE_CLAIM_OF(version)                                                                               \
	CLAIM_AS("c", "u-c", ", 'resourceVersion': '" version "'", ", 'storageClassName': 'late'")
#define VOLUME(meta)                                                                                         \
	"{'apiVersion': 'v1', 'kind': 'PersistentVolume', 'metadata': {'name': 'v'" meta                     \
	"}, 'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'static', 'capacity': "           \
	"{'storage': '2Gi'}, 'local': {'path': '/x'}}, 'status': {'phase': 'Available'}}"
#define CLASS(name, provisioner)                                                                             \
	"{'apiVersion': 'storage.k8s.io/v1', 'kind': 'StorageClass', 'metadata': {'name': '" name            \
	"'}, 'provisioner': '" provisioner "', 'volumeBindingMode': 'WaitForFirstConsumer'}"

/* A popped pod with one claim; the first half of the cycle has found a volume or device for it. */
struct trial {
	struct lab lab;
	struct bt_decision decision;
};

static struct bt_engine *engine_of(struct trial *t)
{
	return bt_pipeline_engine(t->lab.pipeline);
}

static void show(struct trial *t, enum bt_watch_event_kind kind, const char *text)
{
	lab_feed(&t->lab, lab_watch_event(&t->lab, kind, text));
	lab_take_in(&t->lab);
}

static void begin_with(struct trial *t, const char *claim, const char *volume)
{
	*t = (struct trial){.lab = {.now_ns = 1}};
	const struct bt_pipeline_options options = lab_options(&t->lab);

	lab_begin(&t->lab, &options);
	show(t, BT_WATCH_EVENT_APPLY, CLASS("late", "csi.example.com"));
	show(t, BT_WATCH_EVENT_APPLY, CLASS("static", "kubernetes.io/no-provisioner"));
	show(t, BT_WATCH_EVENT_APPLY, volume);
	show(t, BT_WATCH_EVENT_APPLY, claim);
	lab_node(&t->lab, "n1");
	lab_pod_event(&t->lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u-p'",
		", 'volumes': [{'name': 'd', 'persistentVolumeClaim': {'claimName': 'c'}}]");
	lab_take_in(&t->lab);
	uint32_t pod_ix = bt_engine_pop(engine_of(t));
	assert_int_not_equal(pod_ix, BT_NO_POD);
	bt_engine_begin(engine_of(t), pod_ix, &t->decision);
	assert_int_equal(t->decision.outcome, BT_PLACED);
}

static void begin(struct trial *t, const char *claim)
{
	begin_with(t, claim, VOLUME(""));
}

static void end(struct trial *t)
{
	lab_end(&t->lab);
}

/* The second half fails with this text, nothing is assumed, and the pod goes to backoff. */
static void assert_fails(struct trial *t, const char *words)
{
	bt_engine_end(engine_of(t), &t->decision);
	assert_int_equal(t->decision.outcome, BT_FAILED);
	struct bt_str why = bt_engine_end_error(engine_of(t));
	assert_int_equal(why.len, strlen(words));
	assert_memory_equal(why.ptr, words, why.len);
	assert_int_equal(lab_find(&t->lab, "p")->state, BT_POD_QUEUED);
	assert_int_equal(bt_engine_counts(engine_of(t)).queue.backoff_n, 1);
	const struct bt_storage *storage = bt_engine_cache(engine_of(t))->view.storage;
	assert_false(storage->pvs && storage->pvs[0].assumed);
	assert_false(storage->claims && storage->claims[0].assumed);
	end(t);
}

static void assert_placed(struct trial *t)
{
	bt_engine_end(engine_of(t), &t->decision);
	assert_int_equal(t->decision.outcome, BT_PLACED);
	assert_int_equal(lab_find(&t->lab, "p")->state, BT_POD_ASSUMED);
	end(t);
}

#define RESERVE	 "running Reserve plugin \"VolumeBinding\": "
#define PRE_BIND "running PreBind plugin \"VolumeBinding\": binding volumes: failed to check binding: "

static void deleted_objects_fail_the_cycle(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, CLAIM("c", "late"));
	show(&t, BT_WATCH_EVENT_DELETE, CLAIM("c", "late"));
	assert_fails(&t, RESERVE "persistentvolumeclaims \"default/c\" not found");
	begin(&t, CLAIM("c", "static"));
	show(&t, BT_WATCH_EVENT_DELETE, VOLUME(""));
	assert_fails(&t, RESERVE "persistentvolumes \"v\" not found");
	begin(&t, CLAIM("c", "static"));
	show(&t, BT_WATCH_EVENT_DELETE, CLAIM("c", "static"));
	assert_fails(&t, PRE_BIND "persistentvolumeclaims \"default/c\" not found");
}

static void changed_objects_fail_the_cycle(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, LATE_CLAIM_OF("7"));
	show(&t, BT_WATCH_EVENT_APPLY, LATE_CLAIM_OF("12"));
	assert_fails(&t, RESERVE "\"default/c\" is out of sync (stored: 12, assume: 7)");
	begin(&t, CLAIM("c", "late"));
	show(&t, BT_WATCH_EVENT_DELETE, CLAIM("c", "late"));
	show(&t, BT_WATCH_EVENT_APPLY, CLAIM_AS("c", "u-other", "", ", 'storageClassName': 'late'"));
	assert_fails(&t, RESERVE "\"default/c\" is out of sync (stored: , assume: )");
	begin(&t, CLAIM("c", "static"));
	show(&t, BT_WATCH_EVENT_APPLY, VOLUME(", 'resourceVersion': '9'"));
	assert_fails(&t, RESERVE "\"v\" is out of sync (stored: 9, assume: )");
}

#define VOLUME_OF(uid, meta)                                                                                 \
	"{'apiVersion': 'v1', 'kind': 'PersistentVolume', 'metadata': {'name': 'v'" meta                     \
	"}, 'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'static', 'capacity': "           \
	"{'storage': '2Gi'}, 'local': {'path': '/x'}, 'claimRef': {'namespace': 'default', 'name': 'c'" uid  \
	"}}, 'status': {'phase': 'Available'}}"

/* There is nothing to assume for it. */
static void a_volume_that_is_the_claims_already_may_change(void **state)
{
	struct trial t;

	(void)state;
	begin_with(&t, CLAIM("c", "static"), VOLUME_OF(", 'uid': 'u-c'", ""));
	show(&t, BT_WATCH_EVENT_APPLY, VOLUME_OF(", 'uid': 'u-c'", ", 'resourceVersion': '9'"));
	assert_placed(&t);
	begin_with(&t, CLAIM("c", "static"), VOLUME_OF("", ""));
	show(&t, BT_WATCH_EVENT_APPLY, VOLUME_OF("", ", 'resourceVersion': '9'"));
	assert_fails(&t, RESERVE "\"v\" is out of sync (stored: 9, assume: )");
	begin_with(&t, CLAIM("c", "static"), VOLUME_OF(", 'uid': 'u-c'", ""));
	show(&t, BT_WATCH_EVENT_DELETE, VOLUME(""));
	assert_fails(&t, "running PreBind plugin \"VolumeBinding\": persistentvolumes \"v\" not found");
}

static void changes_of_other_objects_do_not_fail_the_cycle(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, CLAIM("c", "late"));
	show(&t, BT_WATCH_EVENT_APPLY, CLAIM("other", "late"));
	show(&t, BT_WATCH_EVENT_DELETE, VOLUME(""));
	assert_placed(&t);
	begin(&t, CLAIM("c", "static"));
	show(&t, BT_WATCH_EVENT_APPLY, CLAIM("other", "late"));
	assert_placed(&t);
}

/* By another scheduler: then there is nothing to assume. */
static void claims_that_are_bound_meanwhile_are_left_alone(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, CLAIM("c", "late"));
	show(&t, BT_WATCH_EVENT_APPLY, BOUND("c"));
	assert_placed(&t);
	begin(&t, CLAIM("c", "static"));
	show(&t, BT_WATCH_EVENT_DELETE, VOLUME(""));
	show(&t, BT_WATCH_EVENT_APPLY, BOUND("c"));
	assert_placed(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deleted_objects_fail_the_cycle),
		cmocka_unit_test(changed_objects_fail_the_cycle),
		cmocka_unit_test(a_volume_that_is_the_claims_already_may_change),
		cmocka_unit_test(changes_of_other_objects_do_not_fail_the_cycle),
		cmocka_unit_test(claims_that_are_bound_meanwhile_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
