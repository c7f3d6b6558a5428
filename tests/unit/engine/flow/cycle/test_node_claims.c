/* SPDX-License-Identifier: Apache-2.0
 * Node-allocatable resources of claims, from a pod's assumption until its status lists them: the binder's
 * list, and the usage meanwhile.
 */
#include "lab.h"

#define API	    "'apiVersion': 'resource.k8s.io/v1', "
#define COUNT_OF(x) (sizeof(x) / sizeof((x)[0]))

struct trial {
	struct lab lab;
	const char *release;
	struct bt_buf status; /* the list of the last request, as the server shows it then */
	uint32_t claim_n;     /* in that list */
	uint64_t handle;
};

static void write_amount(struct bt_buf *out, const char *key, struct bt_quantity quantity, const char *end)
{
	char text[BT_QUANTITY_TEXT_MAX];

	bt_quantity_text(quantity, text);
	bt_buf_printf(out, "'%s': '%s'%s", key, text, end);
}

static void write_containers(struct bt_buf *out, const struct bt_node_claim_object *claim)
{
	bt_buf_text(out, "'containers': [");
	for (uint32_t i = 0; i < claim->containers.n; i++) {
		bt_buf_printf(out, "%s'%.*s'", i ? ", " : "", BT_STR_ARG(claim->containers.items[i]));
	}
	bt_buf_text(out, "]");
}

static void write_claim(struct bt_buf *out, const struct bt_node_claim_object *claim, bool alone)
{
	bt_buf_printf(out, "{'resourceClaimName': '%.*s', ", BT_STR_ARG(claim->claim));
	write_containers(out, claim);
	bt_buf_text(out, alone ? ", 'resources': {" : ", 'mapping': [");
	for (uint32_t i = 0; i < claim->mapping_n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", BT_STR_ARG(claim->mapping[i].name));
		bt_buf_printf(out, "%s", i ? ", " : "");
		if (alone) {
			write_amount(out, name, claim->mapping[i].quantity, "");
		} else {
			bt_buf_printf(out, "{'name': '%s', ", name);
			write_amount(out, "quantity", claim->mapping[i].quantity, "}");
		}
	}
	bt_buf_text(out, alone ? "}" : "], 'overhead': [");
	for (uint32_t i = 0; !alone && i < claim->overhead_n; i++) {
		const struct bt_node_overhead_object *overhead = &claim->overheads[i];

		bt_buf_printf(out, "%s{'name': '%.*s'", i ? ", " : "", BT_STR_ARG(overhead->name));
		if (overhead->has_per_pod) {
			bt_buf_text(out, ", ");
			write_amount(out, "perPod", overhead->per_pod, "");
		}
		if (overhead->has_per_container) {
			bt_buf_text(out, ", ");
			write_amount(out, "perContainer", overhead->per_container, "");
		}
		bt_buf_char(out, '}');
	}
	bt_buf_text(out, alone ? "}" : "]}");
}

static void note_bind(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct trial *t = context;
	bool alone = strcmp(t->release, "1.36") == 0;

	(void)pipeline;
	t->handle = request->handle;
	t->claim_n = request->node_claim_n;
	bt_buf_clear(&t->status);
	bt_buf_char(&t->status, '[');
	for (uint32_t i = 0; i < request->node_claim_n; i++) {
		bt_buf_text(&t->status, i ? ", " : "");
		write_claim(&t->status, &request->node_claims[i], alone);
	}
	bt_buf_char(&t->status, ']');
	bt_buf_char(&t->status, 0);
}

static void apply(struct trial *t, const char *text)
{
	lab_feed(&t->lab, lab_watch_event(&t->lab, BT_WATCH_EVENT_APPLY, text));
	lab_take_in(&t->lab);
}

