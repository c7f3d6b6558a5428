/* SPDX-License-Identifier: Apache-2.0
 * The volume plugins, and NodeDeclaredFeatures: their results for a pod and a node.
 */
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"
#include "plugin_fixture.h"

#define STORAGE "apiVersion: storage.k8s.io/v1, "
#define LATE                                                                                                 \
	"{" STORAGE "kind: StorageClass, metadata: {name: late}, provisioner: d, volumeBindingMode: "        \
	"WaitForFirstConsumer}"

static const bool off, on = true;
static const struct bt_node_volume_limits_settings any_driver = {BT_DEMAND_NO_DRIVER};
static const struct bt_volume_binding_settings no_scores;

static void storage(struct fixture *f, const char *yaml)
{
	bt_ingest_storage(f->cache, fixture_read(f, yaml));
}

/* Runs PreFilter, too. */
static struct subject begin(
	struct fixture *f, const struct bt_plugin *plugin, const void *settings, const char *spec)
{
	struct subject subject = compile_pod(f, plugin, settings, spec);

	if (subject.compiled.state) {
		plugin->pre_filter(subject.compiled.state, &f->cache->view, &subject.compiled);
	}
	return subject;
}

static void claim(
	struct fixture *f, const char *name, const char *metadata, const char *spec, const char *phase)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: %s, uid: "
		"u-%s, "
		"%s}, spec: {volumeMode: Filesystem, %s}, status: {phase: %s}}",
		name, name, metadata, spec, phase);
	storage(f, text);
}

static void volume(struct fixture *f, const char *name, const char *labels, const char *spec)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s, labels: {%s}}, spec: "
		"{volumeMode: "
		"Filesystem, accessModes: [ReadWriteOnce], %s}, status: {phase: Available}}",
		name, labels, spec);
	storage(f, text);
}

#define BOUND	   "annotations: {pv.kubernetes.io/bind-completed: 'yes'}"
#define USES(name) "volumes: [{name: v, persistentVolumeClaim: {claimName: " name "}}]"

/* ---- VolumeRestrictions ---- */

struct disks {
	const char *there, *wanted;
	bool clash;
};

static const struct disks disks[] = {
	{"gcePersistentDisk: {pdName: a}", "gcePersistentDisk: {pdName: a}", true},
	{"gcePersistentDisk: {pdName: a}", "gcePersistentDisk: {pdName: b}", false},
	{"gcePersistentDisk: {pdName: a, readOnly: true}", "gcePersistentDisk: {pdName: a, readOnly: true}",
		false},
	{"gcePersistentDisk: {pdName: a, readOnly: true}", "gcePersistentDisk: {pdName: a}", true},
	{"awsElasticBlockStore: {volumeID: a, readOnly: true}",
		"awsElasticBlockStore: {volumeID: a, readOnly: true}", true},
	{"awsElasticBlockStore: {volumeID: a}", "gcePersistentDisk: {pdName: a}", false},
	{"iscsi: {iqn: a}", "iscsi: {iqn: a}", true},
	{"iscsi: {iqn: a, readOnly: true}", "iscsi: {iqn: a, readOnly: true}", false},
	{"rbd: {monitors: [a, b], pool: p, image: i}", "rbd: {monitors: [b, c], pool: p, image: i}", true},
	{"rbd: {monitors: [a], pool: p, image: i}", "rbd: {monitors: [c], pool: p, image: i}", false},
	{"rbd: {monitors: [a], pool: p, image: i}", "rbd: {monitors: [a], pool: q, image: i}", false},
	{"cinder: {volumeID: a}", "cinder: {volumeID: a}", false},
};

