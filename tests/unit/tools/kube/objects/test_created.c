/* SPDX-License-Identifier: Apache-2.0
 * What admission makes of objects that are being created: StorageClasses, RuntimeClasses, LimitRanges,
 * ResourceQuotas, and claims of workloads and ephemeral volumes.
 */
#include "kube_fixture.h"

#include "engine/base/buf.h"
#include "tools/format/encode.h"
#include "tools/kube/objects/admission.h"

struct created {
	struct fixture *fixture;
	struct bt_admission admission;
	struct bt_buf admitted; /* pods and claims, one a line, as JSON */
	struct bt_buf reported;
};

static void keep_admitted(void *context, struct bt_object *object, bool made)
{
	struct created *c = context;

	(void)made;
	if (object->kind == BT_KIND_POD || object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		bt_object_encode(object, &c->admitted);
		bt_buf_char(&c->admitted, '\n');
	}
}

static void keep_reported(void *context, const struct bt_diagnosis *diagnosis)
{
	struct created *c = context;

	bt_buf_text(&c->reported, diagnosis->severity == BT_ADVICE ? "warning: " : "");
	bt_diagnosis_text(diagnosis, &c->reported);
	bt_buf_char(&c->reported, '\n');
}

static int created_setup(void **state)
{
	struct created *c = calloc(1, sizeof(*c));
	void *fixture = NULL;

	fixture_setup(&fixture);
	c->fixture = fixture;
	c->admission = (struct bt_admission){.admitted = keep_admitted,
		.context = c,
		.report = keep_reported,
		.report_context = c,
		.expand = true};
	*state = c;
	return 0;
}

static int created_teardown(void **state)
{
	struct created *c = *state;
	void *fixture = c->fixture;

	bt_admission_fini(&c->admission);
	bt_buf_fini(&c->admitted);
	bt_buf_fini(&c->reported);
	fixture_teardown(&fixture);
	free(c);
	return 0;
}

static void take(struct created *c, const char *json)
{
	struct bt_object object = fixture_read(c->fixture, json);

	bt_admission_object(&c->admission, &object);
}

/* Ends the input. What was admitted and reported is terminated. */
static void finish(struct created *c)
{
	bt_admission_finish(&c->admission, NULL);
	bt_buf_char(&c->admitted, '\0');
	bt_buf_char(&c->reported, '\0');
}

/* The line of the object of that name, up to its end. */
static const char *line_of(struct created *c, const char *name)
{
	static char line[4096];
	char wanted[100];

	snprintf(wanted, sizeof(wanted), "\"name\":\"%s\",\"namespace\"", name);
	for (const char *at = c->admitted.ptr; *at; at = strchr(at, '\n') + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(strchr(at, '\n') - at), at);
		if (strstr(line, wanted)) {
			return line;
		}
	}
	fail_msg("%s is not admitted; reported: %s", name, c->reported.ptr);
	return NULL;
}

static void assert_has(struct created *c, const char *name, const char *part)
{
	const char *line = line_of(c, name);

	if (!strstr(line, part)) {
		fail_msg("%s lacks %s: %s", name, part, line);
	}
}

static void assert_reported(struct created *c, const char *text)
{
	if (!strstr(c->reported.ptr, text)) {
		fail_msg("\"%s\" lacks \"%s\"", c->reported.ptr, text);
	}
}

#define OBJECT(version, kind, meta, rest)                                                                    \
	"{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"metadata\":{" meta "}" rest "}"
#define POD(name, spec)	  OBJECT("v1", "Pod", "\"name\":\"" name "\"", ",\"spec\":{" spec "}")
#define BOX(resources)	  "\"containers\":[{\"name\":\"c\",\"resources\":{" resources "}}]"
#define CLAIM(meta, spec) OBJECT("v1", "PersistentVolumeClaim", meta, ",\"spec\":{" spec "}")
#define CLASS(name, date, yes)                                                                               \
	OBJECT("storage.k8s.io/v1", "StorageClass",                                                          \
		"\"name\":\"" name "\",\"creationTimestamp\":\"" date                                        \
		"\",\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"" yes "\"}",          \
		",\"provisioner\":\"p\"")
#define RANGE(limits) OBJECT("v1", "LimitRange", "\"name\":\"lr\"", ",\"spec\":{\"limits\":[" limits "]}")

/* ---- StorageClasses ---- */