/* A device with mapping and overhead of CPU and memory, in the fields of both releases. */
static void add_devices(struct trial *t)
{
	apply(t, "{" API "'kind': 'DeviceClass', 'metadata': {'name': 'k'}, 'spec': {}}");
	apply(t,
		"{" API
		"'kind': 'ResourceSlice', 'metadata': {'name': 's'}, 'spec': {'driver': 'd', 'nodeName': "
		"'n1', 'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1}, 'devices': [{'name': "
		"'a', 'nodeAllocatableResources': {'memory': {'mapping': {'deviceMultiplier': '1500m'}, "
		"'overhead': {'perPod': '1Ki'}}, 'cpu': {'mapping': {'deviceMultiplier': '333u'}, "
		"'overhead': {'perPod': '10m', 'perContainer': '3m'}}}, "
		"'nodeAllocatableResourceMappings': {'memory': {'allocationMultiplier': '1500m'}, 'cpu': "
		"{'allocationMultiplier': '333u'}}}, {'name': 'plain'}]}}");
}

static void add_claim(struct trial *t, const char *name, const char *count)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{" API "'kind': 'ResourceClaim', 'metadata': {'namespace': 'default', 'name': '%s', 'uid': "
		"'u-%s', 'resourceVersion': '10'}, 'spec': {'devices': {'requests': [{'name': 'x', "
		"'exactly': "
		"{'deviceClassName': 'k', 'allocationMode': 'ExactCount', 'count': %s}}]}}}",
		name, name, count);
	apply(t, text);
}

/* The pod, of two containers that name its claim; node and status begin with a comma. */
static void show_pod(struct trial *t, const char *node, const char *status)
{
	static const char container[] =
		"{'name': '%s', 'resources': {'requests': {'cpu': '100m'}, 'claims': [{'name': 'c'}]}}";
	struct bt_buf text = {.len = 0};

	bt_buf_text(&text,
		"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': "
		"'p', 'uid': 'u'}, 'spec': {'schedulerName': 'default-scheduler', 'containers': [");
	bt_buf_printf(&text, container, "a");
	bt_buf_text(&text, ", ");
	bt_buf_printf(&text, container, "b");
	bt_buf_printf(&text,
		"], 'resourceClaims': [{'name': 'c', 'resourceClaimName': 'c'}]%s}, 'status': {'phase': "
		"'Pending'%s}}",
		node, status);
	apply(t, text.ptr);
	bt_buf_fini(&text);
}

/* count: how many devices the claim asks for. */
static void begin(struct trial *t, const char *release, const char *count)
{
	*t = (struct trial){.lab = {.now_ns = 1}, .release = release};
	struct bt_pipeline_options options = lab_options(&t->lab);
	struct bt_gates gates;
	struct bt_buf why = {0};

	options.binder = (struct bt_pipeline_binder){.bind = note_bind, .context = t};
	bt_gates_init(&gates, bt_release_find(bt_str(release)));
	assert_int_equal(bt_gates_parse(&gates, bt_str("DRANodeAllocatableResources=true"), &why), BT_OK);
	bt_config_init_default(&t->lab.config, &gates);
	lab_open(&t->lab, &options);
	bt_buf_fini(&why);
	lab_node(&t->lab, "n1");
	lab_pod_event(&t->lab, BT_WATCH_EVENT_APPLY, "there", ", 'uid': 'there'", ", 'nodeName': 'n1'");
	add_devices(t);
	add_claim(t, "c", count);
}

static void end(struct trial *t)
{
	lab_end(&t->lab);
	bt_buf_fini(&t->status);
}

static struct bt_node_use use_of(struct trial *t)
{
	struct bt_node_use use = bt_engine_cache(bt_pipeline_engine(t->lab.pipeline))->view.usage->nodes[0];

	/* The order of the node's pods depends on the order of events. */
	use.first_on = use.first_nominated = 0;
	return use;
}

/* By members: the structure has padding. */
static void assert_same_use(const struct bt_node_use *a, const struct bt_node_use *b)
{
	assert_memory_equal(a->used, b->used, sizeof(a->used));
	assert_int_equal(a->nonzero_milli_cpu, b->nonzero_milli_cpu);
	assert_int_equal(a->nonzero_memory, b->nonzero_memory);
	assert_int_equal(a->pod_n, b->pod_n);
	assert_int_equal(a->status_n, b->status_n);
}

static void answer(struct trial *t, bool bound)
{
	const struct bt_written_claim written = {
		.name = bt_str("c"), .uid = bt_str("u-c"), .version = 20, .reserved = bound};
	const struct bt_binding_answer answer = {.bound = bound, .claims = &written, .claim_n = 1};

	assert_int_equal(bt_pipeline_answer(t->lab.pipeline, t->handle, &answer), BT_OK);
}

