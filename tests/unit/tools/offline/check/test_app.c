/* SPDX-License-Identifier: Apache-2.0
 * Reading an application: its workloads with their places, whose a pod is, and what cannot be judged.
 */
#include "app_fixture.h"

static void workloads_have_the_place_of_their_manifest(void **state)
{
	struct app_fixture f;

	(void)state;
	begin_app(&f,
		"apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\n" MANIFEST(
			"Deployment", "web") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: "
					     "team}\nspec: {containers: [{name: c}]}\n",
		"");
	assert_int_equal(f.status, BT_EXIT_OK);
	assert_int_equal(f.app.object_n, 3);
	assert_int_equal(f.app.workload_n, 2);
	assert_string_equal(f.app.workloads[0].label, "Deployment default/web");
	assert_string_equal(f.app.workloads[0].file, f.path);
	assert_int_equal(f.app.workloads[0].line, 5);
	assert_int_equal(f.app.workloads[0].object, 1);
	assert_string_equal(f.app.workloads[1].label, "Pod team/p");
	assert_int_equal(f.app.workloads[1].line, 10);
	end_app(&f);
}

/* The workload of a pod with this metadata. */
static uint32_t workload_of(struct fixture *f, const struct bt_app *app, const char *metadata, bool made)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Pod, metadata: {%s}, spec: {containers: [{name: c}]}}", metadata);
	return bt_app_workload_of(app, &fixture_read(f, f->text.ptr)->pod, made);
}

#define OWNED(space, kind, owner)                                                                            \
	"namespace: " space ", name: x, ownerReferences: [{apiVersion: a, kind: " kind ", name: " owner      \
	", uid: u, controller: true}]"

static void a_pod_is_of_its_controllers_workload(void **state)
{
	struct app_fixture f;
	const struct bt_app *app = &f.app;

	begin_app(&f,
		MANIFEST("Deployment", "web") "---\n" MANIFEST("StatefulSet", "db") "---\napiVersion: "
										    "batch/v1\nkind: "
										    "CronJob\nmetadata: "
										    "{name: tick}\n",
		"");
	assert_int_equal(f.status, BT_EXIT_OK);
	assert_int_equal(workload_of(*state, app, OWNED("default", "ReplicaSet", "web-5d4f"), false), 0);
	assert_int_equal(workload_of(*state, app, OWNED("default", "StatefulSet", "db"), false), 1);
	assert_int_equal(workload_of(*state, app, OWNED("default", "Job", "tick-123"), true), 2);
	/* Earlier runs go on. */
	assert_int_equal(
		workload_of(*state, app, OWNED("default", "Job", "tick-123"), false), BT_NO_WORKLOAD);
	assert_int_equal(workload_of(*state, app, OWNED("team", "StatefulSet", "db"), false), BT_NO_WORKLOAD);
	assert_int_equal(
		workload_of(*state, app, OWNED("default", "StatefulSet", "web"), false), BT_NO_WORKLOAD);
	assert_int_equal(
		workload_of(*state, app, OWNED("default", "ReplicaSet", "web"), false), BT_NO_WORKLOAD);
	assert_int_equal(workload_of(*state, app, "namespace: default, name: web", false), BT_NO_WORKLOAD);
	end_app(&f);
}

/* The status of an application of a text. */
static int status_of(const char *text, const char *options)
{
	struct app_fixture f;

	begin_app(&f, text, options);
	end_app(&f);
	return f.status;
}

static void what_cannot_be_judged_is_an_error(void **state)
{
	static const char pod[] = MANIFEST("Deployment", "web");

	(void)state;
	assert_int_equal(status_of(pod, ""), BT_EXIT_OK);
	assert_int_equal(
		status_of("{apiVersion: v1, kind: Service, metadata: {name: s}}", ""), BT_EXIT_INPUT);
	assert_int_equal(status_of(MANIFEST("Deployment", "web") "---\n" MANIFEST("Deployment", "web"), ""),
		BT_EXIT_INPUT);
	assert_int_equal(
		status_of(MANIFEST("Deployment", "web") "---\n{apiVersion: v1, kind: Node, metadata: {name: "
							"n}}",
			""),
		BT_EXIT_INPUT);
	assert_int_equal(status_of(MANIFEST("Deployment", "web") "---\n[1]\n", ""), BT_EXIT_INPUT);
	assert_int_equal(status_of(pod, "-f /nowhere"), BT_EXIT_INPUT);
	assert_int_equal(status_of("", ""), BT_EXIT_INPUT);
}

static void kinds_that_are_unknown_may_make_pods(void **state)
{
#define WITH(object) MANIFEST("Deployment", "web") "---\n" object
	(void)state;
	assert_int_equal(
		status_of(WITH("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"), ""), BT_EXIT_OK);
	assert_int_equal(status_of(WITH("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: "
					"c}}"),
				 ""),
		BT_EXIT_OK);
	/* The same word in another project's group. */
	assert_int_equal(
		status_of(WITH("{apiVersion: example.com/v1, kind: Ingress, metadata: {name: c}}"), ""),
		BT_EXIT_INPUT);
	assert_int_equal(
		status_of(WITH("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: c}}"), ""),
		BT_EXIT_INPUT);
	assert_int_equal(status_of(WITH("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: c}}"),
				 "--ignore-kind Gadget"),
		BT_EXIT_OK);
	assert_int_equal(
		status_of(WITH("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: c}}"), ""),
		BT_EXIT_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workloads_have_the_place_of_their_manifest),
		FIXTURE_TEST(a_pod_is_of_its_controllers_workload),
		cmocka_unit_test(what_cannot_be_judged_is_an_error),
		cmocka_unit_test(kinds_that_are_unknown_may_make_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