static void a_claim_without_a_class_gets_the_newest_default(void **state)
{
	struct created *c = *state;

	take(c, CLAIM("\"name\":\"plain\"", ""));
	take(c, CLAIM("\"name\":\"none\"", "\"storageClassName\":\"\""));
	take(c, CLAIM("\"name\":\"own\"", "\"storageClassName\":\"gold\""));
	take(c, CLAIM("\"name\":\"old\",\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"x\"}",
			""));
	take(c, CLAIM("\"name\":\"there\",\"uid\":\"u\"", ""));
	take(c, CLASS("first", "2024-01-01T00:00:00Z", "true"));
	take(c, CLASS("zeta", "2025-01-01T00:00:00Z", "true"));
	take(c, CLASS("beta", "2025-01-01T00:00:00Z", "true"));
	take(c, CLASS("newest", "2026-01-01T00:00:00Z", "false"));
	finish(c);
	assert_has(c, "plain", "\"storageClassName\":\"beta\"");
	assert_has(c, "none", "\"storageClassName\":\"\"");
	assert_has(c, "own", "\"storageClassName\":\"gold\"");
	assert_null(strstr(line_of(c, "old"), "storageClassName"));
	assert_null(strstr(line_of(c, "there"), "storageClassName"));
}

/* ---- claims that controllers create ---- */

#define SET                                                                                                  \
	OBJECT("apps/v1", "StatefulSet", "\"name\":\"db\"",                                                  \
		",\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{\"app\":\"db\"}},\"template\":{"   \
		"\"metadata\":{\"labels\":{\"app\":\"db\"}},\"spec\":{" BOX(                                 \
			"") "}},"                                                                            \
			    "\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\",\"labels\":{"        \
			    "\"tier\":\"1\"}},"                                                              \
			    "\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}]}")

static void a_stateful_set_has_claims_of_its_templates(void **state)
{
	struct created *c = *state;

	take(c, SET);
	take(c, CLASS("fast", "2024-01-01T00:00:00Z", "true"));
	take(c, CLAIM("\"name\":\"data-db-1\",\"uid\":\"u\"", "\"storageClassName\":\"slow\""));
	finish(c);
	assert_has(c, "data-db-0", "\"storageClassName\":\"fast\"");
	assert_has(c, "data-db-0", "\"labels\":{\"tier\":\"1\",\"app\":\"db\"}");
	assert_has(c, "data-db-0", "\"requests\":{\"storage\":\"1Gi\"}");
	assert_has(c, "data-db-1", "\"storageClassName\":\"slow\"");
	assert_has(c, "db-0", "\"claimName\":\"data-db-0\"");
	assert_has(c, "db-1", "\"claimName\":\"data-db-1\"");
}

static void a_pod_whose_claim_is_refused_is_not_made(void **state)
{
	struct created *c = *state;

	take(c, RANGE("{\"type\":\"PersistentVolumeClaim\",\"max\":{\"storage\":\"512Mi\"}}"));
	take(c, SET);
	finish(c);
	assert_string_equal(c->admitted.ptr, "");
	assert_reported(c,
		"PersistentVolumeClaim default/data-db-0: spec.resources.requests: maximum storage "
		"usage per PersistentVolumeClaim is 512Mi, but request is 1Gi");
}

static void an_ephemeral_volume_gets_a_claim_of_its_pod(void **state)
{
	struct created *c = *state;

	take(c, POD("p", BOX("") ",\"volumes\":[{\"name\":\"tmp\",\"ephemeral\":{\"volumeClaimTemplate\":{"
				 "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"accessModes\":["
				 "\"ReadWriteOnce\"]}}}}]"));
	take(c, CLASS("fast", "2024-01-01T00:00:00Z", "true"));
	finish(c);
	assert_has(c, "p-tmp", "\"storageClassName\":\"fast\"");
	assert_has(c, "p-tmp", "\"labels\":{\"a\":\"b\"}");
	/* The claim is the pod's by its uid. */
	char uid[37];
	snprintf(uid, sizeof(uid), "%.36s", strstr(line_of(c, "p"), "\"uid\":\"") + 7);
	assert_has(c, "p-tmp", uid);
}