static void disks_that_clash_keep_a_node_away(void **state)
{
	struct fixture *f = *state;
	char text[256];

	for (size_t i = 0; i < COUNT_OF(disks); i++) {
		snprintf(text, sizeof(text), "name: n%zu", i);
		uint32_t node = fixture_node(f, text, "", "");

		snprintf(text, sizeof(text), "nodeName: n%zu, volumes: [{name: v, %s}]", i, disks[i].there);
		uint32_t pod = fixture_pod(f, text);
		snprintf(text, sizeof(text), "volumes: [{name: v, %s}]", disks[i].wanted);
		struct subject subject = begin(f, &bt_plugin_volume_restrictions, NULL, text);
		if (disks[i].clash) {
			assert_refused(&subject, node, BT_UNSCHEDULABLE, "node(s) had no available disk");
		} else {
			assert_true(passes(&subject, node));
		}
		bt_ledger_remove(f->cache->ledger, pod);
		assert_true(passes(&subject, node));
	}
}

static void a_claim_for_one_pod_is_not_shared(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	claim(f, "c", "labels: {}", "accessModes: [ReadWriteOncePod]", "Pending");
	assert_true(begin(f, &bt_plugin_volume_restrictions, NULL, USES("c")).compiled.filter_skip);
	fixture_pod(f, "nodeName: n1, " USES("c"));
	struct subject subject = begin(f, &bt_plugin_volume_restrictions, NULL, USES("c"));
	assert_refused(&subject, node, BT_UNSCHEDULABLE,
		"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
		"in-use "
		"by another pod");
	subject = begin(f, &bt_plugin_volume_restrictions, NULL, USES("x"));
	assert_string_equal(subject.compiled.refusal, "persistentvolumeclaim \"x\" not found");
	/* A pod on a deleted node does not count. */
	assert_int_equal(cache_remove_node(f->cache, bt_str("n1")), BT_OK);
	assert_true(begin(f, &bt_plugin_volume_restrictions, NULL, USES("c")).compiled.filter_skip);
}

/* ---- NodeVolumeLimits ---- */

static void volumes_beyond_a_nodes_limit_are_refused(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", ""), free_node = fixture_node(f, "name: n2", "", "");

	storage(f, "{" STORAGE
		   "kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, allocatable: {count: "
		   "1}}]}}");
	storage(f, LATE);
	claim(f, "a", BOUND, "volumeName: pa", "Bound");
	claim(f, "b", "labels: {}", "storageClassName: late", "Pending");
	volume(f, "pa", "", "csi: {driver: d, volumeHandle: h}");
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, USES("a"));
	assert_true(passes(&subject, node));
	uint32_t pod = fixture_pod(f, "nodeName: n1, " USES("a"));
	assert_true(passes(&subject, node)); /* it is there already */
	subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, USES("b"));
	assert_refused(&subject, node, BT_UNSCHEDULABLE, "node(s) exceed max volume count");
	assert_true(passes(&subject, free_node));
	bt_ledger_remove(f->cache->ledger, pod);
	assert_true(passes(&subject, node));
	/* An attachment counts without a pod. */
	storage(f, "{" STORAGE
		   "kind: VolumeAttachment, metadata: {name: va}, spec: {attacher: d, nodeName: n1, source: "
		   "{persistentVolumeName: pa}}}");
	assert_false(passes(&subject, node));
	assert_int_equal(
		cache_remove(f->cache, BT_KIND_VOLUME_ATTACHMENT, (struct bt_str){0}, bt_str("va")), BT_OK);
	assert_true(passes(&subject, node));
	subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, USES("x"));
	assert_refused(&subject, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"looking up PVC default/x: persistentvolumeclaim \"x\" not found");
}

static void in_tree_disks_count_for_their_drivers(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	storage(f,
		"{" STORAGE "kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: ebs.csi.aws.com, "
		"allocatable: {count: 0}}]}}");
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &any_driver,
		"volumes: [{name: v, awsElasticBlockStore: {volumeID: 'aws://z/vol-1'}}]");
	assert_refused(&subject, node, BT_UNSCHEDULABLE, "node(s) exceed max volume count");
	subject = begin(f, &bt_plugin_node_volume_limits, &any_driver,
		"volumes: [{name: v, awsElasticBlockStore: {volumeID: 'aws://z/odd'}}]");
	assert_false(passes(&subject, node));
	assert_string_equal(
		bt_plugin_node_volume_limits.failure(subject.compiled.term, &f->cache->view, node),
		"converting volume(v) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
		"Invalid "
		"format for AWS volume (aws://z/odd)");
}

