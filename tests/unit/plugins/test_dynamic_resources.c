/* SPDX-License-Identifier: Apache-2.0
 * DynamicResources: gating of pods, allocation of devices, and node constraints of claims.
 */
#include "cache/devices.h"
#include "device_fixture.h"
#include "plugin_fixture.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/capacity.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended.h"
#include "plugins/dynamic_resources/selectors.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"

static const struct bt_dynamic_resources_settings settings = {
	.scores = true, .pre_filtered = true, .filtered = true, .binding_timeout_ns = 600000000000};

static void configure(struct fixture *f, const struct bt_device_features *features)
{
	static const struct bt_device_judge judge = {
		bt_selectors_create, bt_selectors_destroy, bt_selectors_match, bt_selectors_derive};
	static const struct bt_device_features all = {.admin_access = true,
		.prioritized_list = true,
		.partitionable = true,
		.taints = true,
		.binding_conditions = true,
		.consumable_capacity = true,
		.extended_resources = true};

	bt_devices_configure(f->cache->devices, features ? features : &all, &judge);
	device_class(f, "k", "");
	device_class(f, "odd", "selectors: [{}]");
}

static struct subject begin_with(
	struct fixture *f, const struct bt_dynamic_resources_settings *with, const char *spec)
{
	bt_devices_begin(
		f->cache->devices, fixture_name(f, "pod-x"), fixture_name(f, "uid-x"), 1000000000000);
	struct subject subject = compile_pod(f, &bt_plugin_dynamic_resources, with, spec);

	if (subject.compiled.state) {
		bt_plugin_dynamic_resources.pre_filter(
			subject.compiled.state, &f->cache->view, &subject.compiled);
	}
	return subject;
}

static struct subject begin(struct fixture *f, const char *spec)
{
	return begin_with(f, &settings, spec);
}

#define CLAIM "resourceClaims: [{name: x, resourceClaimName: c}]"
#define WANTS(n)                                                                                             \
	"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: " #n "}}]"
#define NONE "cannot allocate all claims"

/* Reserve's choices: their number, and the first. */
static uint32_t choose(
	const struct subject *subject, uint32_t node, const struct bt_device_choice **out_choices)
{
	const struct bt_plugin_use use = {.pre_filter = true, .filter = true, .reserve = true};
	struct bt_reservation reservation = {0};

	bt_plugin_dynamic_resources.reserve(
		&use, &subject->compiled, &subject->f->cache->view, node, &reservation);
	*out_choices = reservation.choices;
	return reservation.choice_n;
}

/* Writes "device device, device" for the pod's claims on a node: devices separated by blanks, claims by
 * commas. */
static const char *given(const struct subject *subject, uint32_t node)
{
	static char text[512];
	const struct bt_device_choice *choices;
	size_t at = 0;

	assert_true(passes(subject, node));
	uint32_t n = choose(subject, node, &choices);
	text[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < choices[i].allocation.result_n; j++) {
			struct bt_str name = bt_intern_str(subject->f->cache->dictionary->intern,
				choices[i].allocation.results[j].device);

			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s",
				j	? " "
				: i > 0 ? ", "
					: "",
				BT_STR_ARG(name));
		}
	}
	return text;
}

/* ---- PreEnqueue and PreFilter ---- */

struct gate {
	const char *claims, *status, *text;
};

static const struct gate gates[] = {
	{"resourceClaimName: c", "", NULL},
	{"resourceClaimName: absent", "", "could not find ResourceClaim \"default/absent\""},
	{"resourceClaimName: going", "", "resourceclaim \"going\" is being deleted"},
	{"resourceClaimTemplateName: t", "", "pod \"default/p\": ResourceClaim not created yet"},
	{"resourceClaimTemplateName: t", "name: x", NULL},
	{"resourceClaimTemplateName: t", "name: x, resourceClaimName: mine", NULL},
	{"resourceClaimTemplateName: t", "name: x, resourceClaimName: c",
		"ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"},
	{"resourceClaimTemplateName: t", "name: z, resourceClaimName: mine",
		"pod \"default/p\": ResourceClaim not created yet"},
	{"other: t", "", "pod \"default/p\", spec.resourceClaim \"x\": none of the supported fields are set"},
};

static void claims_that_are_not_in_order_keep_a_pod_back(void **state)
{
	struct fixture *f = *state;
	char text[512];

	configure(f, NULL);
	device_claim(f, "c", "", "");
	devices_apply(f, "{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: going, "
			 "deletionTimestamp: '2026-01-01T00:00:00Z'}}");
	devices_apply(f, "{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: mine, "
			 "ownerReferences: [{name: p, uid: u-p, controller: true}]}}");
	for (size_t i = 0; i < COUNT_OF(gates); i++) {
		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p}, spec: "
			"{resourceClaims: [{name: x, %s}]}, status: {resourceClaimStatuses: [{%s}]}}",
			gates[i].claims, gates[i].status);
		const struct bt_signature *signature =
			bt_signatures_intern(f->cache->signatures, &fixture_read(f, text)->pod);
		const char *why = bt_dynamic_resources_gate(
			&f->cache->view, signature, fixture_name(f, "p"), fixture_name(f, "u-p"));
		if (gates[i].text) {
			assert_non_null(why);
			assert_string_equal(why, gates[i].text);
		} else {
			assert_null(why);
		}
	}
}

static void requests_that_cannot_be_met_refuse_everywhere(void **state)
{
	static const struct {
		const char *requests, *text;
	} cases[] = {
		{"{name: r, exactly: {deviceClassName: absent}}",
			"request r: device class absent does not exist"},
		{"{name: r, firstAvailable: [{name: s, deviceClassName: k}, {name: t, deviceClassName: "
		 "absent}]}",
			"request r/t: device class absent does not exist"},
		{"{name: r}", "resource claim default/c, request r: unknown request type"},
	};
	struct fixture *f = *state;
	char text[512];

	configure(f, NULL);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		snprintf(text, sizeof(text), "requests: [%s]", cases[i].requests);
		device_claim(f, "c", text, "");
		struct subject subject = begin(f, CLAIM);
		assert_true(subject.compiled.refused);
		assert_string_equal(subject.compiled.refusal, cases[i].text);
	}
	device_claim(f, "c", "requests: [{name: r, exactly: {count: 1}}]", "");
	assert_string_equal(begin(f, CLAIM).compiled.pre_filter_error, "request r: unsupported request type");
}

static void a_claim_that_another_pod_is_getting_makes_the_pod_wait(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");
	const struct bt_device_choice *choices;

	configure(f, NULL);
	device_slice(f, "s", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	device_claim(f, "c", WANTS(1), "");
	struct subject subject = begin(f, CLAIM);
	uint32_t n = choose(&subject, n1, &choices);
	bt_devices_assume(f->cache->devices, 1, choices, n);
	subject = begin(f, CLAIM);
	assert_string_equal(
		subject.compiled.refusal, "resource claim default/c is in the process of being allocated");
	bt_devices_revert(f->cache->devices, 1);
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "a");
}

static void a_pod_without_claims_skips_the_plugin(void **state)
{
	struct fixture *f = *state;

	configure(f, NULL);
	struct subject subject = begin(f, "");
	assert_null(subject.compiled.state);
	assert_true(subject.compiled.filter_skip && subject.compiled.score_skip);
}

/* ---- allocation ---- */

