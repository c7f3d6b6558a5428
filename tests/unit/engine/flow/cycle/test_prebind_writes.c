/* SPDX-License-Identifier: Apache-2.0
 * PreBind's writes of volumes and claims, compared with what the engine has reserved for the pod; and the
 * effect of the binder's answer.
 */
#include "lab.h"

#include "engine/base/mem.h"

#define API "'apiVersion': 'resource.k8s.io/v1', "

/* The binder, and its last request as text. */
struct trial {
	struct lab lab;
	struct bt_buf request;
	uint64_t handle;
	uint32_t bind_n, release_n;
};

static void tell_selector(struct bt_buf *out, const struct bt_node_selector_object *selector)
{
	for (uint32_t t = 0; t < selector->term_n; t++) {
		const struct bt_requirement_object_list *lists[] = {
			&selector->terms[t].match_expressions, &selector->terms[t].match_fields};

		for (int k = 0; k < 2; k++) {
			for (uint32_t i = 0; i < lists[k]->n; i++) {
				const struct bt_requirement_object *r = &lists[k]->items[i];

				bt_buf_printf(out, " %s %.*s %.*s", k ? "field" : "label", BT_STR_ARG(r->key),
					BT_STR_ARG(r->operator_));
				for (uint32_t v = 0; v < r->values.n; v++) {
					bt_buf_printf(out, " %.*s", BT_STR_ARG(r->values.items[v]));
				}
			}
		}
	}
}

static void write_claim_text(struct bt_buf *out, const struct bt_bind_request_claim *claim)
{
	bt_buf_printf(out, "claim %.*s/%.*s%s%s%s%s\n", BT_STR_ARG(claim->name), BT_STR_ARG(claim->uid),
		claim->allocates ? " allocates" : "", claim->special ? " special" : "",
		claim->timed ? " timed" : "", claim->reserved ? " reserved" : "");
	for (uint32_t i = 0; i < claim->result_n; i++) {
		const struct bt_device_result_object *r = &claim->results[i];

		bt_buf_printf(out, "  %.*s: %.*s/%.*s/%.*s%s%s", BT_STR_ARG(r->request),
			BT_STR_ARG(r->driver), BT_STR_ARG(r->pool), BT_STR_ARG(r->device),
			r->admin_access ? " admin" : "", r->has_share_id ? " share" : "");
		for (uint32_t k = 0; k < r->consumed.n; k++) {
			char text[BT_QUANTITY_TEXT_MAX];

			bt_quantity_text(r->consumed.items[k].quantity, text);
			bt_buf_printf(out, " %.*s=%s", BT_STR_ARG(r->consumed.items[k].name), text);
		}
		bt_buf_char(out, '\n');
	}
	for (uint32_t i = 0; i < claim->request_n; i++) {
		bt_buf_printf(out, "  request %.*s of %.*s\n", BT_STR_ARG(claim->requests[i].name),
			BT_STR_ARG(claim->requests[i].class_));
	}
	for (uint32_t i = 0; i < claim->mapping_n; i++) {
		bt_buf_printf(out, "  container %u %.*s by %.*s\n", claim->mappings[i].container,
			BT_STR_ARG(claim->mappings[i].resource), BT_STR_ARG(claim->mappings[i].request));
	}
	if (claim->node_selector.set) {
		bt_buf_text(out, "  on");
		tell_selector(out, &claim->node_selector);
		bt_buf_char(out, '\n');
	}
}

static void note_bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct trial *t = context;

	(void)pipeline;
	t->bind_n++;
	t->handle = request->handle;
	bt_buf_clear(&t->request);
	for (uint32_t i = 0; i < request->volume_n; i++) {
		const struct bt_bind_request_volume *volume = &request->volumes[i];

		bt_buf_printf(&t->request, "volume of %.*s/%.*s: %.*s\n", BT_STR_ARG(volume->claim),
			BT_STR_ARG(volume->claim_uid), BT_STR_ARG(volume->volume));
	}
	for (uint32_t i = 0; i < request->claim_n; i++) {
		write_claim_text(&t->request, &request->claims[i]);
	}
}