#define PORTWORX(id) "volumes: [{name: v, portworxVolume: {volumeID: " id "}}]"

/* n1 has a limit of one Portworx volume, and has one; its kubelet has migrated the listed plugins. */
static void show_portworx_node(struct fixture *f, const char *list)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{" STORAGE "kind: CSINode, metadata: {name: n1, annotations: "
		"{storage.alpha.kubernetes.io/migrated-plugins: '%s'}}, spec: {drivers: [{name: "
		"pxd.portworx.com, allocatable: {count: 1}}]}}",
		list);
	storage(f, text);
}

static bool portworx_counts(struct fixture *f, uint32_t node)
{
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, PORTWORX("b"));

	return !passes(&subject, node);
}

static void portworx_counts_on_every_node_with_a_csi_node(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	fixture_pod(f, "nodeName: n1, " PORTWORX("a"));
	assert_false(portworx_counts(f, node));
	show_portworx_node(f, "kubernetes.io/gce-pd");
	assert_true(portworx_counts(f, node));
}

static void portworx_counted_on_nodes_that_had_migrated_it_until_1_35(void **state)
{
	static const char csi_pod[] = "volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]";
	struct fixture *f = *state;

	bt_volumes_configure(f->cache->volumes, bt_release_find(bt_str("1.35")));
	uint32_t node = fixture_node(f, "name: n1", "", "");
	fixture_pod(f, "nodeName: n1, " PORTWORX("a"));
	show_portworx_node(f, "kubernetes.io/gce-pd");
	assert_false(portworx_counts(f, node));
	/* Attached volumes of the pod do not count again. */
	claim(f, "a", BOUND, "volumeName: pa", "Bound");
	volume(f, "pa", "", "csi: {driver: pxd.portworx.com, volumeHandle: h}");
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, csi_pod);
	assert_true(passes(&subject, node));
	show_portworx_node(f, "kubernetes.io/gce-pd,kubernetes.io/portworx-volume");
	assert_true(portworx_counts(f, node));
	assert_false(passes(&subject, node));
}

static void a_driver_may_be_demanded(void **state)
{
	static const struct bt_node_volume_limits_settings insisting = {BT_DEMAND_DRIVERS_THAT_INSIST},
							   every = {BT_DEMAND_EVERY_DRIVER};
	static const char missing[] = "d CSI driver is not installed on the node";
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	storage(f, LATE);
	claim(f, "b", "labels: {}", "storageClassName: late", "Pending");
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &every, USES("b"));
	assert_true(passes(&subject, node)); /* there may be no driver */
	storage(f, "{" STORAGE "kind: CSIDriver, metadata: {name: d}, spec: {}}");
	assert_refused(&subject, node, BT_UNSCHEDULABLE, missing);
	subject = begin(f, &bt_plugin_node_volume_limits, &insisting, USES("b"));
	assert_true(passes(&subject, node));
	storage(f, "{" STORAGE
		   "kind: CSIDriver, metadata: {name: d}, spec: {preventPodSchedulingIfMissing: true}}");
	assert_refused(&subject, node, BT_UNSCHEDULABLE, missing);
	subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, USES("b"));
	assert_true(passes(&subject, node));
}

/* ---- VolumeZone ---- */