/* NULL: no allocation is possible. */
static void assert_given(const struct subject *subject, uint32_t node, const char *devices)
{
	if (devices) {
		assert_string_equal(given(subject, node), devices);
	} else {
		assert_refused(subject, node, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
	}
}

/* A slice of pool p on node n1 and a claim; the expected devices, or the error. */
struct allocation {
	const char *devices, *wanted;
	const char *given;   /* NULL: refused */
	const char *refused; /* NULL like given: a failure */
	const char *error;
};

#define ASK(more)                                                                                            \
	"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1" more "}}]"
#define EVERY "requests: [{name: r, exactly: {deviceClassName: k, allocationMode: All}}]"
#define EITHER(a, b)                                                                                         \
	"requests: [{name: r, firstAvailable: [{name: s, deviceClassName: k, allocationMode: ExactCount, "   \
	"count: " #a "}, {name: t, deviceClassName: k, allocationMode: ExactCount, count: " #b "}]}]"
#define M(value) "attributes: {m: {string: " value "}}"
#define TWICE                                                                                                \
	"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1}}, {name: " \
	"q, "                                                                                                \
	"exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1}}]"
#define SHARED	      "allowMultipleAllocations: true, capacity: {m: {value: '4'}}"
#define SELECTS(text) ", selectors: [{cel: {expression: '" text "'}}]"

static const struct allocation allocations[] = {
	{"{name: a}, {name: b}", WANTS(1), "a", NULL, NULL},
	{"{name: a}, {name: b}", WANTS(2), "a b", NULL, NULL},
	{"{name: a}, {name: b}", WANTS(3), NULL, NONE, NULL},
	{"{name: a}, {name: b}, {name: c}", EVERY, "a b c", NULL, NULL},
	{"", EVERY, NULL, NONE, NULL},
	{"{name: a}, {name: b}", EITHER(3, 2), "a b", NULL, NULL},
	{"{name: a}, {name: b}", EITHER(1, 2), "a", NULL, NULL},
	{"{name: a}, {name: b}", EITHER(3, 4), NULL, NONE, NULL},
	{"{name: a}", WANTS(33), NULL, NULL,
		"claim default/c, request r: adding 33 devices exceeds the claim limit of 32, with 0 already "
		"accounted for"},
	/* Selectors of requests. */
	{"{name: a, " M("v1") "}, {name: b, " M("v2") "}",
		ASK(SELECTS("device.attributes[\"d\"].m == \"v2\"")), "b", NULL, NULL},
	{"{name: a}", ASK(SELECTS("device.attributes[\"d\"].m == \"v2\"")), NULL, NULL,
		"claim default/c: selector #0 on device d/p/a: CEL runtime error: no such key: m. consider "
		"using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
		"optional fields"},
	{"{name: a}", ASK(", selectors: [{}]"), NULL, NULL,
		"claim default/c, request r, selector #0: CEL expression empty (unsupported selector type?)"},
	{"{name: a}",
		"requests: [{name: r, exactly: {deviceClassName: odd, count: 1, allocationMode: "
		"ExactCount}}]",
		NULL, NULL, "class odd: selector #0: CEL expression empty (unsupported selector type?)"},
	/* Taints. */
	{"{name: a, taints: [{key: t, effect: NoSchedule}]}, {name: b}", WANTS(1), "b", NULL, NULL},
	{"{name: a, taints: [{key: t, effect: NoExecute}]}", WANTS(1), NULL, NONE, NULL},
	{"{name: a, taints: [{key: t, effect: None}]}", WANTS(1), "a", NULL, NULL},
	{"{name: a, taints: [{key: t, value: v, effect: NoSchedule}]}",
		ASK(", tolerations: [{key: t, operator: Equal, value: v}]"), "a", NULL, NULL},
	/* Constraints. */
	{"{name: a, " M("v1") "}, {name: b, " M("v2") "}, {name: c, " M("v2") "}",
		WANTS(2) ", constraints: [{matchAttribute: d/m}]", "b c", NULL, NULL},
	{"{name: a, " M("v1") "}, {name: b, " M("v1") "}, {name: c, " M("v2") "}",
		TWICE ", constraints: [{distinctAttribute: d/m}]", "a c", NULL, NULL},
	{"{name: a}, {name: b, " M("v1") "}", WANTS(1) ", constraints: [{matchAttribute: d/m}]", "b", NULL,
		NULL},
	{"{name: a, " M("v1") "}, {name: b, " M("v2") "}",
		TWICE ", constraints: [{matchAttribute: d/m, requests: [q]}]", "a b", NULL, NULL},
	{"{name: a, attributes: {m: {int: 1}}}, {name: b, attributes: {m: {bool: true}}}",
		WANTS(2) ", constraints: [{matchAttribute: d/m}]", NULL, NONE, NULL},
	{"{name: a, " M("v1") "}, {name: b, " M("v2") "}", EVERY ", constraints: [{matchAttribute: d/m}]",
		NULL, NULL,
		"claim default/c, request r: cannot add device d/p/b because a claim constraint would "
		"not be satisfied"},
	{"{name: a}", WANTS(1) ", constraints: [{}]", NULL, NULL,
		"claim default/c, constraint #0: empty constraint (unsupported constraint type?)"},
	/* Capacity: left over, with several requests for one shareable device. */
	{"{name: a, capacity: {m: {value: '4'}}}, {name: b, capacity: {m: {value: '8'}}}",
		ASK(", capacity: {requests: {m: '5'}}"), "b", NULL, NULL},
	{"{name: a, capacity: {m: {value: '4'}}}", ASK(", capacity: {requests: {other: '1'}}"), NULL, NONE,
		NULL},
	{"{name: a, " SHARED "}, {name: b, " SHARED "}", TWICE, "a b", NULL, NULL},
	{"{name: a, " SHARED "}", TWICE, NULL, NONE, NULL},
	{"{name: a, allowMultipleAllocations: true, capacity: {m: {value: '4', requestPolicy: {default: "
	 "'2'}}}}",
		TWICE, "a a", NULL, NULL},
	{"{name: a, " SHARED "}",
		"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1, "
		"capacity: "
		"{requests: {m: '1'}}}}, {name: q, exactly: {deviceClassName: k, allocationMode: ExactCount, "
		"count: "
		"1, capacity: {requests: {m: '3'}}}}]",
		"a a", NULL, NULL},
};

static void check_allocations(struct fixture *f, uint32_t n1, const struct allocation *rows, size_t n)
{
	char text[1024];

	for (size_t i = 0; i < n; i++) {
		const struct allocation *a = &rows[i];

		snprintf(text, sizeof(text), "nodeName: n1, devices: [%s]", a->devices);
		device_slice(f, "s", POOL("p"), text);
		device_claim(f, "c", a->wanted, "");
		struct subject subject = begin(f, CLAIM);
		assert_false(subject.compiled.refused);
		if (a->given) {
			assert_string_equal(given(&subject, n1), a->given);
		} else if (a->refused) {
			assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, a->refused);
			assert_null(bt_plugin_dynamic_resources.failure(
				subject.compiled.term, &f->cache->view, n1));
		} else if (a->error) {
			assert_false(passes(&subject, n1));
			assert_string_equal(bt_plugin_dynamic_resources.failure(
						    subject.compiled.term, &f->cache->view, n1),
				a->error);
		}
	}
}

static void the_first_devices_that_do_are_given(void **state)
{
	uint32_t n1 = fixture_node(*state, "name: n1", "", "");

	configure(*state, NULL);
	check_allocations(*state, n1, allocations, COUNT_OF(allocations));
}

#define INTS(values)  "attributes: {m: {ints: [" values "]}}"
#define MATCHES	      ", constraints: [{matchAttribute: d/m}]"
#define DIFFERS	      ", constraints: [{distinctAttribute: d/m}]"
#define INCLUDES(one) ASK(SELECTS("device.attributes[\"d\"].m.includes(" one ")"))

static const struct allocation list_allocations[] = {
	/* All have a common value; backtracking restores the values that a device excluded. */
	{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("3") "}, {name: c, " INTS("2, 5") "}",
		WANTS(2) MATCHES, "a c", NULL, NULL},
	{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("2, 3") "}, {name: c, " INTS("1, 3") "}",
		WANTS(3) MATCHES, NULL, NONE, NULL},
	{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("2") "}, {name: c, " INTS("1") "}, {name: d, " INTS(
		 "1") "}",
		WANTS(3) MATCHES, "a c d", NULL, NULL},
	/* A single value is a list of one; values of other types differ. */
	{"{name: a, attributes: {m: {int: 2}}}, {name: b, " INTS("1, 2") "}", WANTS(2) MATCHES, "a b", NULL,
		NULL},
	{"{name: a, attributes: {m: {strings: [x, z]}}}, {name: b, attributes: {m: {versions: [1.0.0]}}}, "
	 "{name: "
	 "c, " M("z") "}",
		WANTS(2) MATCHES, "a c", NULL, NULL},
	{"{name: a, attributes: {m: {bools: [true]}}}, {name: b, " INTS("1") "}", WANTS(2) MATCHES, NULL,
		NONE, NULL},
	{"{name: a, " INTS("") "}, {name: b, " INTS("1") "}", WANTS(1) MATCHES, "b", NULL, NULL},
	/* No two have a common value. */
	{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("2, 3") "}, {name: c, " INTS("3, 4") "}",
		WANTS(2) DIFFERS, "a c", NULL, NULL},
	{"{name: a, " INTS("") "}, {name: b, " INTS("1") "}", WANTS(1) DIFFERS, "b", NULL, NULL},
	{"{name: a, attributes: {m: {bools: [true]}}}, {name: b, " INTS("1") "}", WANTS(2) DIFFERS, "a b",
		NULL, NULL},
	/* Selectors. */
	{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("3") "}", INCLUDES("3"), "b", NULL, NULL},
	{"{name: a, " INTS("1, 2") "}, {name: b, attributes: {m: {int: 3}}}", INCLUDES("3"), "b", NULL, NULL},
	{"{name: a, attributes: {m: {versions: ['1.0']}}}", INCLUDES("3"), NULL, NULL,
		"claim default/c: selector #0 on device d/p/a: CEL runtime error: attribute m: parse "
		"semantic "
		"version: No Major.Minor.Patch elements found"},
};

static struct bt_device_features with_lists(const char *release, bool on)
{
	const struct bt_release *of = bt_release_find(bt_str(release));

	return (struct bt_device_features){.consumable_capacity = true,
		.binding_conditions = true,
		.list_attributes = on,
		.lists_match = on && bt_release_has(of, BT_RULE_LISTS_MATCH_AS_SETS),
		.release = of};
}

static void lists_of_values_are_compared_as_sets(void **state)
{
	struct bt_device_features features = with_lists("1.37", true);
	uint32_t n1 = fixture_node(*state, "name: n1", "", "");

	configure(*state, &features);
	check_allocations(*state, n1, list_allocations, COUNT_OF(list_allocations));
}

/* From 1.37 on selectors read lists regardless of the gate, in 1.36 only with it;
 * constraints never without it. */
