/* SPDX-License-Identifier: Apache-2.0
 * PreBind's writes of volumes and claims, and their reversal when the binding fails.
 */
#include "fake.h"

#define PV    "/api/v1/persistentvolumes/v"
#define PVC   "/api/v1/namespaces/ns/persistentvolumeclaims/"
#define CLAIM "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c"
#define CLASS "/apis/resource.k8s.io/v1/deviceclasses/gpu"
#define BOUND_AS(uid, note, spec)                                                                            \
	"{\"metadata\":{\"uid\":\"" uid                                                                      \
	"\",\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n1\"" note "}},\"spec\":{" spec "}}"
#define BOUND	BOUND_AS("u-a", ",\"pv.kubernetes.io/bind-completed\":\"yes\"", "\"volumeName\":\"v\"")
#define UNBOUND BOUND_AS("u-a", "", "")
#define EVERYWHERE                                                                                           \
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"v\"},\"spec\":{}}"
#define IN_ZONE_OF(zone, uid)                                                                                \
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"v\"},\"spec\":{"      \
	"\"claimRef\":{\"name\":\"a\",\"uid\":\"" uid "\"},"                                                 \
	"\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","   \
	"\"operator\":\"In\",\"values\":[\"" zone "\"]}]}]}}}}"
#define NODE_IN(zone)                                                                                        \
	"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":"       \
	"\"" zone "\"}}}"
#define OF_VERSION(version)                                                                                  \
	"[{\"op\":\"replace\",\"path\":\"/metadata/uid\",\"value\":\"u-c\"},{\"op\":\"replace\",\"path\":"   \
	"\"/metadata/resourceVersion\",\"value\":\"" version "\"},"

static int begin(void **state)
{
	(void)state;
	fake_begin((struct bt_writer_options){.qps = -1, .volume_timeout_ns = 60 * FAKE_S});
	show("p", "7", "");
	return 0;
}

static void bind_with(const struct bt_bind_request_volume *volumes, uint32_t volume_n,
	const struct bt_bind_request_claim *claims, uint32_t claim_n)
{
	struct bt_bind_request bind_request = fake_bind_request(1, "p", "u", "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	bind_request.volumes = volumes;
	bind_request.volume_n = volume_n;
	bind_request.claims = claims;
	bind_request.claim_n = claim_n;
	binder.bind(binder.context, NULL, &bind_request);
	fake_pass(0);
}

static uint32_t last(void)
{
	return fake.call_n - 1;
}

/* Only the binding is left to write, and succeeds. reports: the reports then. */
static void expect_binding(const char *reports)
{
	sent(last(), "POST", BINDING);
	fake_answer(last(), 201, "{}");
	expect_reports(reports);
}

static void expect_body(const char *body)
{
	assert_string_equal(fake.calls[last()].body, body);
}

/* ---- volumes ---- */

static const struct bt_bind_request_volume has_volume = {BT_STR("a"), BT_STR("u-a"), BT_STR("v")};
static const struct bt_bind_request_volume wants_volume = {BT_STR("a"), BT_STR("u-a"), BT_STR("")};

/* A check of the volumes starts with the node, in zone z1, and with the claim. */
static void see_node(void)
{
	sent(last(), "GET", "/api/v1/nodes/n1");
	fake_answer(last(), 200, NODE_IN("z1"));
	sent(last(), "GET", PVC "a");
}

/* Writes volume v's claimRef. */
static void bind_volume(void)
{
	bind_with(&has_volume, 1, NULL, 0);
	sent(last(), "GET", PV);
	fake_answer(last(), 200, "{\"metadata\":{\"name\":\"v\",\"resourceVersion\":\"5\"},\"spec\":{}}");
	sent(last(), "PATCH", PV);
	expect_body(
		"{\"metadata\":{\"resourceVersion\":\"5\",\"annotations\":{\"pv.kubernetes.io/"
		"bound-by-controller\":\"yes\"}},\"spec\":{\"claimRef\":{\"kind\":\"PersistentVolumeClaim\","
		"\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-a\",\"apiVersion\":\"v1\"}}}");
	fake_answer(last(), 200, "{}");
	see_node();
}

static void a_volume_gets_its_claim_and_the_pod_waits_until_it_is_bound(void **state)
{
	(void)state;
	bind_volume();
	fake_answer(last(), 200, UNBOUND);
	sent(last(), "GET", PV);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	expect_reports("");
	uint32_t before = fake.call_n;
	fake_pass(FAKE_S);
	assert_int_equal(fake.call_n, before);
	fake_pass(10 * FAKE_S);
	see_node();
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	expect_binding("bound 1\n");
	assert_int_equal(bt_writer_counts(fake.writer).volume_n, 1);
}

#define FAILED "failed 1 running PreBind plugin \"VolumeBinding\": binding volumes: "

/* The volume's state after the write. status: of the response that shows it. */
static void expect_failure(
	uint32_t claim_status, const char *claim, uint32_t status, const char *volume, const char *words)
{
	void *state = NULL;

	fake_teardown(&state);
	begin(&state);
	bind_volume();
	fake_answer(last(), claim_status, claim);
	if (status) {
		sent(last(), "GET", PV);
		fake_answer(last(), status, volume);
	}
	expect_reports(words);
}

static void a_bound_volumes_later_state_may_fail_the_binding(void **state)
{
	(void)state;
	expect_failure(404, "{}", 0, "",
		FAILED "failed to check binding: persistentvolumeclaims \"ns/a\" not found\n");
	expect_failure(200, UNBOUND, 404, "{}",
		FAILED "failed to check binding: persistentvolumes \"v\" not found\n");
	expect_failure(200, UNBOUND, 200, IN_ZONE_OF("z2", "u-a"),
		FAILED "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms\n");
	expect_failure(200, UNBOUND, 200, EVERYWHERE, FAILED "ClaimRef got reset for pv \"v\"\n");
	expect_failure(200, UNBOUND, 200, IN_ZONE_OF("z1", ""), FAILED "ClaimRef got reset for pv \"v\"\n");
	/* The claim is bound, but only for a while. */
	expect_failure(200, BOUND, 200, EVERYWHERE, FAILED "ClaimRef got reset for pv \"v\"\n");
}

static void all_volumes_are_bound_in_one_look(void **state)
{
	static const struct bt_bind_request_volume two[] = {
		{BT_STR("b"), BT_STR("u-b"), BT_STR("")}, {BT_STR("a"), BT_STR("u-a"), BT_STR("v")}};

	(void)state;
	bind_with(two, 2, NULL, 0);
	sent(last(), "GET", PV); /* existing volumes come first */
	fake_answer(last(), 200, "{\"metadata\":{\"name\":\"v\",\"resourceVersion\":\"5\"},\"spec\":{}}");
	fake_answer(last(), 200, "{}");
	sent(last(), "PATCH", PVC "b");
	fake_answer(last(), 200, "{}");
	see_node();
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	sent(last(), "GET", PVC "b");
	fake_answer(last(), 200, BOUND_AS("u-b", "", ""));
	fake_pass(10 * FAKE_S);
	see_node();
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 404, "{}");
	expect_reports(FAILED "failed to check binding: persistentvolumes \"v\" not found\n");
}