static void a_volumes_zone_is_its_nodes(void **state)
{
	struct fixture *f = *state;
	uint32_t a = fixture_node(f, "name: a, labels: {topology.kubernetes.io/zone: a}", "", "");
	uint32_t b = fixture_node(f, "name: b, labels: {failure-domain.beta.kubernetes.io/zone: b}", "", "");
	uint32_t bare = fixture_node(f, "name: bare", "", "");

	claim(f, "old", BOUND, "volumeName: p1", "Bound");
	claim(f, "new", BOUND, "volumeName: p2", "Bound");
	volume(f, "p1", "failure-domain.beta.kubernetes.io/zone: 'a__b'", "capacity: {storage: 1Gi}");
	volume(f, "p2", "topology.kubernetes.io/zone: ' b '", "capacity: {storage: 1Gi}");
	struct subject subject = begin(f, &bt_plugin_volume_zone, &off, USES("old"));
	assert_true(passes(&subject, a) && passes(&subject, b) && passes(&subject, bare));
	subject = begin(f, &bt_plugin_volume_zone, &off, USES("new"));
	assert_refused(
		&subject, a, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) had no available volume zone");
	assert_false(passes(&subject, b)); /* a new label does not read an old one */
	assert_true(passes(&subject, bare));
	volume(f, "p2", "topology.kubernetes.io/zone: 'a____b'", "capacity: {storage: 1Gi}");
	assert_true(begin(f, &bt_plugin_volume_zone, &off, USES("new")).compiled.filter_skip);
}

struct refusal {
	const char *metadata, *spec, *phase, *text;
};

static void claims_without_zones_are_refused_in_words(void **state)
{
	static const struct refusal rows[] = {
		{BOUND, "volumeName: gone", "Bound", "persistentvolume \"gone\" not found"},
		{"labels: {}", "accessModes: []", "Pending",
			"PersistentVolumeClaim had no pv name and storageClass name"},
		{"labels: {}", "storageClassName: none", "Pending",
			"storageclass.storage.k8s.io \"none\" not found"},
		{"labels: {}", "storageClassName: now", "Pending", "PersistentVolume had no name"},
	};
	struct fixture *f = *state;

	storage(f, "{" STORAGE "kind: StorageClass, metadata: {name: now}, volumeBindingMode: Immediate}");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		claim(f, "c", rows[i].metadata, rows[i].spec, rows[i].phase);
		struct subject subject = begin(f, &bt_plugin_volume_zone, &off, USES("c"));
		assert_string_equal(subject.compiled.refusal, rows[i].text);
	}
}

/* ---- VolumeBinding ---- */

static void claims_are_refused_in_words(void **state)
{
	static const struct refusal rows[] = {
		{"labels: {}", "volumeName: p", "Lost",
			"persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"p\""},
		{"deletionTimestamp: '2026-01-01T00:00:00Z'", "storageClassName: late", "Pending",
			"persistentvolumeclaim \"c\" is being deleted"},
		{"labels: {}", "storageClassName: none", "Pending",
			"pod has unbound immediate PersistentVolumeClaims"},
		{"labels: {}", "storageClassName: late, volumeName: p", "Pending",
			"pod has unbound immediate PersistentVolumeClaims"},
	};
	struct fixture *f = *state;

	storage(f, LATE);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		claim(f, "c", rows[i].metadata, rows[i].spec, rows[i].phase);
		struct subject subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
		assert_string_equal(subject.compiled.refusal, rows[i].text);
	}
	struct subject subject =
		begin(f, &bt_plugin_volume_binding, &no_scores, "volumes: [{name: v, ephemeral: {}}]");
	assert_non_null(
		strstr(subject.compiled.refusal, "waiting for ephemeral volume controller to create"));
}

static void bound_volumes_are_reached_or_not(void **state)
{
	struct fixture *f = *state;
	uint32_t near = fixture_node(f, "name: near, labels: {z: a}", "", ""),
		 far = fixture_node(f, "name: far", "", "");

	claim(f, "c", BOUND, "volumeName: p", "Bound");
	struct subject subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_refused(&subject, near, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
	volume(f, "p", "",
		"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: In, "
		"values: "
		"[a]}]}]}}");
	subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&subject, near));
	assert_refused(&subject, far, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match PersistentVolume's node affinity");
}

/* Reserve's bindings: their number, and the first. */
static uint32_t choose(
	const struct subject *subject, uint32_t node, const struct bt_volume_binding **out_bindings)
{
	const struct bt_plugin_use use = {.filter = true, .reserve = true};
	struct bt_reservation reservation = {0};

	bt_plugin_volume_binding.reserve(
		&use, &subject->compiled, &subject->f->cache->view, node, &reservation);
	*out_bindings = reservation.bindings;
	return reservation.binding_n;
}