static void lists_are_no_values_for_constraints_without_the_gate(void **state)
{
	static const struct allocation rows[] = {
		{"{name: a, " INTS("1") "}, {name: b, " INTS("1") "}", WANTS(2) MATCHES, NULL, NONE, NULL},
		{"{name: a, " INTS("1") "}, {name: b, " INTS("2") "}", WANTS(2) DIFFERS, NULL, NONE, NULL},
		{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("3") "}", INCLUDES("3"), "b", NULL, NULL},
	};
	static const struct {
		const char *release;
		bool on;
	} cases[] = {{"1.37", false}, {"1.36", true}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bt_device_features features = with_lists(cases[i].release, cases[i].on);

		fixture_setup(state);
		uint32_t n1 = fixture_node(*state, "name: n1", "", "");
		configure(*state, &features);
		check_allocations(*state, n1, rows, COUNT_OF(rows));
		fixture_teardown(state);
	}
}

static void selectors_of_earlier_releases_see_no_lists(void **state)
{
	static const struct allocation rows[] = {
		{"{name: a, " INTS("1") "}", INCLUDES("1"), NULL, NULL,
			"claim default/c: selector #0: CEL runtime error: attribute m: unsupported attribute "
			"value"},
	};
	struct bt_device_features features = with_lists("1.36", false);
	uint32_t n1 = fixture_node(*state, "name: n1", "", "");

	configure(*state, &features);
	check_allocations(*state, n1, rows, COUNT_OF(rows));
}

#define IN_SET(groups) "consumesCounters: [{counterSet: s, counters: {c: {value: '1'}}" groups "}]"
#define GROUPS(names)  ", compatibilityGroups: [" names "]"

/* Devices of a pool with a counter set; the expected devices when one of them is allocated already. */
static void devices_of_a_counter_set_have_a_group_in_common(void **state)
{
	static const struct {
		const char *devices, *wanted, *given;
		bool off;
	} cases[] = {
		{"{name: a, " IN_SET(GROUPS("u, v")) "}, {name: b, " IN_SET(
			 GROUPS("w")) "}, {name: c, " IN_SET(GROUPS("v")) "}",
			WANTS(2), "a c", false},
		{"{name: a, " IN_SET(GROUPS("u, v")) "}, {name: b, " IN_SET(
			 GROUPS("v, w")) "}, {name: c, " IN_SET(GROUPS("u, w")) "}",
			WANTS(3), NULL, false},
		{"{name: a, " IN_SET(GROUPS("u")) "}, {name: b, " IN_SET("") "}, {name: c, " IN_SET("") "}",
			WANTS(2), "b c", false},
		{"{name: a, " IN_SET(GROUPS("u")) "}, {name: b}", WANTS(2), "a b", false},
		/* An allocated device's groups count. */
		{"{name: taken, " IN_SET(GROUPS("u")) "}, {name: b, " IN_SET(
			 GROUPS("v")) "}, {name: c, " IN_SET(GROUPS("u")) "}",
			WANTS(1), "c", false},
		{"{name: taken, " IN_SET("") "}, {name: b, " IN_SET(GROUPS("v")) "}, {name: c, " IN_SET(
			 "") "}",
			WANTS(1), "c", false},
		/* Without the gate the slice is ignored. */
		{"{name: a, " IN_SET(GROUPS("u")) "}, {name: b}", WANTS(1), NULL, true},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct bt_device_features features = {
			.partitionable = true, .compatibility_groups = !cases[i].off};
		char text[1024];

		fixture_setup(state);
		struct fixture *f = *state;
		uint32_t n1 = fixture_node(f, "name: n1", "", "");
		configure(f, &features);
		device_slice(f, "counters", "name: p, generation: 1, resourceSliceCount: 2",
			"nodeName: n1, sharedCounters: [{name: s, counters: {c: {value: '9'}}}]");
		snprintf(text, sizeof(text), "nodeName: n1, devices: [%s]", cases[i].devices);
		device_slice(f, "s", "name: p, generation: 1, resourceSliceCount: 2", text);
		device_claim(f, "other", WANTS(1), ALLOCATED("device: taken"));
		device_claim(f, "c", cases[i].wanted, "");
		struct subject subject = begin(f, CLAIM);
		assert_given(&subject, n1, cases[i].given);
		fixture_teardown(state);
	}
}

/* Devices that skip node operations are allocated on nodes that declare support for it. */
static void nodes_declare_that_they_leave_operations_out(void **state)
{
	static const struct {
		struct bt_device_features features;
		bool declared, given;
	} cases[] = {
		{{.optional_operations = true}, true, true},
		{{.optional_operations = true}, false, false},
		{{.compatibility_groups = true}, true, false},
		{{.consumable_capacity = true}, false, true},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fixture_setup(state);
		struct fixture *f = *state;
		uint32_t n1 = fixture_node(f, "name: n1", "",
			cases[i].declared ? "declaredFeatures: [DRAOptionalNodeOperations]" : "");
		configure(f, &cases[i].features);
		device_slice(
			f, "s", POOL("p"), "nodeName: n1, skipNodeOperations: ['*'], devices: [{name: a}]");
		device_claim(f, "c", WANTS(1), "");
		struct subject subject = begin(f, CLAIM);
		if (cases[i].given) {
			const struct bt_device_choice *choices;

			assert_string_equal(given(&subject, n1), "a");
			assert_int_equal(choose(&subject, n1, &choices), 1);
			assert_int_equal(choices[0].allocation.results[0].skipped_n,
				cases[i].features.optional_operations);
		} else {
			assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
		}
		fixture_teardown(state);
	}
}

/* 1.37 rejects it without the gate; earlier releases ignore the field. */
static void a_request_with_derived_attributes_fails(void **state)
{
	static const struct allocation fails = {"{name: a}",
					       ASK(", derivedAttributes: [{name: d/x, expression: '1'}]"),
					       NULL, NULL,
					       "claim default/c, request r: cannot handle request with "
					       "derived attributes, the feature is "
					       "disabled"},
				       passes = {"{name: a}",
					       ASK(", derivedAttributes: [{name: d/x, expression: '1'}]"),
					       "a", NULL, NULL};
	static const char *const releases[] = {"1.37", "1.36"};

	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		const struct bt_device_features features = {.release = bt_release_find(bt_str(releases[i]))};

		fixture_setup(state);
		uint32_t n1 = fixture_node(*state, "name: n1", "", "");
		configure(*state, &features);
		check_allocations(*state, n1, i == 0 ? &fails : &passes, 1);
		fixture_teardown(state);
	}
}

#define DERIVES(expression) ", derivedAttributes: [{name: d/x, expression: '" expression "'}]"
#define PAIR(a, b)                                                                                           \
	"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1" a          \
	"}}, {name: q, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1" b "}}]"
#define NUMA(n)	   "attributes: {numa: {int: " n "}}"
#define X_MATCHES  ", constraints: [{matchAttribute: d/x}]"
#define X_DIFFERS  ", constraints: [{distinctAttribute: d/x}]"
#define OF(name)   "device.attributes[\"d\"]." name
#define OF_NUMA	   DERIVES(OF("numa"))
#define OF_TEXT(t) DERIVES(OF("m") ".startsWith(\"" t "\") ? " OF("m") ".replace(\"" t "\", \"\") : \"none\"")

static const struct allocation derived_allocations[] = {
	/* Each request has its own expression: devices with equal derived values match. */
	{"{name: a, " NUMA("1") "}, {name: b, " NUMA("2") "}, {name: c, " NUMA("2") "}",
		PAIR(OF_NUMA, OF_NUMA) X_MATCHES, "b c", NULL, NULL},
	{"{name: a, " NUMA("1") "}, {name: b, " NUMA("1") "}, {name: c, " NUMA("2") "}",
		PAIR(OF_NUMA, OF_NUMA) X_DIFFERS, "a c", NULL, NULL},
	{"{name: a, " M("u1") "}, {name: b, " M("v2") "}, {name: c, " M("v1") "}",
		PAIR(OF_TEXT("u"), OF_TEXT("v")) X_MATCHES, "a c", NULL, NULL},
	/* Replaces the device's own attribute; requests without an expression use that. */
	{"{name: a, attributes: {x: {int: 1}}}, {name: b, attributes: {x: {int: 2}}}",
		PAIR(DERIVES("7"), DERIVES("7")) X_MATCHES, "a b", NULL, NULL},
	{"{name: a, attributes: {x: {int: 1}}}, {name: b, attributes: {x: {int: 2}}}",
		PAIR(DERIVES("2"), "") X_MATCHES, "a b", NULL, NULL},
	{"{name: a}, {name: b}", PAIR(DERIVES("1"), "") X_MATCHES, NULL, NONE, NULL},
	/* Of two with one name the last counts; types are distinguished; versions are compared as texts. */
	{"{name: a}, {name: b}",
		PAIR(", derivedAttributes: [{name: d/x, expression: '1'}, {name: d/x, expression: '2'}]",
			DERIVES("2")) X_MATCHES,
		"a b", NULL, NULL},
	{"{name: a}, {name: b}", PAIR(DERIVES("1"), DERIVES("\"1\"")) X_MATCHES, NULL, NONE, NULL},
	{"{name: a, attributes: {x: {version: 1.2.3-a+b}}}, {name: b, attributes: {x: {version: 1.2.3-a+b}}}",
		PAIR("", DERIVES("semver(\"1.2.3-a+b\")")) X_MATCHES, "a b", NULL, NULL},
	{"{name: a}, {name: b}", PAIR(DERIVES("true"), DERIVES("1 < 2")) X_MATCHES, "a b", NULL, NULL},
	/* Lists are no values without their gate. */
	{"{name: a}, {name: b}", PAIR(DERIVES("[1]"), DERIVES("[1]")) X_MATCHES, NULL, NONE, NULL},
	/* An error in an expression ends the cycle if a constraint uses it. */
	{"{name: a}", ASK(OF_NUMA) X_MATCHES, NULL, NULL,
		"evaluate derived attribute d/x on device d/p/a failed: no such key: numa"},
	{"{name: a}", ASK(OF_NUMA), "a", NULL, NULL},
	{"{name: a}", ASK(DERIVES("1.5")) X_MATCHES, NULL, NULL,
		"compile derived attribute d/x failed: must evaluate to a primitive scalar (string, integer, "
		"boolean, semver) or a list of these scalars, not double"},
	{"{name: a}", ASK(DERIVES("dyn(1.5)")) X_MATCHES, NULL, NULL,
		"evaluate derived attribute d/x on device d/p/a failed: unsupported CEL return type: "
		"float64"},
	{"{name: a}", ASK(DERIVES("[dyn(1.5)]")) X_MATCHES, NULL, NULL,
		"evaluate derived attribute d/x on device d/p/a failed: unsupported list element type: "
		"float64"},
	{"{name: a}", ASK(DERIVES("[dyn(\"b\"), dyn(1)]")) X_MATCHES, NULL, NULL,
		"evaluate derived attribute d/x on device d/p/a failed: expected list element at index 1 to "
		"be string, got int64"},
};