static void note_release(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct trial *t = context;

	(void)pipeline;
	t->release_n++;
	t->handle = request->handle;
	bt_buf_clear(&t->request);
	bt_buf_printf(&t->request, "%s %.*s/%.*s/%.*s for %.*s", request->deletes ? "delete" : "deallocate",
		BT_STR_ARG(request->other.namespace_), BT_STR_ARG(request->other.name),
		BT_STR_ARG(request->other.uid), BT_STR_ARG(request->pod.name));
}

static void begin(struct trial *t)
{
	*t = (struct trial){.lab = {.now_ns = 1}};
	struct bt_pipeline_options options = lab_options(&t->lab);

	options.binder =
		(struct bt_pipeline_binder){.bind = note_bind, .release = note_release, .context = t};
	lab_begin(&t->lab, &options);
}

static void end(struct trial *t)
{
	lab_end(&t->lab);
	bt_buf_fini(&t->request);
}

static void apply(struct trial *t, const char *text)
{
	lab_feed(&t->lab, lab_watch_event(&t->lab, BT_WATCH_EVENT_APPLY, text));
	lab_take_in(&t->lab);
}

static void assert_reported(struct trial *t, const char *text)
{
	bt_buf_char(&t->request, 0);
	assert_string_equal(t->request.ptr, text);
	t->request.len--;
}

static const struct bt_view *view_of(struct trial *t)
{
	return &bt_engine_cache(bt_pipeline_engine(t->lab.pipeline))->view;
}

static uint32_t name_of(struct trial *t, const char *text)
{
	return bt_intern_find(
		bt_engine_cache(bt_pipeline_engine(t->lab.pipeline))->dictionary->intern, bt_str(text));
}

static const struct bt_resource_claim *claim_of(struct trial *t, const char *name)
{
	return bt_device_store_claim(view_of(t)->devices, name_of(t, "default"), name_of(t, name));
}

/* ---- volumes ---- */

static void add_class(struct trial *t)
{
	apply(t, "{'apiVersion': 'storage.k8s.io/v1', 'kind': 'StorageClass', 'metadata': {'name': 'late'}, "
		 "'provisioner': 'disks', 'volumeBindingMode': 'WaitForFirstConsumer'}");
	apply(t,
		"{'apiVersion': 'storage.k8s.io/v1', 'kind': 'StorageClass', 'metadata': {'name': 'static'}, "
		"'provisioner': 'kubernetes.io/no-provisioner', 'volumeBindingMode': "
		"'WaitForFirstConsumer'}");
}

static void add_volume_claim(struct trial *t, const char *name, const char *class_)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'namespace': 'default', "
		"'name': "
		"'%s', 'uid': 'u-%s'}, 'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': '%s', "
		"'resources': {'requests': {'storage': '1Gi'}}}, 'status': {'phase': 'Pending'}}",
		name, name, class_);
	apply(t, text);
}

static void add_volume(struct trial *t, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{'apiVersion': 'v1', 'kind': 'PersistentVolume', 'metadata': {'name': '%s'}, 'spec': "
		"{'accessModes': "
		"['ReadWriteOnce'], 'storageClassName': 'static', 'capacity': {'storage': '2Gi'}, 'local': "
		"{'path': "
		"'/x'}}, 'status': {'phase': 'Available'}}",
		name);
	apply(t, text);
}

#define VOLUME(name, claim) "{'name': '" name "', 'persistentVolumeClaim': {'claimName': '" claim "'}}"

static void volumes_are_bound_first_and_then_provisioned(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	lab_node(&t.lab, "n1");
	add_class(&t);
	add_volume_claim(&t, "new", "late");
	add_volume_claim(&t, "old", "static");
	add_volume(&t, "v1");
	lab_pod_event(&t.lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'",
		", 'volumes': [" VOLUME("a", "new") ", " VOLUME("b", "old") "]");
	lab_settle(&t.lab);
	assert_int_equal(t.bind_n, 1);
	assert_reported(&t, "volume of old/u-old: v1\nvolume of new/u-new: \n");
	/* From the engine's state. */
	const struct bt_pv *pv = bt_storage_pv(view_of(&t)->storage, name_of(&t, "v1"));
	assert_true(pv->assumed);
	assert_int_equal(pv->assumed_claim.name, name_of(&t, "old"));
	const struct bt_claim *claim =
		bt_storage_claim(view_of(&t)->storage, name_of(&t, "default"), name_of(&t, "new"));
	assert_int_equal(claim->assumed_node, name_of(&t, "n1"));
	end(&t);
}

