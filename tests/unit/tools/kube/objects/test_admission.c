/* SPDX-License-Identifier: Apache-2.0
 * An object's path from reader to scheduler: defaults, priorities, rejections, pods of workloads.
 */
#include "kube_fixture.h"

#include "engine/base/buf.h"
#include "tools/kube/objects/admission.h"

/* The output, one per line. */
struct outcome {
	struct bt_buf admitted, refused;
};

static void note_admitted(void *context, struct bt_object *object, bool made)
{
	struct outcome *outcome = context;
	char name[256];

	bt_object_name(object, name, sizeof(name));
	bt_buf_printf(&outcome->admitted, "%s%s", name, made ? " made" : "");
	if (object->kind == BT_KIND_POD) {
		bt_buf_printf(&outcome->admitted, " %s%d %.*s", object->pod.spec.has_priority ? "" : "?",
			object->pod.spec.priority, BT_STR_ARG(object->pod.spec.preemption_policy));
	}
	if (object->kind == BT_KIND_POD_GROUP) {
		bt_buf_printf(&outcome->admitted, " %d %.*s", object->pod_group.priority,
			BT_STR_ARG(object->pod_group.preemption_policy));
	}
	bt_buf_char(&outcome->admitted, '\n');
}

static void note_refused(void *context, const struct bt_diagnosis *diagnosis)
{
	struct outcome *outcome = context;

	bt_diagnosis_text(diagnosis, &outcome->refused);
	bt_buf_char(&outcome->refused, '\n');
}

static struct bt_admission begin(struct outcome *outcome)
{
	bt_buf_text(&outcome->admitted, "");
	bt_buf_text(&outcome->refused, "");
	return (struct bt_admission){
		.admitted = note_admitted,
		.context = outcome,
		.report = note_refused,
		.report_context = outcome,
	};
}

static void take(struct fixture *fixture, struct bt_admission *admission, const char *json)
{
	struct bt_object object = fixture_read(fixture, json);

	bt_admission_object(admission, &object);
}

static void end(struct bt_admission *admission, struct outcome *outcome)
{
	bt_admission_fini(admission);
	bt_buf_fini(&outcome->admitted);
	bt_buf_fini(&outcome->refused);
}

#define POD(name, spec)                                                                                      \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "}}"
#define CLASS(name, more)                                                                                    \
	"{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":\"" name \
	"\"},\"value\":7" more "}"

static void pods_without_a_priority_wait_for_their_class(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);

	take(*state, &admission, POD("plain", ""));
	take(*state, &admission, POD("gold", "\"priorityClassName\":\"gold\""));
	take(*state, &admission, POD("own", "\"priority\":3"));
	take(*state, &admission, POD("there", "\"nodeName\":\"n\""));
	assert_string_equal(outcome.admitted.ptr, "Pod default/own 3 \nPod default/there ?0 \n");
	take(*state, &admission, CLASS("gold", ",\"preemptionPolicy\":\"Never\""));
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.admitted.ptr, "Pod default/own 3 \nPod default/there ?0 \n"
						  "PriorityClass gold\n"
						  "Pod default/plain 0 PreemptLowerPriority\n"
						  "Pod default/gold 7 Never\n");
	/* Classes are stored. */
	bt_buf_clear(&outcome.admitted);
	take(*state, &admission, POD("late", "\"priorityClassName\":\"gold\""));
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.admitted.ptr, "Pod default/late 7 Never\n");
	assert_string_equal(outcome.refused.ptr, "");
	end(&admission, &outcome);
}

#define GROUP(name, spec)                                                                                    \
	"{\"apiVersion\":\"scheduling.k8s.io/v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"" name \
	"\"},\"spec\":{" spec "}}"

static void groups_without_a_priority_wait_for_their_class(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);

	take(*state, &admission, GROUP("gold", "\"priorityClassName\":\"gold\""));
	take(*state, &admission, GROUP("plain", ""));
	take(*state, &admission, GROUP("none", "\"priorityClassName\":\"none\""));
	take(*state, &admission, POD("member", "\"priorityClassName\":\"gold\""));
	take(*state, &admission, GROUP("own", "\"priority\":3"));
	assert_string_equal(outcome.admitted.ptr, "PodGroup default/own 3 \n");
	bt_buf_clear(&outcome.admitted);
	take(*state, &admission, CLASS("gold", ",\"preemptionPolicy\":\"Never\""));
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.admitted.ptr, "PriorityClass gold\n"
						  "PodGroup default/gold 7 Never\n"
						  "PodGroup default/plain 0 PreemptLowerPriority\n"
						  "Pod default/member 7 Never\n");
	assert_string_equal(outcome.refused.ptr,
		"PodGroup default/none: spec.priorityClassName: there is no such PriorityClass; the API "
		"server would refuse the PodGroup; add the class to the input\n");
	end(&admission, &outcome);
}

static void requests_that_the_api_server_denies_are_denied(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);

	take(*state, &admission, POD("none", "\"priorityClassName\":\"none\""));
	take(*state, &admission,
		POD("below", "\"priority\":1,\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
			     "\"cpu\":\"-1\"}}}]"));
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.admitted.ptr, "");
	assert_string_equal(outcome.refused.ptr,
		"Pod default/below: spec.containers[].resources.requests: an amount is below zero; the API "
		"server would refuse the pod; write 0 or more\n"
		"Pod default/none: spec.priorityClassName: there is no such PriorityClass; the API server "
		"would "
		"refuse the pod; add the class to the input\n");
	end(&admission, &outcome);
}

static const char deployment[] =
	"{\"apiVersion\":\"apps/"
	"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":2,"
	"\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},"
	"\"spec\":{"
	"\"containers\":[{\"name\":\"c\"}]}}}}";

static void workloads_get_their_pods_once(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);
	size_t made_n = 0;

	take(*state, &admission, deployment);
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.admitted.ptr, "Deployment default/web\n");
	admission.expand = true;
	take(*state, &admission, deployment);
	bt_admission_finish(&admission, NULL);
	bt_admission_finish(&admission, NULL);
	for (const char *at = outcome.admitted.ptr; (at = strstr(at, " made")); at++) {
		made_n++;
	}
	/* Two pods, and the ReplicaSet that selects them. */
	assert_int_equal(made_n, 3);
	assert_non_null(strstr(outcome.admitted.ptr, "ReplicaSet default/web-"));
	end(&admission, &outcome);
}

static void dropping_forgets_what_waits(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);

	admission.expand = true;
	take(*state, &admission, POD("plain", ""));
	take(*state, &admission, deployment);
	bt_admission_drop(&admission);
	bt_buf_clear(&outcome.admitted);
	bt_buf_text(&outcome.admitted, "");
	bt_admission_finish(&admission, NULL);
	assert_int_equal(outcome.admitted.len, 0);
	end(&admission, &outcome);
}

static void nothing_is_logged_after_the_stop(void **state)
{
	struct outcome outcome = {0};
	struct bt_admission admission = begin(&outcome);
	bool stop = true;

	admission.stop = &stop;
	take(*state, &admission, POD("none", "\"priorityClassName\":\"none\""));
	bt_admission_finish(&admission, NULL);
	assert_string_equal(outcome.refused.ptr, "");
	end(&admission, &outcome);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE(pods_without_a_priority_wait_for_their_class),
		FIXTURE(groups_without_a_priority_wait_for_their_class),
		FIXTURE(requests_that_the_api_server_denies_are_denied),
		FIXTURE(workloads_get_their_pods_once),
		FIXTURE(dropping_forgets_what_waits),
		FIXTURE(nothing_is_logged_after_the_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