static void derived_attributes_are_matched_as_those_of_devices(void **state)
{
	const struct bt_device_features features = {.derived_attributes = true};
	uint32_t n1 = fixture_node(*state, "name: n1", "", "");

	configure(*state, &features);
	check_allocations(*state, n1, derived_allocations, COUNT_OF(derived_allocations));
}

static void derived_lists_are_compared_as_sets(void **state)
{
	static const struct allocation rows[] = {
		{"{name: a, " INTS("1, 2") "}, {name: b, " INTS("2") "}",
			PAIR(DERIVES(OF("m")), DERIVES("[3, 2]")) X_MATCHES, "a b", NULL, NULL},
		{"{name: a}, {name: b}", PAIR(DERIVES("[\"u\"]"), DERIVES("\"u\"")) X_DIFFERS, NULL, NONE,
			NULL},
		{"{name: a}, {name: b}", PAIR(DERIVES("[true]"), DERIVES("[false]")) X_DIFFERS, "a b", NULL,
			NULL},
		{"{name: a}", ASK(DERIVES("[]")) X_MATCHES, NULL, NONE, NULL},
	};
	const struct bt_device_features features = {
		.derived_attributes = true, .list_attributes = true, .lists_match = true};
	uint32_t n1 = fixture_node(*state, "name: n1", "", "");

	configure(*state, &features);
	check_allocations(*state, n1, rows, COUNT_OF(rows));
}

/* If slices change during a cycle, attributes are derived from their state at its start. */
static void attributes_are_derived_of_what_the_cycle_has_read(void **state)
{
	const struct bt_device_features features = {.derived_attributes = true};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, &features);
	device_slice(f, "s", POOL("p"),
		"nodeName: n1, devices: [{name: a, " NUMA("1") "}, {name: b, " NUMA("1") "}]");
	device_claim(f, "c", PAIR(OF_NUMA, DERIVES("1")) X_MATCHES, "");
	struct subject subject = begin(f, CLAIM);
	bt_plugin_dynamic_resources.state_changes(&subject.compiled, &f->cache->view, BT_DEVICES_WILL_CHANGE);
	device_slice(f, "s", POOL("p"),
		"nodeName: n1, devices: [{name: a, " NUMA("2") "}, {name: b, " NUMA("2") "}]");
	bt_plugin_dynamic_resources.state_changes(&subject.compiled, &f->cache->view, BT_STATE_HAS_CHANGED);
	assert_true(passes(&subject, n1));
	subject = begin(f, CLAIM);
	assert_false(passes(&subject, n1));
}

/* ---- twins ---- */

/* Claims that differ in one field, and the expected devices of each; NULL: none. */
struct twins {
	struct bt_device_features features;
	const char *devices, *one, *other, *given, *given_other;
};

#define SHARE(range)                                                                                         \
	"allowMultipleAllocations: true, capacity: {m: {value: '4', requestPolicy: {default: '1', "          \
	"validRange: {" range "}}}}"
#define GETS(amount) ASK(", capacity: {requests: {m: '" amount "'}}")
#define EVERY_FEATURE                                                                                        \
	{                                                                                                    \
		.list_attributes = true, .lists_match = true, .partitionable = true,                         \
		.optional_operations = true, .compatibility_groups = true, .consumable_capacity = true,      \
		.fractional_ranges = true, .derived_attributes = true                                        \
	}

static const struct twins twins[] = {
	/* A request's derived attribute. */
	{EVERY_FEATURE, "{name: a, " NUMA("1") "}, {name: b, " NUMA("2") "}",
		PAIR(OF_NUMA, OF_NUMA) X_MATCHES, PAIR(OF_NUMA, DERIVES(OF("numa") " - 1")) X_MATCHES, NULL,
		"a b"},
	/* The same expression as selector and as derived attribute. */
	{EVERY_FEATURE, "{name: a}, {name: b}", PAIR(DERIVES("true"), DERIVES("false")) X_MATCHES,
		PAIR(SELECTS("true"), SELECTS("true")), NULL, "a b"},
	/* The value that a list must include. */
	{EVERY_FEATURE, "{name: a, " INTS("1, 2") "}, {name: b, " INTS("3") "}", INCLUDES("1"), INCLUDES("3"),
		"a", "b"},
	/* Constraints on lists. */
	{EVERY_FEATURE, "{name: a, " INTS("1, 2") "}, {name: b, " INTS("2") "}, {name: c, " INTS("3") "}",
		WANTS(2) MATCHES, WANTS(2) DIFFERS, "a b", "a c"},
	/* A capacity's thousandths. */
	{EVERY_FEATURE, "{name: a, " SHARE("min: 100m, step: 100m, max: 500m") "}", GETS("500m"),
		GETS("501m"), "a", NULL},
};

static const char *given_or_nothing(struct fixture *f, uint32_t node, const char *claim)
{
	char spec[128];

	snprintf(spec, sizeof(spec), "resourceClaims: [{name: x, resourceClaimName: %s}]", claim);
	struct subject subject = begin(f, spec);

	return passes(&subject, node) ? given(&subject, node) : "";
}

static void claims_that_differ_in_one_field_have_answers_of_their_own(void **state)
{
	char text[1024];

	for (size_t i = 0; i < COUNT_OF(twins); i++) {
		const struct twins *t = &twins[i];

		fixture_setup(state);
		struct fixture *f = *state;
		uint32_t n1 = fixture_node(f, "name: n1", "", "");
		configure(f, &t->features);
		snprintf(text, sizeof(text), "nodeName: n1, devices: [%s]", t->devices);
		device_slice(f, "s", POOL("p"), text);
		device_claim(f, "c", t->one, "");
		device_claim(f, "e", t->other, "");
		for (int again = 0; again < 2; again++) {
			assert_string_equal(given_or_nothing(f, n1, "c"), t->given ? t->given : "");
			assert_string_equal(
				given_or_nothing(f, n1, "e"), t->given_other ? t->given_other : "");
		}
		fixture_teardown(state);
	}
}

/* A slice changes in one field: cached results for its devices are not used any more. */
static void slices_that_differ_in_one_field_have_answers_of_their_own(void **state)
{
	static const struct {
		const char *wanted, *one, *other, *given, *given_other;
	} cases[] = {
		{ASK(SELECTS(OF("m.includes(1)"))), "devices: [{name: a, " INTS("1") "}]",
			"devices: [{name: a, " INTS("2") "}]", "a", ""},
		{PAIR(OF_NUMA, DERIVES("1")) X_MATCHES,
			"devices: [{name: a, " NUMA("1") "}, {name: b, " NUMA("1") "}]",
			"devices: [{name: a, " NUMA("2") "}, {name: b, " NUMA("2") "}]", "a b", ""},
		{WANTS(1), "devices: [{name: a}]", "skipNodeOperations: ['*'], devices: [{name: a}]", "a",
			""},
		{GETS("300m"), "devices: [{name: a, " SHARE("min: 100m, max: 400m") "}]",
			"devices: [{name: a, " SHARE("min: 100m, max: 200m") "}]", "a", ""},
	};
	static const struct bt_device_features features = EVERY_FEATURE;
	char text[512];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fixture_setup(state);
		struct fixture *f = *state;
		uint32_t n1 = fixture_node(f, "name: n1", "", "");
		configure(f, &features);
		device_claim(f, "c", cases[i].wanted, "");
		for (int turn = 0; turn < 4; turn++) {
			snprintf(text, sizeof(text), "nodeName: n1, %s",
				turn % 2 ? cases[i].other : cases[i].one);
			device_slice(f, "s", POOL("p"), text);
			assert_string_equal(given_or_nothing(f, n1, "c"),
				turn % 2 ? cases[i].given_other : cases[i].given);
		}
		fixture_teardown(state);
	}
}