static void of_a_pod_without_volumes_and_claims_nothing_is_written(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	lab_node(&t.lab, "n1");
	lab_pod(&t.lab, "p", "");
	lab_settle(&t.lab);
	assert_int_equal(t.bind_n, 1);
	assert_int_equal(t.request.len, 0);
	end(&t);
}

/* ---- claims ---- */

static void add_devices(struct trial *t, const char *devices)
{
	char text[1024];

	apply(t, "{" API "'kind': 'DeviceClass', 'metadata': {'name': 'k'}, 'spec': {'extendedResourceName': "
		 "'example.com/gpu'}}");
	apply(t, "{" API
		 "'kind': 'DeviceClass', 'metadata': {'name': 'other'}, 'spec': {'selectors': [{'cel': "
		 "{'expression': 'false'}}]}}");
	snprintf(text, sizeof(text),
		"{" API "'kind': 'ResourceSlice', 'metadata': {'name': 's'}, 'spec': {'driver': 'd', "
		"'nodeName': 'n1', "
		"'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1}, 'devices': [%s]}}",
		devices);
	apply(t, text);
}

static void add_claim(
	struct trial *t, const char *name, const char *version, const char *requests, const char *status)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{" API
		"'kind': 'ResourceClaim', 'metadata': {'namespace': 'default', 'name': '%s', 'uid': 'u-%s', "
		"'resourceVersion': '%s'}, 'spec': {'devices': {'requests': [%s]}}%s}",
		name, name, version, requests, status);
	apply(t, text);
}

#define EXACTLY(name, count)                                                                                 \
	"{'name': '" name                                                                                    \
	"', 'exactly': {'deviceClassName': 'k', 'allocationMode': 'ExactCount', 'count': " count "}}"
#define USES(claim) "{'name': '" claim "', 'resourceClaimName': '" claim "'}"

static void a_claim_is_allocated_as_the_engine_has_chosen(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	lab_node(&t.lab, "n1");
	add_devices(&t, "{'name': 'a'}, {'name': 'b'}, {'name': 'c'}");
	add_claim(&t, "c", "10", EXACTLY("x", "2"), "");
	/* The first alternative that gets devices. */
	add_claim(&t, "e", "11",
		"{'name': 'y', 'firstAvailable': [{'name': 'one', 'deviceClassName': 'other', "
		"'allocationMode': "
		"'ExactCount', 'count': 1}, {'name': 'two', 'deviceClassName': 'k', 'allocationMode': "
		"'ExactCount', "
		"'count': 1}]}",
		"");
	lab_pod_event(&t.lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'",
		", 'resourceClaims': [" USES("c") ", " USES("e") "]");
	lab_settle(&t.lab);
	assert_reported(&t, "claim c/u-c allocates timed\n  x: d/p/a\n  x: d/p/b\n  request x of k\n"
			    "  on field metadata.name In n1\n"
			    "claim e/u-e allocates timed\n  y/two: d/p/c\n  request y/two of k\n"
			    "  on field metadata.name In n1\n");
	assert_true(claim_of(&t, "c")->pending && claim_of(&t, "e")->pending);
	end(&t);
}

static void a_claim_that_is_allocated_is_only_reserved(void **state)
{
	static const char has_a[] =
		", 'status': {'allocation': {'allocationTimestamp': '2026-01-01T00:00:00Z', 'devices': "
		"{'results': [{'request': 'x', 'driver': 'd', 'pool': 'p', 'device': 'a'}]}}%s}";
	char status[512];
	struct trial t;

	(void)state;
	for (int reserved = 0; reserved < 2; reserved++) {
		begin(&t);
		lab_node(&t.lab, "n1");
		add_devices(&t, "{'name': 'a'}");
		snprintf(status, sizeof(status), has_a,
			reserved ? ", 'reservedFor': [{'resource': 'pods', 'name': 'p', 'uid': 'u'}]" : "");
		add_claim(&t, "c", "10", EXACTLY("x", "1"), status);
		lab_pod_event(&t.lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'",
			", 'resourceClaims': [" USES("c") "]");
		lab_settle(&t.lab);
		assert_int_equal(t.bind_n, 1);
		assert_reported(&t, reserved ? "claim c/u-c reserved\n" : "claim c/u-c\n");
		end(&t);
	}
}