static void a_pod_of_an_api_server_stays_as_it_is(void **state)
{
	struct created *c = *state;

	take(c, RANGE("{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}"));
	take(c, OBJECT("v1", "Pod", "\"name\":\"p\",\"uid\":\"u\"",
			",\"spec\":{\"priority\":0," BOX(
				"\"requests\":{\"cpu\":\"2\"}") ",\"volumes\":[{\"name\":"
								"\"tmp\",\"ephemeral\":{"
								"\"volumeClaimTemplate\":{\"spec\":{}}}}]}"));
	take(c, OBJECT("v1", "Pod", "\"name\":\"q\",\"uid\":\"v\"", ",\"spec\":{" BOX("") "}"));
	finish(c);
	assert_null(strstr(line_of(c, "p"), "tolerations"));
	assert_null(strstr(line_of(c, "q"), "tolerations"));
	assert_has(c, "q", "\"priority\":0");
	assert_null(strstr(c->admitted.ptr, "p-tmp"));
	assert_string_equal(c->reported.ptr, "");
}

/* ---- pods ---- */

static void a_created_pod_gets_the_default_tolerations(void **state)
{
	struct created *c = *state;

	take(c, POD("p", BOX("")));
	finish(c);
	assert_has(c, "p",
		"\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
		"\"tolerationSeconds\":300");
}

#define RUNTIME(name, rest) OBJECT("node.k8s.io/v1", "RuntimeClass", "\"name\":\"" name "\"", rest)

static void a_runtime_class_adds_overhead_nodes_and_tolerations(void **state)
{
	struct created *c = *state;

	take(c, POD("p", BOX("") ",\"runtimeClassName\":\"kata\",\"nodeSelector\":{\"a\":\"b\"},"
				 "\"tolerations\":"
				 "[{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\"}]"));
	take(c, RUNTIME("kata", ",\"overhead\":{\"podFixed\":{\"cpu\":\"250m\"}},\"scheduling\":{"
				"\"nodeSelector\":{\"r\":\"kata\"},\"tolerations\":[{\"key\":\"k\","
				"\"operator\":\"Exists\"}]}"));
	finish(c);
	assert_has(c, "p", "\"overhead\":{\"cpu\":\"250m\"}");
	assert_has(c, "p", "\"nodeSelector\":{\"a\":\"b\",\"r\":\"kata\"}");
	assert_has(c, "p", "{\"key\":\"k\",\"operator\":\"Exists\"}");
	/* The wider toleration covers the pod's own. */
	assert_null(strstr(line_of(c, "p"), "\"Equal\""));
}

static void a_pod_that_contradicts_its_runtime_class_is_refused(void **state)
{
	struct created *c = *state;

	take(c, RUNTIME("kata", ",\"overhead\":{\"podFixed\":{\"cpu\":\"250m\"}},\"scheduling\":{"
				"\"nodeSelector\":{\"r\":\"kata\"}}"));
	take(c, POD("over", BOX("") ",\"runtimeClassName\":\"kata\",\"overhead\":{\"cpu\":\"1\"}"));
	take(c, POD("where", BOX("") ",\"runtimeClassName\":\"kata\",\"nodeSelector\":{\"r\":\"x\"}"));
	take(c, POD("which", BOX("") ",\"runtimeClassName\":\"none\""));
	take(c, POD("bare", BOX("") ",\"overhead\":{\"cpu\":\"1\"}"));
	finish(c);
	assert_string_equal(c->admitted.ptr, "");
	assert_reported(
		c, "Pod default/over: spec.runtimeClassName: pod rejected: Pod's Overhead doesn't match");
	assert_reported(c, "Pod default/where: spec.runtimeClassName: conflict: "
			   "runtimeClass.scheduling.nodeSelector[r] = kata; pod.spec.nodeSelector[r] = x");
	assert_reported(c,
		"Pod default/which: spec.runtimeClassName: pod rejected: RuntimeClass \"none\" not "
		"found");
	assert_reported(c, "Pod default/bare: spec.runtimeClassName: pod rejected: Pod Overhead set without");
}

static void limit_ranges_default_requests_and_limits(void **state)
{
	struct created *c = *state;

	take(c, POD("p", BOX("\"requests\":{\"memory\":\"1Gi\"}")));
	take(c, POD("limited", BOX("\"limits\":{\"cpu\":\"500m\"}")));
	take(c, RANGE("{\"type\":\"Container\",\"max\":{\"cpu\":\"2\",\"memory\":\"2Gi\"},\"defaultRequest\":"
		      "{"
		      "\"cpu\":\"100m\"},\"min\":{\"ephemeral-storage\":\"1Mi\"}}"));
	take(c, OBJECT("v1", "LimitRange", "\"name\":\"far\",\"namespace\":\"far\"",
			",\"spec\":{\"limits\":[{\"type\":\"Container\",\"default\":{\"gpu\":\"1\"}}]}"));
	finish(c);
	assert_has(c, "p", "\"limits\":{\"cpu\":\"2\",\"memory\":\"2Gi\"}");
	assert_has(
		c, "p", "\"requests\":{\"memory\":\"1Gi\",\"cpu\":\"100m\",\"ephemeral-storage\":\"1Mi\"}");
	assert_has(c, "limited", "\"limits\":{\"cpu\":\"500m\",\"memory\":\"2Gi\"}");
	/* A limit is a request before LimitRanges are asked. */
	assert_has(c, "limited", "\"requests\":{\"cpu\":\"500m\",");
}