/* Nodes that differ in declared features, and devices that differ in compatibility groups. */
static void nodes_and_groups_that_differ_have_answers_of_their_own(void **state)
{
	static const struct bt_device_features features = EVERY_FEATURE;
	static const char *const groups[] = {"u", "v"};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "declaredFeatures: [DRAOptionalNodeOperations]");
	uint32_t n2 = fixture_node(f, "name: n2", "", "");
	char text[512];

	configure(f, &features);
	device_slice(f, "s", POOL("p"), "allNodes: true, skipNodeOperations: ['*'], devices: [{name: a}]");
	device_claim(f, "c", WANTS(1), "");
	assert_string_equal(given_or_nothing(f, n1, "c"), "a");
	assert_string_equal(given_or_nothing(f, n2, "c"), "");
	device_slice(f, "counters", "name: g, generation: 1, resourceSliceCount: 2",
		"nodeName: n2, sharedCounters: [{name: s, counters: {c: {value: '9'}}}]");
	device_claim(f, "e", WANTS(2), "");
	for (int turn = 0; turn < 4; turn++) {
		snprintf(text, sizeof(text),
			"nodeName: n2, devices: [{name: a, consumesCounters: [{counterSet: s, counters: {c: "
			"{value: '1'}}, compatibilityGroups: [u]}]}, {name: b, consumesCounters: "
			"[{counterSet: s, counters: {c: {value: '1'}}, compatibilityGroups: [%s]}]}]",
			groups[turn % 2]);
		device_slice(f, "g", "name: g, generation: 1, resourceSliceCount: 2", text);
		assert_string_equal(given_or_nothing(f, n2, "e"), turn % 2 ? "" : "a b");
	}
}

static void an_allocation_that_skips_operations_is_had_where_nodes_can(void **state)
{
	static const struct {
		const char *release;
		bool passes;
	} cases[] = {{"1.37", false}, {"1.36", true}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct bt_device_features features = {
			.release = bt_release_find(bt_str(cases[i].release))};

		fixture_setup(state);
		struct fixture *f = *state;
		uint32_t able = fixture_node(
				 f, "name: n1", "", "declaredFeatures: [DRAOptionalNodeOperations]"),
			 other = fixture_node(f, "name: n2", "", "");
		configure(f, &features);
		device_claim(f, "c", WANTS(1), ALLOCATED("device: a, skipNodeOperations: ['*']"));
		struct subject subject = begin(f, CLAIM);
		assert_true(passes(&subject, able));
		assert_int_equal(passes(&subject, other), cases[i].passes);
		fixture_teardown(state);
	}
}

static void devices_select_their_nodes_in_slices_with_per_device_selection(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_slice(f, "s", POOL("p"),
		"perDeviceNodeSelection: true, devices: [{name: a, nodeName: n2}, {name: b, nodeName: n1}, "
		"{name: c, allNodes: true}]");
	device_claim(f, "c", WANTS(2), "");
	struct subject subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b c");
}

static void devices_of_other_claims_are_not_allocated(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_slice(f, "s", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: b}]");
	device_claim(f, "taken", "", ALLOCATED("device: a"));
	device_claim(f, "c", WANTS(1), "");
	struct subject subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b");
	/* Admin access allows devices in use, but none twice. */
	device_claim(f, "c", ASK(", adminAccess: true"), "");
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "a");
	device_claim(f, "c",
		"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 3, "
		"adminAccess: true}}]",
		"");
	subject = begin(f, CLAIM);
	assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
}

#define PART(name, n)                                                                                        \
	"{name: " name ", consumesCounters: [{counterSet: s, counters: {c: {value: '" #n "'}}}]}"

static void parts_of_a_device_share_its_counters(void **state)
{
	static const char two[] = "name: p, generation: 1, resourceSliceCount: 2";
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_slice(f, "s0", two, "nodeName: n1, sharedCounters: [{name: s, counters: {c: {value: '4'}}}]");
	device_slice(f, "s1", two,
		"nodeName: n1, devices: [" PART("a", 3) ", " PART("b", 2) ", " PART("e", 2) "]");
	device_claim(f, "c", WANTS(2), "");
	struct subject subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b e");
	device_claim(f, "c", WANTS(3), "");
	subject = begin(f, CLAIM);
	assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
	device_claim(f, "taken", "", ALLOCATED("device: e"));
	device_claim(f, "c", WANTS(1), "");
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b");
}

static void pools_that_are_not_in_order_are_left_out(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_claim(f, "c", WANTS(1), "");
	device_claim(f, "all", EVERY, "");
	device_slice(f, "s", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: a}]");
	struct subject subject = begin(f, CLAIM);
	assert_refused(
		&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "invalid resource pools were encountered");
	device_slice(f, "s2", POOL("q"), "nodeName: n1, devices: [{name: b}]");
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b");
	device_slice(f, "s", "name: p, generation: 1, resourceSliceCount: 2",
		"nodeName: n1, devices: [{name: a}]");
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b");
	subject = begin(f, "resourceClaims: [{name: x, resourceClaimName: all}]");
	assert_false(passes(&subject, n1));
	assert_string_equal(bt_plugin_dynamic_resources.failure(subject.compiled.term, &f->cache->view, n1),
		"claim default/all, request r: asks for all devices, but resource pool d/p is currently "
		"being "
		"updated");
}

static void a_search_that_takes_too_long_fails(void **state)
{
	struct bt_dynamic_resources_settings hasty = {
		.pre_filtered = true, .filtered = true, .step_limit = 10};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_slice(f, "s", POOL("p"),
		"nodeName: n1, devices: [{name: a, " M("v0") "}, {name: b, " M("v1") "}, {name: c, " M(
			"v2") "}, {name: e, " M("v3") "}]");
	device_claim(f, "c", WANTS(2) ", constraints: [{matchAttribute: d/m}]", "");
	struct subject subject = begin(f, CLAIM);
	assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
	subject = begin_with(f, &hasty, CLAIM);
	assert_false(passes(&subject, n1));
	assert_string_equal(bt_plugin_dynamic_resources.failure(subject.compiled.term, &f->cache->view, n1),
		"node n1: timed out trying to allocate devices");
	hasty.timeout_refuses = true;
	subject = begin_with(f, &hasty, CLAIM);
	assert_refused(
		&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "timed out trying to allocate devices");
}

static void taints_of_rules_count_beside_those_of_slices(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");
	const struct bt_device_features features = {.taints = true, .taint_rules = true};

	configure(f, &features);
	device_slice(f, "s", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: b}]");
	device_claim(f, "c", WANTS(1), "");
	device_claim(f, "d",
		"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1, "
		"tolerations: [{key: t, operator: Exists}]}}]",
		"");
	devices_apply(f, "{" DEVICE_API "kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: "
			 "{device: a}, taint: {key: t, effect: NoExecute}}}");
	struct subject subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "b");
	subject = begin(f, "resourceClaims: [{name: x, resourceClaimName: d}]");
	assert_string_equal(given(&subject, n1), "a");
	devices_apply(f, "{" DEVICE_API "kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: "
			 "{}, taint: {key: t, effect: NoSchedule}}}");
	subject = begin(f, CLAIM);
	assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
	devices_apply(f, "{" DEVICE_API "kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: "
			 "{}, taint: {key: t, effect: None}}}");
	subject = begin(f, CLAIM);
	assert_string_equal(given(&subject, n1), "a");
}

static void gates_take_devices_away(void **state)
{
	static const struct {
		struct bt_device_features features;
		const char *device, *given;
	} cases[] = {
		{{.taints = false}, "{name: a, taints: [{key: t, effect: NoSchedule}]}", "a"},
		{{.partitionable = false}, "{name: a, consumesCounters: [{counterSet: s, counters: {}}]}",
			NULL},
		{{.binding_conditions = false}, "{name: a, bindingConditions: [ready]}", NULL},
		{{.binding_conditions = true}, "{name: a, bindingConditions: [ready]}", "a"},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture *f;
		char text[256];

		fixture_setup(state);
		f = *state;
		uint32_t n1 = fixture_node(f, "name: n1", "", "");
		configure(f, &cases[i].features);
		snprintf(text, sizeof(text), "nodeName: n1, devices: [%s]", cases[i].device);
		device_slice(f, "s", POOL("p"), text);
		device_claim(f, "c", WANTS(1), "");
		struct subject subject = begin(f, CLAIM);
		assert_given(&subject, n1, cases[i].given);
		fixture_teardown(state);
	}
}

/* ---- claims that are allocated ---- */

static void an_allocated_claim_fits_nodes_of_its_selector(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", ""), n2 = fixture_node(f, "name: n2", "", "");

	configure(f, NULL);
	device_claim(f, "c", WANTS(1),
		"allocation: {devices: {results: [{request: r, driver: d, pool: p, device: a}]}, "
		"nodeSelector: "
		"{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}");
	struct subject subject = begin(f, CLAIM);
	assert_true(passes(&subject, n1));
	assert_refused(
		&subject, n2, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "resourceclaim not available on the node");
	/* Nothing was allocated in this cycle. */
	assert_string_equal(given(&subject, n1), "");
	assert_int_equal(score(&subject, n1), 0);
}

struct binding {
	const char *status;
	bool available;
};

#define CONDITION(type, value)                                                                               \
	"devices: [{driver: d, pool: p, device: a, conditions: [{type: " type ", status: '" value "'}]}]"