/* The share ID of a claim's pending allocation. */
static uint32_t pending_share(struct trial *t, const char *name)
{
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(t->lab.pipeline));
	uint32_t claim_ix = (uint32_t)(claim_of(t, name) - cache->view.devices->claims);

	for (uint32_t pod_ix = 0; pod_ix < 8; pod_ix++) {
		uint32_t n;
		const struct bt_device_choice *choices = bt_devices_pending(cache->devices, pod_ix, &n);

		if (n && choices[0].claim_ix == claim_ix) {
			uint32_t share = choices[0].allocation.results[0].share;
			struct bt_str id = bt_intern_str(cache->dictionary->intern, share);

			assert_int_equal(id.len, 36);
			for (size_t i = 0; i < id.len; i++) {
				bool dash = i == 8 || i == 13 || i == 18 || i == 23;

				assert_true(dash ? id.ptr[i] == '-'
						 : memchr("0123456789abcdef", id.ptr[i], 16) != NULL);
			}
			assert_int_equal(id.ptr[14], '4');
			return share;
		}
	}
	fail();
	return 0;
}

static void allocations_of_shared_devices_have_a_share_id(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	lab_node(&t.lab, "n1");
	add_devices(&t, "{'name': 'a', 'allowMultipleAllocations': true, 'capacity': {'m': {'value': '10Gi', "
			"'requestPolicy': {'default': '1Gi', 'validRange': {'min': '1Gi'}}}}}");
	add_claim(&t, "c", "10",
		"{'name': 'x', 'exactly': {'deviceClassName': 'k', 'allocationMode': 'ExactCount', 'count': "
		"1, "
		"'capacity': {'requests': {'m': '4Gi'}}}}",
		"");
	lab_pod_event(
		&t.lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'", ", 'resourceClaims': [" USES("c") "]");
	lab_settle(&t.lab);
	assert_reported(&t, "claim c/u-c allocates timed\n  x: d/p/a share m=4294967296\n  request x of k\n"
			    "  on field metadata.name In n1\n");
	/* Two shares have different IDs, and each is a UUID. */
	uint32_t first = pending_share(&t, "c");
	add_claim(&t, "e", "11",
		"{'name': 'x', 'exactly': {'deviceClassName': 'k', 'allocationMode': 'ExactCount', 'count': "
		"1, "
		"'capacity': {'requests': {'m': '4Gi'}}}}",
		"");
	lab_pod_event(
		&t.lab, BT_WATCH_EVENT_APPLY, "q", ", 'uid': 'v'", ", 'resourceClaims': [" USES("e") "]");
	lab_settle(&t.lab);
	assert_int_equal(t.bind_n, 2);
	assert_int_not_equal(pending_share(&t, "e"), first);
	end(&t);
}

static void extended_resources_have_a_claim_made_and_mappings(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	lab_node(&t.lab, "n1");
	add_devices(&t, "{'name': 'a'}, {'name': 'b'}, {'name': 'c'}");
	/* The first init container needs one more than later ones hold, the second reuses theirs. */
	apply(&t,
		"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': 'p', "
		"'uid': 'u'}, "
		"'spec': {'schedulerName': 'default-scheduler', 'initContainers': [{'name': 'i', "
		"'resources': "
		"{'requests': {'example.com/gpu': '3'}, 'limits': {'example.com/gpu': '3'}}}, {'name': 'j', "
		"'resources': {'requests': {'example.com/gpu': '1'}, 'limits': {'example.com/gpu': '1'}}}], "
		"'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '1', 'example.com/gpu': "
		"'1'}, "
		"'limits': {'example.com/gpu': '1'}}}, {'name': 'b', 'resources': {'requests': "
		"{'example.com/gpu': "
		"'1'}, 'limits': {'example.com/gpu': '1'}}}]}}");
	lab_settle(&t.lab);
	assert_reported(&t, "claim / allocates special timed\n"
			    "  container-0-request-0: d/p/a\n  container-2-request-1: d/p/b\n"
			    "  container-3-request-0: d/p/c\n"
			    "  request container-0-request-0 of k\n  request container-2-request-1 of k\n"
			    "  request container-3-request-0 of k\n"
			    "  container 2 example.com/gpu by container-2-request-1\n"
			    "  container 3 example.com/gpu by container-3-request-0\n"
			    "  container 0 example.com/gpu by container-2-request-1\n"
			    "  container 0 example.com/gpu by container-3-request-0\n"
			    "  container 0 example.com/gpu by container-0-request-0\n"
			    "  container 1 example.com/gpu by container-2-request-1\n"
			    "  on field metadata.name In n1\n");
	/* The API server generated the claim's name. */
	const struct bt_written_claim written = {.name = bt_str("p-extended-resources-x7"),
		.uid = bt_str("u-x"),
		.version = 20,
		.reserved = true,
		.special = true};
	const struct bt_binding_answer answer = {.bound = true, .claims = &written, .claim_n = 1};
	assert_int_equal(bt_pipeline_answer(t.lab.pipeline, t.handle, &answer), BT_OK);
	lab_settle(&t.lab);
	assert_true(claim_of(&t, "p-extended-resources-x7")->allocated);
	assert_int_equal(claim_of(&t, "p-extended-resources-x7")->allocation.result_n, 3);
	end(&t);
}

/* ---- answers ---- */

static void begin_binding(struct trial *t)
{
	begin(t);
	lab_node(&t->lab, "n1");
	add_devices(t, "{'name': 'a'}");
	add_claim(t, "c", "10", EXACTLY("x", "1"), "");
	lab_pod_event(
		&t->lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'", ", 'resourceClaims': [" USES("c") "]");
	lab_settle(&t->lab);
	assert_int_equal(t->bind_n, 1);
}

static void answer(struct trial *t, bool bound, uint64_t version)
{
	/* The texts are freed before the answer is applied. */
	char name[] = "c", uid[] = "u-c";
	const struct bt_written_claim written = {
		.name = bt_str(name), .uid = bt_str(uid), .version = version, .reserved = bound};
	const struct bt_binding_answer answer = {.bound = bound, .claims = &written, .claim_n = version > 0};

	assert_int_equal(bt_pipeline_answer(t->lab.pipeline, t->handle, &answer), BT_OK);
	name[0] = uid[0] = '?';
	lab_settle(&t->lab);
}

static void the_claim_of_an_answer_counts_until_the_watch_shows_it(void **state)
{
	(void)state;
	for (int bound = 0; bound < 2; bound++) {
		struct trial t;

		begin_binding(&t);
		answer(&t, bound, 20);
		assert_true(claim_of(&t, "c")->allocated);
		assert_int_equal(claim_of(&t, "c")->reserved_n, bound);
		add_claim(&t, "c", "15", EXACTLY("x", "1"), "");
		assert_true(claim_of(&t, "c")->allocated);
		add_claim(&t, "c", "21", EXACTLY("x", "1"), "");
		assert_false(claim_of(&t, "c")->allocated);
		end(&t);
	}
}

static void a_binding_that_failed_before_it_wrote_leaves_the_claim_as_it_was(void **state)
{
	struct trial t;

	(void)state;
	begin_binding(&t);
	answer(&t, false, 0);
	assert_false(claim_of(&t, "c")->allocated || claim_of(&t, "c")->pending);
	end(&t);
}

/* Only the binder knows what it has written; no other event decides that. */
static void a_pod_that_has_gone_keeps_its_devices_until_the_binder_answers(void **state)
{
	struct trial t;

	(void)state;
	begin_binding(&t);
	lab_pod_event(&t.lab, BT_WATCH_EVENT_DELETE, "p", ", 'uid': 'u'", "");
	for (int i = 0; i < 5; i++) {
		lab_wait(&t.lab, 3600 * LAB_SECOND);
	}
	assert_true(claim_of(&t, "c")->pending);
	assert_int_equal(lab_counts(&t.lab).binding_n, 1);
	answer(&t, false, 20);
	assert_true(claim_of(&t, "c")->allocated && !claim_of(&t, "c")->pending);
	assert_int_equal(lab_counts(&t.lab).binding_n, 0);
	end(&t);
}

static void bindings_that_are_never_called_free_their_claims(void **state)
{
	struct trial t;

	(void)state;
	/* Cancelled before the binder gets it; never sent. */
	begin(&t);
	lab_node(&t.lab, "n1");
	add_devices(&t, "{'name': 'a'}");
	add_claim(&t, "c", "10", EXACTLY("x", "1"), "");
	lab_pod_event(
		&t.lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'", ", 'resourceClaims': [" USES("c") "]");
	lab_take_in(&t.lab);
	assert_true(bt_pipeline_decide_step(t.lab.pipeline, 1));
	assert_true(claim_of(&t, "c")->pending);
	lab_pod_event(&t.lab, BT_WATCH_EVENT_DELETE, "p", ", 'uid': 'u'", "");
	lab_settle(&t.lab);
	assert_int_equal(t.bind_n, 0);
	assert_false(claim_of(&t, "c")->pending);
	lab_pod_event(
		&t.lab, BT_WATCH_EVENT_APPLY, "q", ", 'uid': 'v'", ", 'resourceClaims': [" USES("c") "]");
	lab_take_in(&t.lab);
	assert_true(bt_pipeline_decide_step(t.lab.pipeline, 1));
	end(&t);
}

/* ---- claims that block a pod ---- */

/* A pod whose claim has a device on a deleted node. */
static void begin_kept_out(struct trial *t)
{
	static const char elsewhere[] = ", 'status': {'allocation': {'devices': {'results': [{'request': "
					"'x', 'driver': 'd', 'pool': 'q', 'device': "
					"'z'}]}, 'nodeSelector': {'nodeSelectorTerms': [{'matchFields': "
					"[{'key': 'metadata.name', 'operator': "
					"'In', 'values': ['gone']}]}]}}}";

	begin(t);
	lab_node(&t->lab, "n1");
	add_devices(t, "{'name': 'a'}");
	add_claim(t, "c", "10", EXACTLY("x", "1"), elsewhere);
	lab_pod_event(
		&t->lab, BT_WATCH_EVENT_APPLY, "p", ", 'uid': 'u'", ", 'resourceClaims': [" USES("c") "]");
	lab_settle(&t->lab);
}

static void a_claim_that_keeps_a_pod_out_is_released_by_the_binder(void **state)
{
	struct trial t;

	(void)state;
	begin_kept_out(&t);
	assert_int_equal(t.release_n, 1);
	assert_reported(&t, "deallocate default/c/u-c for p");
	/* Until an event shows that, it is allocated. */
	assert_true(claim_of(&t, "c")->allocated);
	assert_int_equal(t.bind_n, 0);
	assert_int_equal(bt_pipeline_evicted(t.lab.pipeline, t.handle), BT_OK);
	lab_settle(&t.lab);
	assert_int_equal(lab_counts(&t.lab).release_n, 1);
	assert_int_equal(lab_counts(&t.lab).evicting_n, 0);
	add_claim(&t, "c", "11", EXACTLY("x", "1"), "");
	lab_wait(&t.lab, 60 * LAB_SECOND);
	assert_int_equal(t.bind_n, 1);
	end(&t);
}

static void a_pod_is_tried_again_when_its_claim_could_not_be_released(void **state)
{
	(void)state;
	for (int answers = 0; answers < 2; answers++) {
		struct trial t;

		begin_kept_out(&t);
		assert_int_equal(t.release_n, 1);
		if (answers) {
			assert_int_equal(
				bt_pipeline_evict_failed(t.lab.pipeline, t.handle, bt_str("no")), BT_OK);
		} else {
			lab_wait(&t.lab, 3600 * LAB_SECOND);
		}
		lab_wait(&t.lab, 60 * LAB_SECOND);
		assert_true(t.release_n >= 2);
		assert_true(lab_counts(&t.lab).release_failed_n >= 1);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(volumes_are_bound_first_and_then_provisioned),
		cmocka_unit_test(of_a_pod_without_volumes_and_claims_nothing_is_written),
		cmocka_unit_test(a_claim_is_allocated_as_the_engine_has_chosen),
		cmocka_unit_test(a_claim_that_is_allocated_is_only_reserved),
		cmocka_unit_test(allocations_of_shared_devices_have_a_share_id),
		cmocka_unit_test(extended_resources_have_a_claim_made_and_mappings),
		cmocka_unit_test(the_claim_of_an_answer_counts_until_the_watch_shows_it),
		cmocka_unit_test(a_binding_that_failed_before_it_wrote_leaves_the_claim_as_it_was),
		cmocka_unit_test(a_pod_that_has_gone_keeps_its_devices_until_the_binder_answers),
		cmocka_unit_test(bindings_that_are_never_called_free_their_claims),
		cmocka_unit_test(a_claim_that_keeps_a_pod_out_is_released_by_the_binder),
		cmocka_unit_test(a_pod_is_tried_again_when_its_claim_could_not_be_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