static void limit_ranges_refuse_what_is_too_small_too_large_or_too_uneven(void **state)
{
	struct created *c = *state;

	take(c, RANGE("{\"type\":\"Container\",\"min\":{\"cpu\":\"100m\"},\"max\":{\"cpu\":\"2\"},"
		      "\"maxLimitRequestRatio\":{\"cpu\":\"4\"}},{\"type\":\"Pod\",\"max\":{\"memory\":"
		      "\"1Gi\"}}"));
	take(c, POD("small", BOX("\"requests\":{\"cpu\":\"50m\"},\"limits\":{\"cpu\":\"100m\",\"memory\":"
				 "\"1Mi\"}")));
	take(c, POD("large", BOX("\"limits\":{\"cpu\":\"3\",\"memory\":\"2Gi\"}")));
	take(c, POD("uneven", BOX("\"requests\":{\"cpu\":\"100m\"},\"limits\":{\"cpu\":\"1\",\"memory\":"
				  "\"1Mi\"}")));
	take(c, POD("fine", BOX("\"requests\":{\"cpu\":\"250m\"},\"limits\":{\"cpu\":\"1\",\"memory\":"
				"\"1Gi\"}")));
	finish(c);
	assert_reported(c, "minimum cpu usage per Container is 100m, but request is 50m");
	assert_reported(c,
		"maximum cpu usage per Container is 2, but limit is 3, maximum memory usage per Pod is "
		"1Gi, but limit is 2Gi");
	assert_reported(
		c, "cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000");
	assert_has(c, "fine", "\"name\":\"c\"");
	assert_null(strstr(c->admitted.ptr, "uneven"));
}

/* ---- ResourceQuotas ---- */

#define QUOTA(hard, rest)                                                                                    \
	OBJECT("v1", "ResourceQuota", "\"name\":\"q\"", ",\"spec\":{\"hard\":{" hard "}" rest "}")

static void a_quota_warns_with_numbers_and_blocks_nothing(void **state)
{
	struct created *c = *state;

	take(c, OBJECT("v1", "ResourceQuota", "\"name\":\"q\"",
			",\"spec\":{\"hard\":{\"requests.cpu\":\"3\",\"pods\":\"9\"}},"
			"\"status\":{\"used\":{\"requests.cpu\":\"2\",\"pods\":\"1\"}}"));
	take(c, POD("a", BOX("\"requests\":{\"cpu\":\"1\"}")));
	take(c, POD("b", BOX("\"requests\":{\"cpu\":\"500m\"}")));
	finish(c);
	line_of(c, "a");
	line_of(c, "b");
	assert_reported(c,
		"warning: ResourceQuota default/q: spec.hard[requests.cpu]: exceeded by what the input "
		"creates: used 2, asked for 1500m, limited to 3;");
	assert_null(strstr(c->reported.ptr, "pods]"));
}

static void an_enforced_quota_refuses_what_exceeds_it(void **state)
{
	struct created *c = *state;

	c->admission.enforce_quota = true;
	take(c, QUOTA("\"requests.cpu\":\"1\",\"persistentvolumeclaims\":\"0\"", ""));
	take(c, POD("a", BOX("\"requests\":{\"cpu\":\"1\"}")));
	take(c, POD("b", BOX("\"requests\":{\"cpu\":\"500m\"}")));
	take(c, CLAIM("\"name\":\"claim\"", ""));
	finish(c);
	line_of(c, "a");
	assert_null(strstr(c->admitted.ptr, "\"name\":\"b\""));
	assert_reported(c, "Pod default/b: spec.containers[].resources: exceeded quota: q, requested: "
			   "requests.cpu=500m, used: requests.cpu=1, limited: requests.cpu=1");
	assert_reported(c, "PersistentVolumeClaim default/claim");
}