static void a_claim_whose_device_does_not_get_ready_is_not_available(void **state)
{
	/* The cycle is at 1000 s, the timeout 600 s. */
	static const struct binding cases[] = {
		{"", true},
		{"", false},
		{CONDITION("ready", "True"), true},
		{CONDITION("ready", "False"), true},
		{CONDITION("broken", "True"), false},
		{CONDITION("broken", "False"), true},
	};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");
	char text[1024];

	configure(f, NULL);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		snprintf(text, sizeof(text),
			"allocation: {allocationTimestamp: '1970-01-01T00:%s:00Z', devices: {results: "
			"[{request: r, driver: d, pool: p, device: a, bindingConditions: [ready], "
			"bindingFailureConditions: [broken]}]}}, %s",
			i == 1 ? "05" : "10", cases[i].status);
		device_claim(f, "c", WANTS(1), text);
		struct subject subject = begin(f, CLAIM);
		assert_int_equal(passes(&subject, n1), cases[i].available);
		cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c"));
	}
}

#define ELSEWHERE                                                                                            \
	"allocation: {devices: {results: []}, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: "      \
	"metadata.name, operator: In, values: [n9]}]}]}}"

static struct bt_claim_release release_of(struct fixture *f, const struct subject *subject)
{
	const struct bt_post_filter_env env = {
		.release = bt_release_default(), .view = &f->cache->view, .compiled = &subject->compiled};
	struct bt_post_filter_result result = {0};
	struct bt_buf text = {0};

	bt_plugin_dynamic_resources.post_filter(&env, &result, &text);
	bt_buf_fini(&text);
	return result.release;
}

static void an_allocation_without_other_users_is_released(void **state)
{
	static const struct {
		const char *reserved;
		enum bt_claims_release release;
	} cases[] = {
		{"", BT_CLAIMS_DEALLOCATE},
		{"reservedFor: [{uid: uid-x}]", BT_CLAIMS_DEALLOCATE},
		{"reservedFor: [{uid: other}]", BT_CLAIMS_KEPT},
		{"reservedFor: [{uid: uid-x}, {uid: other}]", BT_CLAIMS_KEPT},
	};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");
	char text[512];

	configure(f, NULL);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		snprintf(text, sizeof(text), ELSEWHERE ", %s", cases[i].reserved);
		device_claim(f, "c", WANTS(1), text);
		struct subject subject = begin(f, CLAIM);
		/* Before a node was filtered no claim is known to be unavailable. */
		assert_int_equal(release_of(f, &subject).what, BT_CLAIMS_KEPT);
		assert_false(passes(&subject, n1));
		const struct bt_claim_release release = release_of(f, &subject);
		assert_int_equal(release.what, cases[i].release);
		if (release.what == BT_CLAIMS_DEALLOCATE) {
			assert_ptr_equal(&f->cache->view.devices->claims[release.claim_ix], claim_of(f, "c"));
		}
	}
	struct subject subject = begin(f, "");
	assert_int_equal(release_of(f, &subject).what, BT_CLAIMS_NONE);
}

/* ---- Score ---- */

static void the_first_alternative_scores_highest(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", ""), n2 = fixture_node(f, "name: n2", "", "");

	configure(f, NULL);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	device_slice(f, "s2", POOL("q"), "nodeName: n2, devices: [{name: a}, {name: b}]");
	device_claim(f, "c", EITHER(2, 1), "");
	struct subject subject = begin(f, CLAIM);
	assert_int_equal(score(&subject, n1), 7);
	assert_int_equal(score(&subject, n2), 8);
	const struct bt_dynamic_resources_settings off = {.pre_filtered = true, .filtered = true};
	subject = begin_with(f, &off, CLAIM);
	assert_int_equal(score(&subject, n2), 0);
}

/* ---- Reserve ---- */

static void local_devices_tie_a_claim_to_the_node(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1, labels: {zone: a}", "", "");
	const struct bt_device_choice *choices;

	configure(f, NULL);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	device_claim(f, "c", WANTS(1), "");
	struct subject subject = begin(f, CLAIM);
	assert_int_equal(choose(&subject, n1, &choices), 1);
	assert_true(choices[0].allocation.has_selector);
	const struct bt_field_requirement *field = choices[0].allocation.selector.terms[0].fields;
	assert_true(field->is_name && field->value == fixture_name(f, "n1"));
	/* Devices of a zone restrict to the zone, those for all nodes do not restrict, those that
	 * bind restrict to the node. */
	device_slice(f, "s1", POOL("p"),
		"devices: [{name: a}], nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, "
		"operator: Exists}]}]}");
	subject = begin(f, CLAIM);
	choose(&subject, n1, &choices);
	assert_int_equal(choices[0].allocation.selector.terms[0].labels.n, 1);
	assert_int_equal(choices[0].allocation.selector.terms[0].field_n, 0);
	device_slice(f, "s1", POOL("p"), "devices: [{name: a}], allNodes: true");
	subject = begin(f, CLAIM);
	choose(&subject, n1, &choices);
	assert_false(choices[0].allocation.has_selector);
	device_slice(f, "s1", POOL("p"), "devices: [{name: a, bindsToNode: true}], allNodes: true");
	subject = begin(f, CLAIM);
	choose(&subject, n1, &choices);
	assert_int_equal(choices[0].allocation.selector.terms[0].field_n, 1);
}

/* ---- extended resources ---- */

#define GPUS(n) "resources: {requests: {e.com/gpu: " #n "}}"

static void comes_from_devices_where_there_is_no_plugin(struct fixture *f)
{
	uint32_t n1 = fixture_node(f, "name: n1", "", "allocatable: {e.com/gpu: 4}"),
		 n2 = fixture_node(f, "name: n2", "", ""), n3 = fixture_node(f, "name: n3", "", "");
	const struct bt_device_choice *choices;

	configure(f, NULL);
	assert_null(begin(f, "containers: [{name: a, " GPUS(2) "}]").compiled.state);
	device_class(f, "gpus", "extendedResourceName: e.com/gpu");
	device_slice(f, "s2", POOL("p"), "nodeName: n2, devices: [{name: a}, {name: b}]");
	struct subject subject = begin(f, "containers: [{name: a, " GPUS(2) "}]");
	assert_string_equal(given(&subject, n1), "");
	assert_string_equal(given(&subject, n2), "a b");
	assert_refused(&subject, n3, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
	assert_int_equal(choose(&subject, n2, &choices), 1);
	assert_int_equal(choices[0].claim_ix, BT_NO_CLAIM);
	/* A resource that neither the node nor a class provides. */
	subject = begin(f, "containers: [{name: a, resources: {requests: {e.com/gpu: 1, e.com/other: 1}}}]");
	assert_refused(&subject, n2, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "cannot fit resource");
}

static void an_extended_resource_comes_from_devices_without_a_device_plugin(void **state)
{
	comes_from_devices_where_there_is_no_plugin(*state);
}

static void a_rare_resource_comes_from_devices_too(void **state)
{
	fixture_crowd(*state, BT_FIRST_RARE);
	comes_from_devices_where_there_is_no_plugin(*state);
}

static void a_stale_claim_for_extended_resources_is_deleted(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, NULL);
	device_class(f, "gpus", "extendedResourceName: e.com/gpu");
	devices_apply(f,
		"{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: old, annotations: "
		"{resource.kubernetes.io/extended-resource-claim: 'true'}, ownerReferences: [{name: pod-x, "
		"uid: "
		"uid-x, controller: true}]}, spec: {devices: {" WANTS(1) "}}}");
	struct subject subject = begin(f, "containers: [{name: a, " GPUS(1) "}]");
	assert_refused(
		&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "cannot schedule extended resource claim");
	const struct bt_claim_release release = release_of(f, &subject);
	assert_int_equal(release.what, BT_CLAIMS_DELETE);
	assert_ptr_equal(&f->cache->view.devices->claims[release.claim_ix], claim_of(f, "old"));
}

struct containers {
	const char *spec, *requests;
};

static const struct containers containers[] = {
	{"containers: [{name: a, " GPUS(2) "}, {name: b, " GPUS(1) "}]",
		"container-0-request-0=2 container-1-request-0=1"},
	/* The position of the resource in the container's sorted list. */
	{"containers: [{name: a, resources: {requests: {cpu: 1, e.com/gpu: 2, a.com/x: 0}}}]",
		"container-0-request-2=2"},
	/* Init containers reuse what later containers hold; only the largest excess counts. */
	{"initContainers: [{name: i, " GPUS(2) "}, {name: j, " GPUS(5) "}], containers: [{name: a, " GPUS(
		 3) "}]",
		"container-1-request-0=2 container-2-request-0=3"},
	{"initContainers: [{name: i, " GPUS(3) "}], containers: [{name: a, " GPUS(3) "}]",
		"container-1-request-0=3"},
	/* A sidecar keeps its devices, and init containers before it reuse them. */
	{"initContainers: [{name: i, " GPUS(2) "}, {name: s, restartPolicy: Always, " GPUS(
		 1) "}], containers: "
		    "[{name: a, " GPUS(1) "}]",
		"container-1-request-0=1 container-2-request-0=1"},
	/* A sidecar before it does not help. */
	{"initContainers: [{name: s, restartPolicy: Always, " GPUS(1) "}, {name: i, " GPUS(1) "}]",
		"container-0-request-0=1 container-1-request-0=1"},
	/* Fractional amounts request nothing. */
	{"containers: [{name: a, resources: {requests: {e.com/gpu: 1500m}}}]", ""},
};