#define ASKS "accessModes: [ReadWriteOnce], storageClassName: static, resources: {requests: {storage: 1Gi}}"

static void the_smallest_volume_that_serves_is_taken_once(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");
	const struct bt_volume_binding *bindings;

	storage(f, "{" STORAGE
		   "kind: StorageClass, metadata: {name: static}, provisioner: kubernetes.io/no-provisioner, "
		   "volumeBindingMode: WaitForFirstConsumer}");
	claim(f, "c", "labels: {}", ASKS, "Pending");
	claim(f, "d", "labels: {}", ASKS, "Pending");
	volume(f, "large", "", "storageClassName: static, capacity: {storage: 5Gi}");
	volume(f, "small", "", "storageClassName: static, capacity: {storage: 2Gi}");
	volume(f, "tiny", "", "storageClassName: static, capacity: {storage: 1Mi}");
	struct subject first = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&first, node));
	assert_int_equal(choose(&first, node, &bindings), 1);
	assert_str(bt_intern_str(
			   f->cache->dictionary->intern, f->cache->view.storage->pvs[bindings[0].pv_ix].name),
		"small");
	bt_volumes_assume(f->cache->volumes, 1, fixture_name(f, "n1"), bindings, 1);
	struct subject second = begin(f, &bt_plugin_volume_binding, &no_scores, USES("d"));
	assert_int_equal(choose(&second, node, &bindings), 1);
	assert_str(bt_intern_str(
			   f->cache->dictionary->intern, f->cache->view.storage->pvs[bindings[0].pv_ix].name),
		"large");
	bt_volumes_assume(f->cache->volumes, 2, fixture_name(f, "n1"), bindings, 1);
	claim(f, "e", "labels: {}", ASKS, "Pending");
	struct subject third = begin(f, &bt_plugin_volume_binding, &no_scores, USES("e"));
	assert_refused(&third, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't find available persistent volumes to bind");
	bt_volumes_revert(f->cache->volumes, 1);
	third = begin(f, &bt_plugin_volume_binding, &no_scores, USES("e"));
	assert_true(passes(&third, node));
	bt_volumes_keep(f->cache->volumes, 2);
	bt_volumes_revert(f->cache->volumes, 2); /* it has been copied */
	bt_volumes_assume(f->cache->volumes, 1, fixture_name(f, "n1"), bindings, 0);
	assert_true(f->cache->view.storage->pvs[bindings[0].pv_ix].live);
}

static void a_claim_is_provisioned_where_there_is_room_and_stays_there(void **state)
{
	struct fixture *f = *state;
	uint32_t a = fixture_node(f, "name: a, labels: {z: a}", "", ""),
		 b = fixture_node(f, "name: b", "", "");
	const struct bt_volume_binding *bindings;

	storage(f, LATE);
	storage(f, "{" STORAGE "kind: CSIDriver, metadata: {name: d}, spec: {storageCapacity: true}}");
	claim(f, "c", "labels: {}", "storageClassName: late, resources: {requests: {storage: 1Gi}}",
		"Pending");
	storage(f, "{" STORAGE
		   "kind: CSIStorageCapacity, metadata: {namespace: default, name: s}, storageClassName: "
		   "late, capacity: 9Gi, nodeTopology: {matchLabels: {z: a}}}");
	struct subject subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&subject, a));
	assert_refused(
		&subject, b, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) did not have enough free storage");
	storage(f, "{" STORAGE "kind: CSIDriver, metadata: {name: d}, spec: {storageCapacity: false}}");
	subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&subject, b));
	assert_int_equal(choose(&subject, b, &bindings), 1);
	bt_volumes_assume(f->cache->volumes, 1, fixture_name(f, "b"), bindings, 1);
	subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&subject, b));
	assert_refused(&subject, a, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't find available persistent volumes to bind");
	bt_volumes_revert(f->cache->volumes, 1);
	subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&subject, a));
}