static void a_quota_counts_pods_of_its_scopes_only(void **state)
{
	struct created *c = *state;

	take(c, QUOTA("\"pods\":\"0\"", ",\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":"
					"\"PriorityClass\",\"operator\":\"In\",\"values\":[\"gold\"]}]}"));
	take(c, OBJECT("v1", "ResourceQuota", "\"name\":\"best\"",
			",\"spec\":{\"hard\":{\"pods\":\"1\"},\"scopes\":[\"BestEffort\"]}"));
	take(c, OBJECT("scheduling.k8s.io/v1", "PriorityClass", "\"name\":\"gold\"", ",\"value\":5"));
	take(c, POD("plain", BOX("")));
	finish(c);
	assert_string_equal(c->reported.ptr, "");
	c->reported.len = 0;
	take(c, POD("gold", BOX("\"requests\":{\"cpu\":\"1\"}") ",\"priorityClassName\":\"gold\""));
	finish(c);
	assert_reported(c, "ResourceQuota default/q: spec.hard[pods]: exceeded");
	assert_null(strstr(c->reported.ptr, "default/best"));
}

/* Two containers and an init container; the first one lacks all, the second one limits. */
#define UNEVEN                                                                                               \
	POD("uneven",                                                                                        \
		"\"containers\":[{\"name\":\"b\",\"image\":\"i\"},{\"name\":\"a\",\"image\":\"i\","          \
		"\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}],\"initContainers\":[{"    \
		"\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]")

static void a_quota_of_cpu_or_memory_requires_amounts_of_every_container(void **state)
{
	struct created *c = *state;

	c->admission.enforce_quota = true;
	take(c, QUOTA("\"cpu\":\"9\",\"limits.cpu\":\"9\",\"limits.memory\":\"9Gi\",\"requests.memory\":"
		      "\"9Gi\","
		      "\"requests.ephemeral-storage\":\"9Gi\",\"pods\":\"9\"",
			""));
	take(c, UNEVEN);
	take(c, POD("whole", BOX("\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}")));
	take(c, POD("level", BOX("") ",\"resources\":{\"requests\":{\"cpu\":\"1\"}}"));
	finish(c);
	assert_reported(c,
		"Pod default/uneven: spec.containers[].resources: failed quota: q: must specify cpu "
		"for: b; limits.cpu for: a,b; limits.memory for: a,b,c; requests.memory for: b,c");
	assert_null(strstr(c->admitted.ptr, "uneven"));
	line_of(c, "whole");
	line_of(c, "level");
}

static void a_quota_that_requires_amounts_warns_of_pods_without(void **state)
{
	struct created *c = *state;

	take(c, QUOTA("\"limits.cpu\":\"9\"", ""));
	take(c, OBJECT("v1", "ResourceQuota", "\"name\":\"best\"",
			",\"spec\":{\"hard\":{\"limits.memory\":\"1\"},\"scopes\":[\"Terminating\"]}"));
	take(c, UNEVEN);
	take(c, POD("bare", BOX("")));
	take(c, POD("whole", BOX("\"limits\":{\"cpu\":\"1\"}")));
	finish(c);
	line_of(c, "uneven");
	line_of(c, "bare");
	assert_reported(c,
		"warning: ResourceQuota default/q: spec.hard: requires amounts that 2 of the created "
		"pods lack: must specify limits.cpu for: a,b;");
	assert_null(strstr(c->reported.ptr, "default/best"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, created_setup, created_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_claim_without_a_class_gets_the_newest_default),
		TEST(a_stateful_set_has_claims_of_its_templates),
		TEST(a_pod_whose_claim_is_refused_is_not_made),
		TEST(an_ephemeral_volume_gets_a_claim_of_its_pod),
		TEST(a_pod_of_an_api_server_stays_as_it_is),
		TEST(a_created_pod_gets_the_default_tolerations),
		TEST(a_runtime_class_adds_overhead_nodes_and_tolerations),
		TEST(a_pod_that_contradicts_its_runtime_class_is_refused),
		TEST(limit_ranges_default_requests_and_limits),
		TEST(limit_ranges_refuse_what_is_too_small_too_large_or_too_uneven),
		TEST(a_quota_warns_with_numbers_and_blocks_nothing),
		TEST(an_enforced_quota_refuses_what_exceeds_it),
		TEST(a_quota_counts_pods_of_its_scopes_only),
		TEST(a_quota_of_cpu_or_memory_requires_amounts_of_every_container),
		TEST(a_quota_that_requires_amounts_warns_of_pods_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