static void containers_share_devices_for_extended_resources(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", ""), n;
	struct bt_buf text = {0};

	configure(f, NULL);
	device_class(f, "gpus", "extendedResourceName: e.com/gpu");
	for (size_t i = 0; i < COUNT_OF(containers); i++) {
		const struct bt_signature *signature = fixture_signature(f, containers[i].spec);
		const struct bt_device_request *requests =
			bt_extended_requests(&f->cache->view, signature, n1, &n);

		bt_buf_clear(&text);
		bt_buf_text(&text, "");
		for (uint32_t r = 0; r < n; r++) {
			bt_buf_printf(&text, "%s%.*s=%lld", r ? " " : "",
				BT_STR_ARG(bt_intern_str(f->cache->dictionary->intern, requests[r].name)),
				(long long)requests[r].exactly.count);
			assert_int_equal(requests[r].exactly.class_, fixture_name(f, "gpus"));
		}
		assert_str(bt_buf_view(&text), containers[i].requests);
	}
	bt_buf_fini(&text);
}

static void fit_leaves_to_devices_what_the_node_has_none_of(void **state)
{
	static const struct bt_fit_settings fit = {.strategy = BT_LEAST_ALLOCATED};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "allocatable: {e.com/gpu: 1, pods: 9}"),
		 n2 = fixture_node(f, "name: n2", "", "allocatable: {pods: 9}");

	configure(f, NULL);
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &fit, "containers: [{name: a, " GPUS(2) "}]");
	assert_refused(&subject, n2, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient e.com/gpu");
	device_class(f, "gpus", "extendedResourceName: e.com/gpu");
	subject = compile_pod(f, &bt_plugin_node_resources_fit, &fit, "containers: [{name: a, " GPUS(2) "}]");
	assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, "Insufficient e.com/gpu");
	assert_true(passes(&subject, n2));
}

static void scores_count_devices_where_the_node_has_none_of_the_resource(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "allocatable: {cpu: 4, pods: 9}");

	configure(f, NULL);
	device_class(f, "gpus",
		"extendedResourceName: e.com/gpu, selectors: [{cel: {expression: 'device.driver == "
		"\"d\"'}}]");
	device_slice(
		f, "s", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: b}, {name: c}, {name: e}]");
	device_slice(f, "s2", POOL("q"), "nodeName: n2, devices: [{name: a}]");
	device_claim(f, "taken", "", ALLOCATED("device: b"));
	struct bt_fit_resource resource = {bt_resource_slot(f->cache->dictionary, bt_str("e.com/gpu")), 1};
	const struct bt_fit_settings most = {
		.strategy = BT_MOST_ALLOCATED, .resources = &resource, .resource_n = 1};
	struct subject subject =
		compile_pod(f, &bt_plugin_node_resources_fit, &most, "containers: [{name: a, " GPUS(2) "}]");
	/* Of four devices one is allocated and two are requested. */
	assert_int_equal(score(&subject, n1), 75);
	int slots[] = {BT_CPU, resource.slot};
	const struct bt_balanced_settings balanced = {slots, 2, false};
	subject = compile_pod(f, &bt_plugin_node_resources_balanced_allocation, &balanced,
		"containers: [{name: a, resources: {requests: {cpu: 3, e.com/gpu: 2}}}]");
	/* From 0 and 1/4 to 3/4 and 3/4: the spread falls from 12.5 % to 0. */
	assert_int_equal(score(&subject, n1), 50 + (50 + 100 - 87) / 2);
}

/* ---- consumable capacity ---- */

static struct bt_quantity quantity(const char *text)
{
	struct bt_quantity q;

	assert_int_equal(bt_quantity_parse(bt_str(text), &q), BT_OK);
	return q;
}

struct rounding {
	const char *min, *max, *step, *subject, *taken;
	bool violated;
};

static const struct rounding ranges[] = {
	{"1Gi", NULL, NULL, "512Mi", "1Gi", false},
	{"1Gi", NULL, NULL, "1500Mi", "1500Mi", false},
	{"1Gi", "2Gi", NULL, "3Gi", "3Gi", true},
	{"1Gi", NULL, "1Gi", "1500Mi", "2Gi", false},
	{"1Gi", "4Gi", "1Gi", "5Gi", "5Gi", true},
	{"500m", NULL, "1", "1", "1", false},
};

static const struct bt_capacity_rounding plain = {.as_step = false}, by_step = {.as_step = true},
					 fractional = {.as_step = true, .fractional = true};

static void amounts_are_rounded_up_into_the_range(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		const struct rounding *r = &ranges[i];
		struct bt_capacity capacity = {.name = 5,
			.value = quantity("8Gi"),
			.policy = {
				.there = true, .has_range = true, .has_min = true, .min = quantity(r->min)}};
		const struct bt_requested_capacity subject = {5, quantity(r->subject)};
		const struct bt_device_subrequest subrequest = {.capacities = &subject, .capacity_n = 1};

		capacity.policy.has_max = r->max != NULL;
		capacity.policy.max = quantity(r->max ? r->max : "0");
		capacity.policy.has_step = r->step != NULL;
		capacity.policy.step = quantity(r->step ? r->step : "0");
		struct bt_quantity taken = bt_capacity_taken(&subrequest, &capacity, plain);
		assert_int_equal(bt_quantity_cmp(taken, quantity(r->taken)), 0);
		assert_int_equal(bt_capacity_violated(&subrequest, &capacity, taken, plain), r->violated);
	}
}