static void watch_events_are_checked_at_once(void **state)
{
	const struct bt_object claim = {.kind = BT_KIND_PERSISTENT_VOLUME_CLAIM,
		.claim = {.meta = {.namespace_ = BT_STR("ns"), .name = BT_STR("a")}}};
	const struct bt_object other = {.kind = BT_KIND_PERSISTENT_VOLUME_CLAIM,
		.claim = {.meta = {.namespace_ = BT_STR("ns"), .name = BT_STR("b")}}};

	(void)state;
	show_object(BT_WATCH_EVENT_APPLY, &claim); /* no binding waits */
	bind_with(&wants_volume, 1, NULL, 0);
	sent(last(), "PATCH", PVC "a");
	expect_body("{\"metadata\":{\"uid\":\"u-a\",\"annotations\":{\"volume.kubernetes.io/"
		    "selected-node\":\"n1\"}}"
		    "}");
	fake_answer(last(), 200, "{}");
	see_node();
	fake_answer(last(), 200, UNBOUND);
	uint32_t before = fake.call_n;
	show_object(BT_WATCH_EVENT_APPLY, &other);
	assert_int_equal(fake.call_n, before);
	show_object(BT_WATCH_EVENT_APPLY, &claim);
	assert_int_equal(fake.call_n, before + 1);
	see_node();
	/* It arrives while the claim is being read: the response may be older. */
	show_object(BT_WATCH_EVENT_APPLY, &claim);
	fake_answer(last(), 200, UNBOUND);
	see_node();
	fake_answer(last(), 200, BOUND);
	sent(last(), "GET", PV);
	fake_answer(last(), 200, EVERYWHERE);
	sent(last(), "POST", BINDING);
}

static void a_volume_that_the_watch_shows_is_looked_at_at_once(void **state)
{
	const struct bt_object volume = {
		.kind = BT_KIND_PERSISTENT_VOLUME, .persistent_volume = {.meta = {.name = BT_STR("v")}}};
	const struct bt_object other = {
		.kind = BT_KIND_PERSISTENT_VOLUME, .persistent_volume = {.meta = {.name = BT_STR("a")}}};

	(void)state;
	bind_volume();
	fake_answer(last(), 200, UNBOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	uint32_t before = fake.call_n;
	show_object(BT_WATCH_EVENT_APPLY, &other);
	assert_int_equal(fake.call_n, before);
	show_object(BT_WATCH_EVENT_DELETE, &volume);
	see_node();
	fake_answer(last(), 200, UNBOUND);
	fake_answer(last(), 404, "{}");
	expect_reports(FAILED "failed to check binding: persistentvolumes \"v\" not found\n");
}

/* A provisioned claim: bound to volume v. */
static void provision(void)
{
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	see_node();
	fake_answer(last(), 200, BOUND);
	sent(last(), "GET", PV);
}

static void a_volume_that_was_provisioned_must_be_reached_from_the_node(void **state)
{
	(void)state;
	provision();
	fake_answer(last(), 200, IN_ZONE_OF("z1", ""));
	sent(last(), "POST", BINDING);
	fake_teardown(state);
	begin(state);
	provision();
	fake_answer(last(), 200, IN_ZONE_OF("z2", ""));
	expect_reports(
		FAILED "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms\n");
}

#define CSI_NODE "/apis/storage.k8s.io/v1/csinodes/n1"
#define MIGRATES(plugins)                                                                                    \
	"{\"kind\":\"CSINode\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":\"n1\","          \
	"\"annotations\":{\"storage.alpha.kubernetes.io/migrated-plugins\":\"" plugins "\"}}}"
#define IN_TREE(source)                                                                                      \
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"v\"},\"spec\":{"      \
	"\"claimRef\":{\"name\":\"a\",\"uid\":\"u-a\"}," source                                              \
	",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"           \
	"\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"z1\"]}]}]}}}}"
#define DISK "\"gcePersistentDisk\":{\"pdName\":\"d\"}"
#define CSI_LABELS                                                                                           \
	"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\",\"labels\":"                 \
	"{\"topology.gke.io/zone\":\"z1\"}}}"

/* A provisioned claim has an in-tree volume, and the node has labels of its CSI driver. */
static void provision_in_tree(const char *volume)
{
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	fake_answer(last(), 200, CSI_LABELS);
	fake_answer(last(), 200, BOUND);
	sent(last(), "GET", PV);
	fake_answer(last(), 200, volume);
	sent(last(), "GET", CSI_NODE);
}

static void an_in_tree_volume_is_translated_where_the_node_has_migrated_its_plugin(void **state)
{
	(void)state;
	provision_in_tree(IN_TREE(DISK));
	fake_answer(last(), 200, MIGRATES("kubernetes.io/aws-ebs,kubernetes.io/gce-pd"));
	sent(last(), "GET", PV);
	fake_answer(last(), 200, IN_TREE(DISK));
	sent(last(), "POST", BINDING);
	fake_teardown(state);
	begin(state);
	provision_in_tree(IN_TREE(DISK));
	fake_answer(last(), 200, MIGRATES("kubernetes.io/aws-ebs"));
	fake_answer(last(), 200, IN_TREE(DISK));
	expect_reports(
		FAILED "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms\n");
	fake_teardown(state);
	begin(state);
	provision_in_tree(IN_TREE(DISK));
	fake_status(last(), 404, "no CSINode");
	fake_answer(last(), 200, IN_TREE(DISK));
	expect_reports(
		FAILED "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms\n");
	fake_teardown(state);
	begin(state);
	provision_in_tree(IN_TREE(DISK));
	fake_answer(last(), 200, "{\"kind\":\"Status\"}");
	expect_reports(FAILED "the CSINode n1 cannot be read\n");
}

#define ODD_DISK "\"awsElasticBlockStore\":{\"volumeID\":\"aws:///odd\"}"
#define ODD_WORDS                                                                                            \
	"could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS " \
	"volume (aws:///odd)\n"

static void an_in_tree_volume_that_cannot_be_translated_fails_the_binding(void **state)
{
	(void)state;
	provision_in_tree(IN_TREE(ODD_DISK));
	fake_answer(last(), 200, MIGRATES("kubernetes.io/aws-ebs"));
	fake_answer(last(), 200, IN_TREE(ODD_DISK));
	expect_reports(FAILED ODD_WORDS);
	fake_teardown(state);
	begin(state);
	bind_volume();
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, IN_TREE(ODD_DISK));
	sent(last(), "GET", CSI_NODE);
	fake_answer(last(), 200, MIGRATES("kubernetes.io/aws-ebs"));
	fake_answer(last(), 200, IN_TREE(ODD_DISK));
	expect_reports(FAILED "failed to translate pv to csi: " ODD_WORDS);
}