static void overrides_of_a_class_are_added_to_the_shape(void **state)
{
	static const struct bt_volume_shape_point shape[] = {{0, 100}, {100, 0}};
	static const struct bt_volume_binding_settings settings = {true, false, shape, COUNT_OF(shape)};
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	storage(f, LATE);
	claim(f, "c", "labels: {}",
		"accessModes: [ReadWriteOnce], storageClassName: late, resources: {requests: {storage: 1Gi}}",
		"Pending");
	volume(f, "p", "", "storageClassName: late, capacity: {storage: 4Gi}");
	struct subject subject = begin(f, &bt_plugin_volume_binding, &settings, USES("c"));
	assert_int_equal(score(&subject, node), 75);
}

/* ---- volumes that change between PreFilter and PostFilter ---- */

/* Announces the change. */
static void settle(struct subject *subject)
{
	subject->plugin->state_changes(&subject->compiled, &subject->f->cache->view, BT_VOLUMES_WILL_CHANGE);
	bt_volumes_retain(subject->f->cache->volumes);
}

static void look_up_again(struct subject *subject)
{
	subject->plugin->state_changes(&subject->compiled, &subject->f->cache->view, BT_STATE_HAS_CHANGED);
}

static void gone(struct fixture *f, enum bt_kind kind, const char *name)
{
	bool spaced = kind == BT_KIND_PERSISTENT_VOLUME_CLAIM;

	assert_int_equal(cache_remove(f->cache, kind, bt_str(spaced ? "default" : ""), bt_str(name)), BT_OK);
}

#define ONLY_A                                                                                               \
	"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: In, values: "  \
	"[a]}]}]}}"