/* Whole numbers hold none of these, or the step would be 0. */
static void thousandths_are_counted_where_the_range_has_them(void **state)
{
	static const struct {
		const char *min, *step, *subject, *taken, *why;
	} cases[] = {
		{"250m", "250m", "300m", "500m", NULL},
		{"500m", "1500m", "2001m", "3500m", NULL},
		{"500m", "500m", "600m", "1", NULL},
		{"1", "2", "1500m", "3", NULL},
		/* Not a multiple of a thousandth. */
		{"100u", "300m", "1500m", "2", NULL},
		{"1m", "1m", "1500u", NULL, "request 1500u is not a representable milli value"},
		{"1m", "4m", "9223372036854775806m", NULL,
			"rounding request 9223372036854775806m up to the next step passes the milli-value "
			"range"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct bt_capacity capacity = {.name = 5,
			.value = quantity("8Gi"),
			.policy = {.there = true,
				.has_range = true,
				.has_min = true,
				.min = quantity(cases[i].min),
				.has_step = true,
				.step = quantity(cases[i].step)}};
		const struct bt_requested_capacity subject = {5, quantity(cases[i].subject)};
		const struct bt_device_subrequest subrequest = {.capacities = &subject, .capacity_n = 1};
		struct bt_buf why = {0};

		assert_int_equal(
			bt_capacity_fails(&subrequest, &capacity, fractional, &why), cases[i].why != NULL);
		if (cases[i].why) {
			assert_non_null(strstr(why.ptr, cases[i].why));
		} else {
			struct bt_quantity taken = bt_capacity_taken(&subrequest, &capacity, fractional);

			assert_int_equal(bt_quantity_cmp(taken, quantity(cases[i].taken)), 0);
			assert_false(bt_capacity_violated(&subrequest, &capacity, taken, fractional));
		}
		bt_buf_fini(&why);
	}
}

static void amounts_are_rounded_up_to_a_valid_value(void **state)
{
	const struct bt_quantity values[] = {quantity("1"), quantity("2"), quantity("4")};
	const struct bt_capacity capacity = {.name = 5,
		.value = quantity("8"),
		.policy = {.there = true,
			.has_default = true,
			.default_ = quantity("2"),
			.has_values = true,
			.values = values,
			.value_n = 3}};
	struct bt_requested_capacity subject = {5, quantity("3")};
	const struct bt_device_subrequest subrequest = {.capacities = &subject, .capacity_n = 1},
					  nothing = {0};

	(void)state;
	assert_int_equal(bt_quantity_cmp(bt_capacity_taken(&subrequest, &capacity, plain), quantity("4")), 0);
	assert_int_equal(bt_quantity_cmp(bt_capacity_taken(&nothing, &capacity, plain), quantity("2")), 0);
	assert_false(bt_capacity_violated(&subrequest, &capacity, quantity("4"), plain));
	subject.quantity = quantity("5");
	assert_int_equal(bt_quantity_cmp(bt_capacity_taken(&subrequest, &capacity, plain), quantity("5")), 0);
	assert_true(bt_capacity_violated(&subrequest, &capacity, quantity("5"), plain));
}

/* Upstream compares the default with ==; a computed amount lacks the text of a parsed one. */
static void the_default_is_allowed_beyond_the_range_unless_it_was_computed(void **state)
{
	const struct bt_capacity capacity = {.name = 5,
		.value = quantity("8"),
		.policy = {.there = true,
			.has_default = true,
			.default_ = quantity("2"),
			.has_range = true,
			.has_min = true,
			.min = quantity("100u"),
			.has_max = true,
			.max = quantity("1"),
			.has_step = true,
			.step = quantity("100m")}};
	const struct bt_requested_capacity subject = {5, quantity("1250m")};
	const struct bt_device_subrequest subrequest = {.capacities = &subject, .capacity_n = 1},
					  nothing = {0};
	struct bt_quantity taken = bt_capacity_taken(&subrequest, &capacity, fractional);

	(void)state;
	assert_int_equal(bt_quantity_cmp(taken, quantity("2")), 0);
	assert_true(bt_capacity_violated(&subrequest, &capacity, taken, fractional));
	assert_false(bt_capacity_violated(
		&nothing, &capacity, bt_capacity_taken(&nothing, &capacity, fractional), fractional));
}

static void invalid_amounts_are_reported(void **state)
{
	static const struct {
		const char *subject, *min, *step, *why;
	} cases[] = {
		{"1", "1", "1", NULL},
		{"-1", NULL, NULL, "capacity value is negative"},
		{"9223372036854775807", "0", "2",
			"capacity request cannot be represented in the device's range arithmetic: rounding "
			"request 9223372036854775807 up to the next step passes MaxInt64"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bool ranged = cases[i].min != NULL;
		const struct bt_capacity capacity = {.name = 5,
			.value = quantity("8"),
			.policy = {.there = ranged,
				.has_range = ranged,
				.has_min = ranged,
				.has_step = ranged,
				.min = quantity(ranged ? cases[i].min : "0"),
				.step = quantity(ranged ? cases[i].step : "0")}};
		const struct bt_requested_capacity subject = {5, quantity(cases[i].subject)};
		const struct bt_device_subrequest subrequest = {.capacities = &subject, .capacity_n = 1};
		struct bt_buf why = {0};

		assert_int_equal(
			bt_capacity_fails(&subrequest, &capacity, by_step, &why), cases[i].why != NULL);
		assert_string_equal(why.ptr ? why.ptr : "", cases[i].why ? cases[i].why : "");
		bt_buf_fini(&why);
	}
}

/* ---- compared with all combinations ---- */

#define DEVICES 6

struct puzzle {
	uint32_t attribute[DEVICES], cost[DEVICES], counter, count[2];
	bool taken[DEVICES], matched;
};

static uint64_t rng_state;

static uint32_t draw(uint32_t below)
{
	rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(rng_state >> 33) % below;
}

/* Do the devices of two requests, as bits, satisfy the puzzle? */
static bool solves(const struct puzzle *p, uint32_t first, uint32_t second)
{
	uint32_t value = UINT32_MAX, cost = 0;

	if (first & second || (uint32_t)__builtin_popcount(first) != p->count[0] ||
		(uint32_t)__builtin_popcount(second) != p->count[1]) {
		return false;
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		if (!((first | second) >> i & 1)) {
			continue;
		}
		if (p->taken[i] || (p->matched && value != UINT32_MAX && value != p->attribute[i])) {
			return false;
		}
		value = p->attribute[i];
		cost += p->cost[i];
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		cost += p->taken[i] ? p->cost[i] : 0;
	}
	return cost <= p->counter;
}

/* Does a come before b: are its devices, in order, the earlier ones? */
static bool earlier(uint32_t a, uint32_t b)
{
	uint32_t differ = a ^ b;

	return differ && (a & (differ & -differ));
}

static const char *solve(const struct puzzle *p)
{
	static char text[64];
	uint32_t best[2] = {0, 0};
	bool any = false;
	size_t at = 0;

	for (uint32_t first = 0; first < 1u << DEVICES; first++) {
		for (uint32_t second = 0; second < 1u << DEVICES; second++) {
			if (solves(p, first, second) &&
				(!any || earlier(first, best[0]) ||
					(first == best[0] && earlier(second, best[1])))) {
				best[0] = first;
				best[1] = second;
				any = true;
			}
		}
	}
	for (uint32_t i = 0; any && i < 2 * DEVICES; i++) {
		if (best[i / DEVICES] >> i % DEVICES & 1) {
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%sd%u", at ? " " : "", i % DEVICES);
		}
	}
	return any ? text : NULL;
}

static void pose(struct fixture *f, const struct puzzle *p)
{
	static const char two[] = "name: p, generation: 1, resourceSliceCount: 2";
	char text[2048];
	size_t at = (size_t)snprintf(text, sizeof(text), "nodeName: n1, devices: [");

	for (uint32_t i = 0; i < DEVICES; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at,
			"%s{name: d%u, attributes: {m: {int: %u}}, consumesCounters: [{counterSet: s, "
			"counters: {c: "
			"{value: '%u'}}}]}",
			i ? ", " : "", i, p->attribute[i], p->cost[i]);
	}
	snprintf(text + at, sizeof(text) - at, "]");
	device_slice(f, "s1", two, text);
	snprintf(text, sizeof(text),
		"nodeName: n1, sharedCounters: [{name: s, counters: {c: {value: '%u'}}}]", p->counter);
	device_slice(f, "s0", two, text);
	for (uint32_t i = 0; i < DEVICES; i++) {
		char name[16], status[256];

		snprintf(name, sizeof(name), "t%u", i);
		snprintf(status, sizeof(status), ALLOCATED("device: d%u"), i);
		device_claim(f, name, "", p->taken[i] ? status : "");
	}
	snprintf(text, sizeof(text),
		"requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: %u}}, "
		"{name: q, "
		"exactly: {deviceClassName: k, allocationMode: ExactCount, count: %u}}]%s",
		p->count[0], p->count[1], p->matched ? ", constraints: [{matchAttribute: d/m}]" : "");
	device_claim(f, "c", text, "");
}

/* The search finds a solution whenever there is one, and of all solutions the first. */
static void the_search_finds_the_first_of_all_solutions(void **state)
{
	const char *wanted_seed = getenv("BT_SEED");
	uint64_t seed = wanted_seed ? strtoull(wanted_seed, NULL, 0) : 20261121;
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", ""), solved = 0;

	print_message("seed %llu\n", (unsigned long long)seed);
	rng_state = seed;
	configure(f, NULL);
	for (int round = 0; round < 300; round++) {
		struct puzzle p = {
			.counter = 4 + draw(8), .count = {1 + draw(2), 1 + draw(2)}, .matched = draw(2)};

		for (uint32_t i = 0; i < DEVICES; i++) {
			p.attribute[i] = draw(3);
			p.cost[i] = 1 + draw(3);
			p.taken[i] = draw(5) == 0;
		}
		pose(f, &p);
		const char *want = solve(&p);
		struct subject subject = begin(f, CLAIM);
		if (want) {
			solved++;
			assert_string_equal(given(&subject, n1), want);
		} else {
			assert_refused(&subject, n1, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, NONE);
		}
		for (uint32_t i = 0; i < f->cache->view.devices->use_n; i++) {
			assert_int_equal(f->cache->view.devices->marks[i], 0);
		}
	}
	assert_in_range(solved, 60, 290);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(claims_that_are_not_in_order_keep_a_pod_back),
		FIXTURE_TEST(requests_that_cannot_be_met_refuse_everywhere),
		FIXTURE_TEST(a_claim_that_another_pod_is_getting_makes_the_pod_wait),
		FIXTURE_TEST(a_pod_without_claims_skips_the_plugin),
		FIXTURE_TEST(the_first_devices_that_do_are_given),
		FIXTURE_TEST(lists_of_values_are_compared_as_sets),
		cmocka_unit_test(lists_are_no_values_for_constraints_without_the_gate),
		FIXTURE_TEST(selectors_of_earlier_releases_see_no_lists),
		cmocka_unit_test(devices_of_a_counter_set_have_a_group_in_common),
		cmocka_unit_test(nodes_declare_that_they_leave_operations_out),
		cmocka_unit_test(a_request_with_derived_attributes_fails),
		FIXTURE_TEST(derived_attributes_are_matched_as_those_of_devices),
		FIXTURE_TEST(derived_lists_are_compared_as_sets),
		FIXTURE_TEST(attributes_are_derived_of_what_the_cycle_has_read),
		cmocka_unit_test(claims_that_differ_in_one_field_have_answers_of_their_own),
		cmocka_unit_test(slices_that_differ_in_one_field_have_answers_of_their_own),
		FIXTURE_TEST(nodes_and_groups_that_differ_have_answers_of_their_own),
		cmocka_unit_test(an_allocation_that_skips_operations_is_had_where_nodes_can),
		FIXTURE_TEST(devices_select_their_nodes_in_slices_with_per_device_selection),
		FIXTURE_TEST(devices_of_other_claims_are_not_allocated),
		FIXTURE_TEST(parts_of_a_device_share_its_counters),
		FIXTURE_TEST(pools_that_are_not_in_order_are_left_out),
		FIXTURE_TEST(a_search_that_takes_too_long_fails),
		FIXTURE_TEST(taints_of_rules_count_beside_those_of_slices),
		cmocka_unit_test(gates_take_devices_away),
		FIXTURE_TEST(an_allocated_claim_fits_nodes_of_its_selector),
		FIXTURE_TEST(a_claim_whose_device_does_not_get_ready_is_not_available),
		FIXTURE_TEST(an_allocation_without_other_users_is_released),
		FIXTURE_TEST(the_first_alternative_scores_highest),
		FIXTURE_TEST(local_devices_tie_a_claim_to_the_node),
		FIXTURE_TEST(an_extended_resource_comes_from_devices_without_a_device_plugin),
		FIXTURE_TEST(a_rare_resource_comes_from_devices_too),
		FIXTURE_TEST(a_stale_claim_for_extended_resources_is_deleted),
		FIXTURE_TEST(containers_share_devices_for_extended_resources),
		FIXTURE_TEST(fit_leaves_to_devices_what_the_node_has_none_of),
		FIXTURE_TEST(scores_count_devices_where_the_node_has_none_of_the_resource),
		cmocka_unit_test(amounts_are_rounded_up_into_the_range),
		cmocka_unit_test(thousandths_are_counted_where_the_range_has_them),
		cmocka_unit_test(amounts_are_rounded_up_to_a_valid_value),
		cmocka_unit_test(the_default_is_allowed_beyond_the_range_unless_it_was_computed),
		cmocka_unit_test(invalid_amounts_are_reported),
		FIXTURE_TEST(the_search_finds_the_first_of_all_solutions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