static void migrated_plugins_of_a_node_are_read_once_per_lookup(void **state)
{
	(void)state;
	provision_in_tree(IN_TREE(DISK));
	fake_answer(last(), 200, MIGRATES("kubernetes.io/gce-pd"));
	fake_status(last(), 404, "it has gone meanwhile");
	expect_reports("");
	fake_pass(10 * FAKE_S);
	sent(last(), "GET", "/api/v1/nodes/n1");
	fake_answer(last(), 200, CSI_LABELS);
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, IN_TREE(DISK));
	sent(last(), "GET", CSI_NODE);
}

static void a_changed_node_is_checked_at_once(void **state)
{
	const struct bt_object node = {.kind = BT_KIND_NODE, .node = {.meta = {.name = BT_STR("n1")}}};
	const struct bt_object other = {.kind = BT_KIND_NODE, .node = {.meta = {.name = BT_STR("n2")}}};
	const struct bt_object csi = {.kind = BT_KIND_CSI_NODE, .csi_node = {.meta = {.name = BT_STR("n1")}}};

	(void)state;
	bind_volume();
	fake_answer(last(), 200, UNBOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	uint32_t before = fake.call_n;
	show_object(BT_WATCH_EVENT_DELETE, &other);
	show_object(BT_WATCH_EVENT_APPLY, &node); /* for example a heartbeat */
	assert_int_equal(fake.call_n, before);
	show_object(BT_WATCH_EVENT_APPLY, &csi);
	see_node();
	fake_answer(last(), 200, UNBOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", "u-a"));
	show_object(BT_WATCH_EVENT_DELETE, &node);
	sent(last(), "GET", "/api/v1/nodes/n1");
	fake_status(last(), 404, "gone");
	expect_reports(FAILED "failed to get node \"n1\": node \"n1\" not found\n");
}

static void a_node_that_has_gone_fails_the_binding(void **state)
{
	(void)state;
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	sent(last(), "GET", "/api/v1/nodes/n1");
	fake_status(last(), 404, "gone");
	expect_reports(FAILED "failed to get node \"n1\": node \"n1\" not found\n");
	fake_teardown(state);
	begin(state);
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	fake_answer(last(), 200, "[]");
	expect_reports(FAILED "the node n1 cannot be read\n");
}

static void a_node_without_labels_reaches_what_is_everywhere(void **state)
{
	(void)state;
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	fake_answer(last(), 200, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, IN_ZONE_OF("z1", ""));
	expect_reports(
		FAILED "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms\n");
	fake_teardown(state);
	begin(state);
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	fake_answer(last(), 200, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");
	fake_answer(last(), 200, BOUND);
	fake_answer(last(), 200, EVERYWHERE);
	sent(last(), "POST", BINDING);
}

static void a_volume_that_is_not_there_yet_is_waited_for(void **state)
{
	(void)state;
	provision();
	fake_status(last(), 404, "not found");
	expect_reports("");
	fake_pass(10 * FAKE_S);
	see_node();
	fake_answer(last(), 200, BOUND);
	sent(last(), "GET", PV);
	fake_answer(last(), 200, EVERYWHERE);
	sent(last(), "POST", BINDING);
}

static void a_claim_with_a_volume_may_have_to_be_waited_for_yet(void **state)
{
	(void)state;
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	see_node();
	fake_answer(last(), 200, BOUND_AS("u-a", "", "\"volumeName\":\"v\""));
	sent(last(), "GET", PV);
	fake_answer(last(), 200, IN_ZONE_OF("z1", ""));
	expect_reports("");
	fake_pass(10 * FAKE_S);
	see_node();
}

static void a_missing_volume_fails_the_binding(void **state)
{
	(void)state;
	provision();
	fake_answer(last(), 200, "{\"kind\":\"Status\"}");
	expect_reports(FAILED "the volume v cannot be read\n");
}

static void a_volume_that_is_its_claims_already_is_left_alone(void **state)
{
	(void)state;
	bind_with(&has_volume, 1, NULL, 0);
	fake_answer(last(), 200,
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"claimRef\":{\"name\":\"a\",\"uid\":"
		"\"u-"
		"a\"}}}");
	see_node();
}

static void a_volume_that_names_the_claim_is_not_bound_by_the_controller(void **state)
{
	(void)state;
	bind_with(&has_volume, 1, NULL, 0);
	fake_answer(last(), 200,
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"claimRef\":{\"name\":\"a\"}}}");
	expect_body("{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"claimRef\":{\"kind\":"
		    "\"PersistentVolumeClaim\",\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-a\","
		    "\"apiVersion\":"
		    "\"v1\"}}}");
}

static void a_volume_of_another_claim_fails_the_binding(void **state)
{
	(void)state;
	bind_with(&has_volume, 1, NULL, 0);
	fake_answer(last(), 200,
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"claimRef\":{\"name\":\"b\",\"uid\":"
		"\"u-"
		"b\"}}}");
	expect_reports("failed 1 running PreBind plugin \"VolumeBinding\": Operation cannot be fulfilled on "
		       "persistentvolumes \"v\": the object has been modified; please apply your changes to "
		       "the latest "
		       "version and try again\n");
	fake_teardown(state);
	begin(state);
	bind_with(&has_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{}}");
	fake_status(last(), 409, "the object has been modified");
	expect_reports("failed 1 running PreBind plugin \"VolumeBinding\": the object has been modified\n");
}

/* The state of a claim that waits for its volume. */
static void show_provisioned(uint32_t status, const char *claim)
{
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	see_node();
	fake_answer(last(), status, claim);
}

static void provisioning_that_fails_fails_the_binding(void **state)
{
	(void)state;
	show_provisioned(200, "{\"metadata\":{\"uid\":\"u-a\",\"annotations\":{\"x\":\"y\"}},\"spec\":{}}");
	expect_reports(FAILED "provisioning failed for PVC \"a\"\n");
	assert_int_equal(bt_writer_counts(fake.writer).volume_failed_n, 1);
	fake_teardown(state);
	begin(state);
	show_provisioned(200, "{\"metadata\":{\"uid\":\"u-a\"},\"spec\":{}}");
	expect_reports(FAILED "selectedNode annotation reset for PVC \"a\"\n");
	fake_teardown(state);
	begin(state);
	show_provisioned(404, "{}");
	expect_reports(
		FAILED "failed to check provisioning pvc: persistentvolumeclaims \"ns/a\" not found\n");
}

/* Between the decision and its binding. */
static void a_claim_that_has_gone_or_is_another_one_fails_the_binding(void **state)
{
	(void)state;
	bind_with(&wants_volume, 1, NULL, 0);
	sent(last(), "PATCH", PVC "a");
	fake_status(last(), 404, "persistentvolumeclaims \\\"a\\\" not found");
	expect_reports("failed 1 running PreBind plugin \"VolumeBinding\": persistentvolumeclaims \"a\" not "
		       "found\n");
	fake_teardown(state);
	begin(state);
	bind_with(&wants_volume, 1, NULL, 0);
	fake_status(last(), 409, "the UID in the precondition does not match");
	expect_reports(
		"failed 1 running PreBind plugin \"VolumeBinding\": the UID in the precondition does not "
		"match\n");
	fake_teardown(state);
	begin(state);
	bind_volume();
	fake_answer(last(), 200, BOUND_AS("u-b", "", ""));
	expect_reports(FAILED "the claim \"a\" is another one by now\n");
}

static void waiting_ends_with_its_time_and_with_the_pod(void **state)
{
	const struct bt_object pod = fake_pod("p", "u", "9", "");

	(void)state;
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	for (int i = 0; fake.reported.len == 0; i++) {
		assert_true(i < 10);
		see_node();
		fake_answer(last(), 200, UNBOUND);
		fake_pass(10 * FAKE_S);
	}
	expect_reports(FAILED "context deadline exceeded\n");
	fake_teardown(state);
	begin(state);
	bind_with(&wants_volume, 1, NULL, 0);
	fake_answer(last(), 200, "{}");
	see_node();
	show_object(BT_WATCH_EVENT_DELETE, &pod);
	fake_answer(last(), 200, UNBOUND);
	expect_reports(FAILED "pod does not exist any more: pod \"p\" not found\n");
}

static void shutdown_waits_for_no_claim(void **state)
{
	(void)state;
	show_provisioned(200, UNBOUND);
	bt_writer_shutdown(fake.writer, FAKE_S);
	fake_pass(0);
	expect_reports("failed 1 the scheduler ends\n");
	assert_true(bt_writer_drain(fake.writer, 0));
}

/* ---- claims ---- */

static struct bt_device_result_object results[] = {
	{.request = BT_STR("r"), .driver = BT_STR("d"), .pool = BT_STR("pool"), .device = BT_STR("dev-1")}};
static const struct bt_bind_request_device requests[] = {{BT_STR("r"), BT_STR("gpu")}};
static const struct bt_bind_request_claim allocates = {.name = BT_STR("c"),
	.uid = BT_STR("u-c"),
	.allocates = true,
	.results = results,
	.result_n = 1,
	.requests = requests,
	.request_n = 1};
static const struct bt_bind_request_claim shares = {.name = BT_STR("c"), .uid = BT_STR("u-c")};

#define FRESH                                                                                                \
	"{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":"      \
	"\"11\",\"finalizers\":[\"x/"                                                                        \
	"y\"]},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{"                           \
	"\"deviceClassName\":\"gpu\",\"tolerations\":[{\"key\":\"t\"}]}}],\"config\":[{\"opaque\":{"         \
	"\"driver\":\"d\",\"parameters\":{\"a\":1}}},{\"requests\":[\"other\"],\"opaque\":{\"driver\":"      \
	"\"e\"}"                                                                                             \
	"},{\"requests\":[\"r\"],\"opaque\":{\"driver\":\"f\",\"parameters\":{\"none\":null}}}]}},"          \
	"\"status\":{}}"
#define OF_CLASS "{\"metadata\":{},\"spec\":{\"config\":[{\"opaque\":{\"driver\":\"d\",\"parameters\":{}}}]}}"
#define RESERVED_FOR(uid)                                                                                    \
	"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"13\",\"finalizers\":["          \
	"\"resource.kubernetes.io/"                                                                          \
	"delete-protection\"]},\"spec\":{},\"status\":{\"allocation\":{\"devices\":"                         \
	"{}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"" uid "\"}]}}"
#define RESERVED                                                                                             \
	"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"12\",\"finalizers\":["          \
	"\"resource.kubernetes.io/"                                                                          \
	"delete-protection\"]},\"spec\":{},\"status\":{\"allocation\":{\"devices\":"                         \
	"{}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"q\",\"uid\":\"u-q\"}]}}"

static void a_claim_is_protected_allocated_and_reserved(void **state)
{
	(void)state;
	bind_with(NULL, 0, &allocates, 1);
	sent(last(), "GET", CLAIM);
	fake_answer(last(), 200, FRESH);
	sent(last(), "GET", CLASS);
	fake_answer(last(), 200, OF_CLASS);
	sent(last(), "PATCH", CLAIM);
	expect_body("{\"metadata\":{\"uid\":\"u-c\",\"resourceVersion\":\"11\",\"finalizers\":[\"x/y\","
		    "\"resource.kubernetes.io/delete-protection\"]}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
	sent(last(), "PATCH", CLAIM "/status");
	assert_string_equal(fake.calls[last()].type, "application/json-patch+json");
	expect_body(OF_VERSION(
		"12") "{\"op\":\"add\",\"path\":\"/status/allocation\",\"value\":{"
		      "\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"pool\","
		      "\"device\":"
		      "\"dev-1\",\"tolerations\":[{\"key\":\"t\"}]}],\"config\":[{\"source\":\"FromClass\","
		      "\"requests\":[\"r\"],\"opaque\":{\"driver\":\"d\",\"parameters\":{}}},{\"source\":"
		      "\"FromClaim\","
		      "\"opaque\":{\"driver\":\"d\",\"parameters\":{\"a\":1}}},{\"source\":\"FromClaim\","
		      "\"requests\":"
		      "["
		      "\"r\"],\"opaque\":{\"driver\":\"f\",\"parameters\":{\"none\":null}}}]}}},{\"op\":"
		      "\"add\",\"path\":"
		      "\"/status/"
		      "reservedFor\",\"value\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"u\"}]}]");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	expect_binding("bound 1\nclaim c u-c 13 reserved\n");
}

/* In releases that write it this way. */
static int begin_with_configs_once(void **state)
{
	(void)state;
	fake_begin((struct bt_writer_options){.qps = -1, .configs_stand_once = true});
	show("p", "7", "");
	return 0;
}

static void a_configuration_of_all_requests_names_none(void **state)
{
	(void)state;
	bind_with(NULL, 0, &allocates, 1);
	fake_answer(last(), 200, FRESH);
	fake_answer(last(), 200, OF_CLASS);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
	sent(last(), "PATCH", CLAIM "/status");
	expect_body(
		OF_VERSION("12") "{\"op\":\"add\",\"path\":\"/status/allocation\",\"value\":{\"devices\":{"
				 "\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"pool\","
				 "\"device\":\"dev-1\",\"tolerations\":[{\"key\":\"t\"}]}],\"config\":["
				 "{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"d\",\"parameters\":{}}},"
				 "{\"source\":\"FromClaim\",\"opaque\":{\"driver\":\"d\",\"parameters\":{"
				 "\"a\":1}}},{\"source\":\"FromClaim\",\"opaque\":{\"driver\":\"f\","
				 "\"parameters\":{\"none\":null}}}]}}},{\"op\":\"add\",\"path\":"
				 "\"/status/reservedFor\",\"value\":[{\"resource\":\"pods\",\"name\":\"p\","
				 "\"uid\":\"u\"}]}]");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	expect_binding("bound 1\nclaim c u-c 13 reserved\n");
}

static void a_claim_that_others_have_is_shared(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	sent(last(), "PATCH", CLAIM "/status");
	expect_body(OF_VERSION(
		"12") "{\"op\":\"add\",\"path\":\"/status/reservedFor\",\"value\":[{"
		      "\"resource\":\"pods\",\"name\":\"q\",\"uid\":\"u-q\"},{\"resource\":\"pods\","
		      "\"name\":\"p\","
		      "\"uid\":\"u\"}]}]");
}

static void a_claim_that_has_changed_is_read_again_a_few_times(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	for (int i = 0; i < 6; i++) {
		fake_answer(last(), 200, RESERVED);
		fake_status(last(), 409, "modified");
		fake_pass(FAKE_S);
	}
	expect_reports("failed 1 running PreBind plugin \"DynamicResources\": add reservation to claim ns/c: "
		       "modified\n");
}

static void a_lost_reservation_is_found_when_the_claim_is_read_again(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_end(last(), BT_HTTP_LOST, 0, -1, "");
	fake_pass(FAKE_S);
	sent(last(), "GET", CLAIM);
	fake_answer(last(), 200,
		"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"14\"},\"status\":{"
		"\"allocation\":{},\"reservedFor\":[{\"uid\":\"u\"}]}}");
	expect_binding("bound 1\nclaim c u-c 14 reserved\n");
}

static void a_claim_changed_meanwhile_fails_the_binding(void **state)
{
	(void)state;
	bind_with(NULL, 0, &allocates, 1);
	fake_answer(last(), 200, RESERVED);
	expect_reports(
		"failed 1 running PreBind plugin \"DynamicResources\": claim ns/c got allocated elsewhere in "
		"the "
		"meantime\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, FRESH);
	expect_reports("failed 1 running PreBind plugin \"DynamicResources\": claim ns/c got deallocated "
		       "elsewhere in "
		       "the meantime\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, &allocates, 1);
	fake_answer(last(), 200,
		"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"11\","
		"\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
	expect_reports("failed 1 running PreBind plugin \"DynamicResources\": claim ns/c got deleted in the "
		       "meantime\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, &allocates, 1);
	fake_answer(
		last(), 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"u-d\",\"resourceVersion\":\"11\"}}");
	expect_reports(
		"failed 1 running PreBind plugin \"DynamicResources\": claim ns/c is another one by now\n");
}

#define PRE_BIND	"failed 1 running PreBind plugin \"DynamicResources\": "
#define NO_CLAIM(quote) "resourceclaims.resource.k8s.io " quote "c" quote " not found"

static void a_claim_that_has_gone_fails_the_binding_in_upstreams_words(void **state)
{
	(void)state;
	bind_with(NULL, 0, &allocates, 1);
	fake_status(last(), 404, NO_CLAIM("\\\""));
	expect_reports(PRE_BIND "add finalizer to claim ns/c: " NO_CLAIM("\"") "\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, &shares, 1);
	fake_status(last(), 404, NO_CLAIM("\\\""));
	expect_reports(PRE_BIND "add reservation to claim ns/c: " NO_CLAIM("\"") "\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_status(last(), 409, "modified");
	fake_pass(FAKE_S);
	fake_status(last(), 404, NO_CLAIM("\\\""));
	expect_reports(PRE_BIND "get updated claim ns/c after conflict: " NO_CLAIM("\"") "\n");
}

/* Upstream writes it twice, the second time from the state before the first. */
static void a_pod_that_names_one_claim_twice_is_not_bound(void **state)
{
	const struct bt_bind_request_claim new_twice[] = {allocates, allocates},
					   old_twice[] = {shares, shares};

	(void)state;
	bind_with(NULL, 0, new_twice, 2);
	fake_answer(last(), 200, FRESH);
	fake_answer(last(), 200, "{\"spec\":{}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	sent(last(), "GET", CLAIM);
	fake_answer(last(), 200, RESERVED_FOR("u"));
	sent(last(), "PATCH", CLAIM "/status"); /* removes the reservation */
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"14\"}}");
	expect_reports(PRE_BIND "claim ns/c got allocated elsewhere in the meantime\nclaim c u-c 14\n");
	fake_teardown(state);
	begin(state);
	bind_with(NULL, 0, old_twice, 2);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	fake_answer(last(), 200, RESERVED_FOR("u"));
	fake_status(last(), 422, "Duplicate value");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"14\"}}");
	expect_reports(PRE_BIND "add reservation to claim ns/c: Duplicate value\nclaim c u-c 14\n");
}

static void a_claim_for_extended_resources_that_maps_nothing_fails_the_binding(void **state)
{
	const struct bt_bind_request_claim special = {.allocates = true, .special = true};

	(void)state;
	bind_with(NULL, 0, &special, 1);
	sent(last(), "POST", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims");
	fake_answer(last(), 201, FRESH);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	sent(last(), "PATCH", CLAIM);
	fake_answer(last(), 200, "{}");
	sent(last(), "DELETE", CLAIM);
	fake_answer(last(), 200, "{}");
	expect_reports(PRE_BIND
		"nil or empty request mappings, no update of pod ns/p ExtendedResourceClaimStatus\n");
}

static void a_binding_that_fails_takes_its_reservations_back(void **state)
{
	uint32_t i;

	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	fake_status(last(), 422, "no");
	expect_reports("");
	i = last();
	sent(i, "PATCH", CLAIM "/status");
	assert_string_equal(fake.calls[i].type, "application/strategic-merge-patch+json");
	expect_body(
		"{\"metadata\":{\"uid\":\"u-c\"},\"status\":{\"reservedFor\":[{\"$patch\":\"delete\",\"uid\":"
		"\"u\"}]}}");
	fake_answer(i, 200, "{\"metadata\":{\"resourceVersion\":\"14\"}}");
	expect_reports("failed 1 no\nclaim c u-c 14\n");
	fake_pass(0);
	assert_non_null(strstr(fake.calls[i + 1].body, "running Bind plugin \\\"DefaultBinder\\\": no"));
}

static const struct bt_bind_request_claim held = {
	.name = BT_STR("c"), .uid = BT_STR("u-c"), .reserved = true};

/* For example a reservation that an earlier binding could not remove. */
static void a_reservation_of_before_the_cycle_is_taken_back_as_well(void **state)
{
	(void)state;
	bind_with(NULL, 0, &held, 1);
	sent(last(), "POST", BINDING);
	fake_status(last(), 422, "no");
	expect_reports("");
	sent(last(), "PATCH", CLAIM "/status");
	expect_body(
		"{\"metadata\":{\"uid\":\"u-c\"},\"status\":{\"reservedFor\":[{\"$patch\":\"delete\",\"uid\":"
		"\"u\"}]}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"14\"}}");
	expect_reports("failed 1 no\nclaim c u-c 14\n");
}

static void a_reservation_of_before_the_cycle_stays_with_a_pod_that_is_bound(void **state)
{
	(void)state;
	bind_with(NULL, 0, &held, 1);
	expect_binding("bound 1\n");
}

/* The claim after it fails. */
static void a_reservation_of_before_the_cycle_is_taken_back_when_prebind_fails(void **state)
{
	const struct bt_bind_request_claim two[] = {held, {.name = BT_STR("c"), .uid = BT_STR("u-c")}};

	(void)state;
	bind_with(NULL, 0, two, 2);
	sent(last(), "GET", CLAIM);
	fake_status(last(), 404, "gone");
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"14\"}}");
	expect_reports(PRE_BIND "add reservation to claim ns/c: gone\nclaim c u-c 14\n");
}

static void a_reservation_that_cannot_be_removed_is_reported(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	fake_status(last(), 422, "no");
	fake_status(last(), 403, "no");
	expect_reports("failed 1 no\nclaim c u-c 13 reserved\n");
}

static void a_claim_for_extended_resources_is_made_and_the_pod_names_it(void **state)
{
	static const struct bt_bind_request_mapping mappings[] = {
		{1, BT_STR("example.com/gpu"), BT_STR("r")}};
	struct bt_bind_request_claim special = allocates;

	(void)state;
	special.name = special.uid = (struct bt_str){.len = 0};
	special.special = true;
	special.mappings = mappings;
	special.mapping_n = 1;
	bind_with(NULL, 0, &special, 1);
	sent(last(), "POST", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims");
	expect_body("{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{"
		    "\"generateName\":\"p-extended-resources-\",\"namespace\":\"ns\",\"annotations\":{"
		    "\"resource.kubernetes.io/extended-resource-claim\":\"true\"},\"ownerReferences\":[{"
		    "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\",\"controller\":true,"
		    "\"blockOwnerDeletion\":true}]},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
		    "\"exactly\":"
		    "{\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}}");
	fake_answer(last(), 201, FRESH);
	assert_int_equal(bt_writer_counts(fake.writer).claim_created_n, 1);
	fake_answer(last(), 200, "{\"spec\":{}}");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	sent(last(), "GET", "/api/v1/namespaces/ns/pods/p");
	fake_answer(last(), 200,
		"{\"spec\":{\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"m\"}]}}");
	sent(last(), "PATCH", "/api/v1/namespaces/ns/pods/p/status");
	expect_body(
		"{\"status\":{\"extendedResourceClaimStatus\":{\"requestMappings\":[{\"containerName\":\"m\","
		"\"resourceName\":\"example.com/"
		"gpu\",\"requestName\":\"r\"}],\"resourceClaimName\":\"c\"}}}");
	fake_answer(last(), 200, "{}");
	/* And deleted when the binding fails. */
	fake_status(last(), 422, "no");
	sent(last(), "PATCH", CLAIM);
	expect_body("{\"metadata\":{\"uid\":\"u-c\",\"finalizers\":null}}");
	fake_answer(last(), 200, "{}");
	sent(last(), "DELETE", CLAIM);
	fake_answer(last(), 200, "{}");
	expect_reports("failed 1 no\n");
}

static void a_claim_that_cannot_be_made_is_counted(void **state)
{
	struct bt_bind_request_claim special = allocates;

	(void)state;
	special.name = special.uid = (struct bt_str){.len = 0};
	special.special = true;
	bind_with(NULL, 0, &special, 1);
	fake_status(last(), 403, "exceeded quota");
	expect_reports("failed 1 running PreBind plugin \"DynamicResources\": create claim for extended "
		       "resources ns/: "
		       "exceeded quota\n");
	bind_with(NULL, 0, &special, 1);
	fake_end(last(), BT_HTTP_LOST, 0, -1, "");
	assert_int_equal(bt_writer_counts(fake.writer).claim_uncreated_n, 2);
	assert_int_equal(bt_writer_counts(fake.writer).claim_created_n, 0);
	bind_with(NULL, 0, &allocates, 1);
	fake_status(last(), 403, "no"); /* which exists already */
	assert_int_equal(bt_writer_counts(fake.writer).claim_uncreated_n, 2);
}

#define DEVICE(status)                                                                                       \
	"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"15\"},\"status\":{"             \
	"\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\","       \
	"\"bindingConditions\":[\"Up\"],\"bindingFailureConditions\":[\"Bad\"]}]}}," status                  \
	"\"reservedFor\":[]}}"
#define SHOWS(type, status)                                                                                  \
	"\"devices\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\",\"conditions\":[{\"type\":\"" type   \
	"\",\"status\":\"" status "\",\"reason\":\"r\",\"message\":\"m\"}]}],"

/* Recorded waits, one per line. */
static void add_wait(void *context, const struct bt_device_series *series)
{
	uint64_t n = 0;

	for (int i = 0; i <= BT_DEVICE_BOUNDS; i++) {
		n += series->counts[i];
	}
	bt_buf_printf(context, "%.*s %.*s %d: %llu of %llu, %.0f s\n", BT_STR_ARG(series->profile),
		BT_STR_ARG(series->driver), (int)series->end, (unsigned long long)series->conditional_n,
		(unsigned long long)n, series->sum_s);
}

static void waited(const char *lines)
{
	struct bt_buf text = {.len = 0};

	bt_buf_text(&text, "");
	bt_writer_each_device_wait(fake.writer, add_wait, &text);
	assert_string_equal(text.ptr, lines);
	bt_buf_fini(&text);
}

static void devices_that_have_to_get_ready_are_waited_for(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, DEVICE(""));
	uint32_t get = last() - 1;
	sent(get, "GET", CLAIM);
	assert_non_null(strstr(fake.calls[get + 1].body, "\"reason\":\"BindingConditionsPending\""));
	fake_answer(get, 200, DEVICE(""));
	fake_pass(5 * FAKE_S);
	fake_answer(last(), 200, DEVICE(SHOWS("Up", "False")));
	fake_pass(5 * FAKE_S);
	waited("");
	fake_answer(last(), 200, DEVICE(SHOWS("Up", "True")));
	waited("s d 0: 1 of 1, 10 s\n");
	expect_binding("bound 1\nclaim c u-c 15 reserved\n");
}

static void devices_of_a_reservation_of_before_the_cycle_are_waited_for(void **state)
{
	struct bt_bind_request_claim late = held;

	(void)state;
	late.conditional = true;
	bind_with(NULL, 0, &late, 1);
	uint32_t get = last() - 1;
	sent(get, "GET", CLAIM);
	fake_answer(get, 200, DEVICE(SHOWS("Up", "True")));
	waited("s d 0: 1 of 1, 0 s\n");
	expect_binding("bound 1\nclaim c u-c 15 reserved\n");
}

static void devices_that_fail_to_get_ready_fail_the_binding(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, DEVICE(""));
	fake_answer(last() - 1, 200, DEVICE(SHOWS("Bad", "True")));
	sent(last(), "PATCH", CLAIM "/status");
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"16\"}}");
	expect_reports(
		"failed 1 running PreBind plugin \"DynamicResources\": device binding failed: claim=c, "
		"reason=r, "
		"message=\"m\"\nclaim c u-c 16\n");
	waited("s d 1: 1 of 1, 0 s\n");
}

static void devices_that_never_get_ready_are_given_up(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, DEVICE(""));
	fake_answer(last() - 1, 200, DEVICE(""));
	for (int i = 0; strcmp(fake.calls[last()].path, CLAIM "/status") != 0; i++) {
		assert_true(i < 200);
		fake_pass(5 * FAKE_S);
		fake_answer(last(), 200, DEVICE(""));
	}
	assert_in_range(fake.now_ns, 600 * FAKE_S, 606 * FAKE_S);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"16\"}}");
	expect_reports(
		"failed 1 running PreBind plugin \"DynamicResources\": device binding timeout: claim=c\n"
		"claim c u-c 16\n");
	waited("s d 2: 1 of 1, 600 s\n");
}

/* All devices of a waiting binding count as waited for, as upstream; those with
 * conditions as allocated. */
static void of_devices_that_cannot_be_looked_at_the_error_is_counted(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200,
		"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"15\"},\"status\":{"
		"\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\","
		"\"bindingConditions\":[\"Up\"]},{\"driver\":\"e\",\"pool\":\"p\",\"device\":\"y\"}]}},"
		"\"reservedFor\":[]}}");
	fake_status(last() - 1, 403, "no");
	waited("s d 3: 1 of 1, 0 s\ns e 3: 0 of 1, 0 s\n");
}

static void at_the_end_writes_are_counted(void **state)
{
	(void)state;
	bind_with(NULL, 0, &shares, 1);
	fake_answer(last(), 200, RESERVED);
	fake_answer(last(), 200, "{\"metadata\":{\"resourceVersion\":\"13\"}}");
	fake_end(last(), BT_HTTP_UNSENT, 0, -1, "");
	fake_stop();
	expect_reports("failed 1 the scheduler ends\nclaim c u-c 13 reserved\n");
	bt_buf_fini(&fake.reported);
	begin(state);
}

/* ---- releases ---- */

static void release(bool deletes)
{
	struct bt_bind_request bind_request = fake_bind_request(1, "p", "u", "");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	bind_request.other = (struct bt_pod_ref){bt_str("ns"), bt_str("c"), bt_str("u-c")};
	bind_request.deletes = deletes;
	binder.release(binder.context, NULL, &bind_request);
	fake_pass(0);
}

static void a_claim_that_keeps_a_pod_out_is_freed(void **state)
{
	(void)state;
	release(false);
	sent(last(), "GET", CLAIM);
	fake_answer(last(), 200,
		"{\"metadata\":{\"name\":\"c\",\"uid\":\"u-c\",\"resourceVersion\":\"14\"},\"status\":{"
		"\"allocation\":{},\"reservedFor\":[{\"uid\":\"u\"}]}}");
	sent(last(), "PATCH", CLAIM "/status");
	expect_body(
		"{\"metadata\":{\"uid\":\"u-c\",\"resourceVersion\":\"14\"},\"status\":{\"allocation\":null,"
		"\"reservedFor\":null,\"devices\":null}}");
	expect_reports("");
	fake_answer(last(), 200, "{}");
	expect_reports("evicted 1\n");
	release(true);
	sent(last(), "PATCH", CLAIM);
	fake_answer(last(), 200, "{}");
	sent(last(), "DELETE", CLAIM);
	fake_status(last(), 404, "gone");
	expect_reports("evicted 1\n");
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void a_claim_that_another_pod_uses_stays(void **state)
{
	(void)state;
	release(false);
	fake_answer(last(), 200, RESERVED);
	assert_int_equal(fake.call_n, 1);
	expect_reports("evict failed 1 another pod uses the claim\n");
	release(false);
	fake_status(last(), 403, "no");
	expect_reports("evict failed 1 no\n");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, fake_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_volume_gets_its_claim_and_the_pod_waits_until_it_is_bound),
		CASE(a_bound_volumes_later_state_may_fail_the_binding),
		CASE(all_volumes_are_bound_in_one_look),
		CASE(a_volume_that_the_watch_shows_is_looked_at_at_once),
		CASE(an_in_tree_volume_is_translated_where_the_node_has_migrated_its_plugin),
		CASE(an_in_tree_volume_that_cannot_be_translated_fails_the_binding),
		CASE(migrated_plugins_of_a_node_are_read_once_per_lookup),
		CASE(a_changed_node_is_checked_at_once),
		CASE(a_node_that_has_gone_fails_the_binding),
		CASE(a_node_without_labels_reaches_what_is_everywhere),
		CASE(a_volume_that_was_provisioned_must_be_reached_from_the_node),
		CASE(a_volume_that_is_not_there_yet_is_waited_for),
		CASE(a_claim_with_a_volume_may_have_to_be_waited_for_yet),
		CASE(a_missing_volume_fails_the_binding),
		CASE(watch_events_are_checked_at_once),
		CASE(a_volume_that_is_its_claims_already_is_left_alone),
		CASE(a_volume_that_names_the_claim_is_not_bound_by_the_controller),
		CASE(a_volume_of_another_claim_fails_the_binding),
		CASE(provisioning_that_fails_fails_the_binding),
		CASE(a_claim_that_has_gone_or_is_another_one_fails_the_binding),
		CASE(waiting_ends_with_its_time_and_with_the_pod),
		CASE(shutdown_waits_for_no_claim),
		CASE(a_claim_is_protected_allocated_and_reserved),
		cmocka_unit_test_setup_teardown(
			a_configuration_of_all_requests_names_none, begin_with_configs_once, fake_teardown),
		CASE(a_claim_that_others_have_is_shared),
		CASE(a_claim_that_has_changed_is_read_again_a_few_times),
		CASE(a_lost_reservation_is_found_when_the_claim_is_read_again),
		CASE(a_claim_changed_meanwhile_fails_the_binding),
		CASE(a_binding_that_fails_takes_its_reservations_back),
		CASE(a_reservation_of_before_the_cycle_is_taken_back_as_well),
		CASE(a_reservation_of_before_the_cycle_stays_with_a_pod_that_is_bound),
		CASE(a_reservation_of_before_the_cycle_is_taken_back_when_prebind_fails),
		CASE(devices_of_a_reservation_of_before_the_cycle_are_waited_for),
		CASE(a_reservation_that_cannot_be_removed_is_reported),
		CASE(a_claim_for_extended_resources_is_made_and_the_pod_names_it),
		CASE(a_claim_that_has_gone_fails_the_binding_in_upstreams_words),
		CASE(a_pod_that_names_one_claim_twice_is_not_bound),
		CASE(a_claim_for_extended_resources_that_maps_nothing_fails_the_binding),
		CASE(a_claim_that_cannot_be_made_is_counted),
		CASE(devices_that_have_to_get_ready_are_waited_for),
		CASE(devices_that_fail_to_get_ready_fail_the_binding),
		CASE(devices_that_never_get_ready_are_given_up),
		CASE(of_devices_that_cannot_be_looked_at_the_error_is_counted),
		CASE(at_the_end_writes_are_counted),
		CASE(a_claim_that_keeps_a_pod_out_is_freed),
		CASE(a_claim_that_another_pod_uses_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