static void claims_and_volumes_to_bind_stay_as_pre_filter_found_them(void **state)
{
	struct fixture *f = *state;
	uint32_t a = fixture_node(f, "name: a, labels: {z: a}", "", ""),
		 b = fixture_node(f, "name: b", "", "");

	claim(f, "c", "labels: {}", ASKS ", selector: {matchLabels: {kind: good}}", "Pending");
	storage(f, "{" STORAGE "kind: StorageClass, metadata: {name: static}, provisioner: "
		   "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}");
	volume(f, "p", "kind: good", "storageClassName: static, capacity: {storage: 1Gi}, " ONLY_A);
	struct subject subject = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	settle(&subject);
	gone(f, BT_KIND_PERSISTENT_VOLUME, "p");
	gone(f, BT_KIND_PERSISTENT_VOLUME_CLAIM, "c");
	for (uint32_t i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other-%u", i);
		volume(f, name, "kind: bad", "storageClassName: static, capacity: {storage: 1Gi}");
	}
	look_up_again(&subject);
	assert_true(passes(&subject, a));
	assert_refused(&subject, b, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't find available persistent volumes to bind");
	bt_volumes_end_retaining(f->cache->volumes);
}

static void provisioners_and_bound_volumes_are_looked_up_again(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: b", "", "");

	storage(f, LATE);
	claim(f, "c", "labels: {}", "storageClassName: late, resources: {requests: {storage: 1Gi}}",
		"Pending");
	claim(f, "bound", BOUND, "volumeName: p", "Bound");
	volume(f, "p", "", "capacity: {storage: 1Gi}");
	struct subject unbound = begin(f, &bt_plugin_volume_binding, &no_scores, USES("c"));
	assert_true(passes(&unbound, node));
	settle(&unbound);
	storage(f, "{" STORAGE "kind: CSIDriver, metadata: {name: d}, spec: {storageCapacity: true}}");
	look_up_again(&unbound);
	assert_refused(&unbound, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) did not have enough free storage");
	gone(f, BT_KIND_STORAGE_CLASS, "late");
	look_up_again(&unbound);
	assert_false(passes(&unbound, node));
	assert_string_equal(bt_plugin_volume_binding.failure(unbound.compiled.term, &f->cache->view, node),
		"failed to find storage class \"late\"");
	struct subject bound = begin(f, &bt_plugin_volume_binding, &no_scores, USES("bound"));
	settle(&bound);
	gone(f, BT_KIND_PERSISTENT_VOLUME_CLAIM, "bound");
	volume(f, "p", "", "capacity: {storage: 1Gi}, " ONLY_A);
	look_up_again(&bound);
	assert_refused(&bound, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match PersistentVolume's node affinity");
	bt_volumes_end_retaining(f->cache->volumes);
}

static void zones_are_looked_up_again_by_a_profile_without_pre_filter(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: a, labels: {topology.kubernetes.io/zone: a}", "", "");

	claim(f, "c", BOUND, "volumeName: p", "Bound");
	volume(f, "p", "topology.kubernetes.io/zone: a", "capacity: {storage: 1Gi}");
	struct subject kept = begin(f, &bt_plugin_volume_zone, &off, USES("c")),
		       rereading = begin(f, &bt_plugin_volume_zone, &on, USES("c"));
	settle(&kept);
	volume(f, "p", "topology.kubernetes.io/zone: b", "capacity: {storage: 1Gi}");
	look_up_again(&kept);
	look_up_again(&rereading);
	assert_true(passes(&kept, node));
	assert_refused(
		&rereading, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) had no available volume zone");
	gone(f, BT_KIND_PERSISTENT_VOLUME, "p");
	look_up_again(&kept);
	look_up_again(&rereading);
	assert_true(passes(&kept, node));
	assert_refused(
		&rereading, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "persistentvolume \"p\" not found");
	bt_volumes_end_retaining(f->cache->volumes);
}

static void counted_volumes_are_looked_up_again(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", "");

	storage(f, "{" STORAGE
		   "kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, allocatable: {count: "
		   "0}}]}}");
	claim(f, "a", BOUND, "volumeName: pa", "Bound");
	volume(f, "pa", "", "csi: {driver: e, volumeHandle: h}");
	struct subject subject = begin(f, &bt_plugin_node_volume_limits, &any_driver, USES("a"));
	assert_true(passes(&subject, node));
	settle(&subject);
	volume(f, "pa", "", "csi: {driver: d, volumeHandle: h}");
	look_up_again(&subject);
	assert_refused(&subject, node, BT_UNSCHEDULABLE, "node(s) exceed max volume count");
	gone(f, BT_KIND_PERSISTENT_VOLUME_CLAIM, "a");
	look_up_again(&subject);
	assert_refused(&subject, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"looking up PVC default/a: persistentvolumeclaim \"a\" not found");
	bt_volumes_end_retaining(f->cache->volumes);
}

/* ---- NodeDeclaredFeatures ---- */

/* The plugin's settings in a release, with its gate on or off. */
static const void *declared_features_in(const char *release, const bool *gate)
{
	bool gates[BT_GATE_N] = {false};

	gates[BT_GATE_NODE_DECLARED_FEATURES] = *gate;
	const struct bt_settings_env env = {
		.config = {.gates = gates, .release = bt_release_find(bt_str(release))}};

	return bt_plugin_node_declared_features.settings(&env, NULL);
}

static void features_must_be_declared(void **state)
{
	const struct bt_plugin *plugin = &bt_plugin_node_declared_features;
	const void *of_136 = declared_features_in("1.36", &on);
	struct fixture *f = *state;
	uint32_t has =
		fixture_node(f, "name: has", "", "declaredFeatures: [UserNamespacesHostNetworkSupport]");
	uint32_t lacks = fixture_node(f, "name: lacks", "", "declaredFeatures: [Other]");
	struct subject subject =
		compile_pod(f, plugin, of_136, "hostNetwork: true, hostUsers: false, containers: []");

	assert_true(passes(&subject, has));
	assert_refused(&subject, lacks, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match Pod's required features");
	subject = compile_pod(f, plugin, of_136,
		"containers: [{name: a, restartPolicyRules: [{action: RestartAllContainers}]}]");
	assert_false(passes(&subject, has));
	assert_true(compile_pod(f, plugin, of_136, "hostNetwork: true, containers: []").compiled.filter_skip);
	assert_true(compile_pod(
		f, plugin, declared_features_in("1.36", &off), "hostNetwork: true, hostUsers: false")
			    .compiled.filter_skip);
}

/* Twins that differ in features known to a release. */
static void a_release_requires_the_node_features_that_it_knows(void **state)
{
	static const char restarts[] =
		"containers: [{name: a, restartPolicyRules: [{action: RestartAllContainers}]}]";
	static const char mounts[] = "containers: [{name: a, volumeMounts: [{name: v, mountPath: /v, "
				     "bindMountOptions: [noexec]}]}]";
	static const char debugged[] =
		"containers: [{name: a}], ephemeralContainers: [{name: b, volumeMounts: "
		"[{name: w, mountPath: /w}, {name: v, mountPath: /v, bindMountOptions: [noexec]}]}, {name: "
		"c}]";
	static const char plain[] = "containers: [{name: a}], ephemeralContainers: [{name: b, volumeMounts: "
				    "[{name: v, mountPath: /v, bindMountOptions: []}]}]";
	const struct bt_plugin *plugin = &bt_plugin_node_declared_features;
	struct fixture *f = *state;
	uint32_t lacks = fixture_node(f, "name: lacks", "", "");
	struct subject subject = compile_pod(f, plugin, declared_features_in("1.35", &on), restarts);

	assert_refused(&subject, lacks, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node declared features check failed - unsatisfied requirements: "
		"RestartAllContainersOnContainerExits");
	assert_true(compile_pod(f, plugin, declared_features_in("1.35", &on),
		"hostNetwork: true, hostUsers: false, containers: []")
			    .compiled.filter_skip);
	assert_true(compile_pod(f, plugin, declared_features_in("1.36", &on), mounts).compiled.filter_skip);
	subject = compile_pod(f, plugin, declared_features_in("1.37", &on), mounts);
	assert_refused(&subject, lacks, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match Pod's required features");
	subject = compile_pod(f, plugin, declared_features_in("1.37", &on), debugged);
	assert_refused(&subject, lacks, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match Pod's required features");
	assert_true(compile_pod(f, plugin, declared_features_in("1.37", &on), plain).compiled.filter_skip);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(disks_that_clash_keep_a_node_away),
		FIXTURE_TEST(a_claim_for_one_pod_is_not_shared),
		FIXTURE_TEST(volumes_beyond_a_nodes_limit_are_refused),
		FIXTURE_TEST(in_tree_disks_count_for_their_drivers),
		FIXTURE_TEST(portworx_counts_on_every_node_with_a_csi_node),
		FIXTURE_TEST(portworx_counted_on_nodes_that_had_migrated_it_until_1_35),
		FIXTURE_TEST(a_driver_may_be_demanded),
		FIXTURE_TEST(a_volumes_zone_is_its_nodes),
		FIXTURE_TEST(claims_without_zones_are_refused_in_words),
		FIXTURE_TEST(claims_are_refused_in_words),
		FIXTURE_TEST(bound_volumes_are_reached_or_not),
		FIXTURE_TEST(the_smallest_volume_that_serves_is_taken_once),
		FIXTURE_TEST(a_claim_is_provisioned_where_there_is_room_and_stays_there),
		FIXTURE_TEST(overrides_of_a_class_are_added_to_the_shape),
		FIXTURE_TEST(claims_and_volumes_to_bind_stay_as_pre_filter_found_them),
		FIXTURE_TEST(provisioners_and_bound_volumes_are_looked_up_again),
		FIXTURE_TEST(zones_are_looked_up_again_by_a_profile_without_pre_filter),
		FIXTURE_TEST(counted_volumes_are_looked_up_again),
		FIXTURE_TEST(features_must_be_declared),
		FIXTURE_TEST(a_release_requires_the_node_features_that_it_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