static void assumed_usage_equals_the_usage_of_the_patched_and_bound_pod(void **state)
{
	static const struct {
		const char *release, *status;
		int64_t cpu, memory;
	} cases[] = {
		{"1.37",
			"[{'resourceClaimName': 'c', 'containers': ['a', 'b'], 'mapping': [{'name': 'cpu', "
			"'quantity': '333u'}, {'name': 'memory', 'quantity': '1500m'}], 'overhead': "
			"[{'name': "
			"'cpu', 'perPod': '10m', 'perContainer': '3m'}, {'name': 'memory', 'perPod': "
			"'1Ki'}]}]",
			200 + 10 + 2 * 3 + 1, 2 + 1024},
		{"1.36",
			"[{'resourceClaimName': 'c', 'containers': ['a', 'b'], 'resources': {'cpu': '333u', "
			"'memory': '1500m'}}]",
			200 + 1, 2},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct trial t;
		char status[1024];

		begin(&t, cases[i].release, "1");
		show_pod(&t, "", "");
		lab_settle(&t.lab);
		assert_int_equal(t.claim_n, 1);
		assert_string_equal(t.status.ptr, cases[i].status);
		struct bt_node_use assumed = use_of(&t);
		assert_int_equal(assumed.used[BT_CPU], 1000 + cases[i].cpu);
		assert_int_equal(assumed.used[BT_MEMORY], cases[i].memory);
		/* The patch is shown before the pod is bound, and after. */
		snprintf(
			status, sizeof(status), ", 'nodeAllocatableResourceClaimStatuses': %s", t.status.ptr);
		show_pod(&t, "", status);
		struct bt_node_use patched = use_of(&t);
		assert_same_use(&patched, &assumed);
		answer(&t, true);
		show_pod(&t, ", 'nodeName': 'n1'", status);
		lab_settle(&t.lab);
		lab_assert_sets(&t.lab, 0, 0, 2);
		struct bt_node_use shown = use_of(&t);
		assert_same_use(&shown, &assumed);
		end(&t);
	}
}

static void claims_without_node_resources_are_not_written(void **state)
{
	struct trial t;

	(void)state;
	begin(&t, "1.36", "1");
	apply(&t,
		"{" API
		"'kind': 'ResourceSlice', 'metadata': {'name': 's'}, 'spec': {'driver': 'd', 'nodeName': "
		"'n1', 'pool': {'name': 'p', 'generation': 2, 'resourceSliceCount': 1}, 'devices': [{'name': "
		"'plain'}]}}");
	/* The list of an earlier attempt is not written again, and does not count. */
	show_pod(&t, "",
		", 'nodeAllocatableResourceClaimStatuses': [{'resourceClaimName': 'c', 'containers': ['a'], "
		"'resources': {'cpu': '500m'}}]");
	lab_settle(&t.lab);
	assert_int_equal(t.handle != 0, true);
	assert_int_equal(t.claim_n, 0);
	assert_int_equal(use_of(&t).used[BT_CPU], 1000 + 200);
	end(&t);
}

static void forgetting_restores_usage_and_signature(void **state)
{
	static const char *const releases[] = {"1.36", "1.37"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		struct trial t;

		begin(&t, releases[i], "1");
		const struct bt_node_use before = use_of(&t);
		show_pod(&t, "", "");
		const struct bt_signature *own = lab_find(&t.lab, "p")->signature;
		lab_settle(&t.lab);
		assert_ptr_equal(lab_find(&t.lab, "p")->signature->assumed_of, own);
		answer(&t, false);
		lab_settle(&t.lab);
		lab_assert_sets(&t.lab, 1, 0, 1);
		assert_ptr_equal(lab_find(&t.lab, "p")->signature, own);
		const struct bt_node_use after = use_of(&t);
		assert_same_use(&after, &before);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assumed_usage_equals_the_usage_of_the_patched_and_bound_pod),
		cmocka_unit_test(claims_without_node_resources_are_not_written),
		cmocka_unit_test(forgetting_restores_usage_and_signature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
