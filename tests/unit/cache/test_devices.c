/* SPDX-License-Identifier: Apache-2.0
 * Devices: allocations of claims, pending allocations of decided pods, the pools of a node, and
 * cached results of selectors.
 */
#include "device_fixture.h"

/* ---- an evaluator that counts its calls ---- */

static uint32_t asked_n;

static void *judge_create(const struct bt_device_features *features)
{
	(void)features;
	asked_n = 0;
	return &asked_n;
}

static void judge_destroy(void *judge)
{
	assert_ptr_equal(judge, &asked_n);
}

/* "yes" and numbers match, "no" does not, "shared" matches shareable devices, everything else fails. */
static enum bt_device_answer judge_match(void *judge, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error)
{
	struct bt_str text = bt_intern_str(intern, expression);

	++*(uint32_t *)judge;
	assert_str(bt_intern_str(intern, driver), "d");
	if (bt_str_is(text, "shared")) {
		return device->allow_multiple ? BT_DEVICE_YES : BT_DEVICE_NO;
	}
	if (bt_str_is(text, "yes") || (text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9')) {
		return BT_DEVICE_YES;
	}
	if (bt_str_is(text, "no")) {
		return BT_DEVICE_NO;
	}
	bt_buf_text(out_error, "what is that?");
	return BT_DEVICE_FAILED;
}

/* Returns the expression, the device and a list of both; "?" fails. */
static enum bt_device_answer judge_derive(void *judge, struct bt_name_refs *held, struct bt_arena *arena,
	uint32_t expression, uint32_t driver, const struct bt_device *device, struct bt_attribute *out_value,
	struct bt_buf *out_error)
{
	struct bt_buf text = {0};
	int64_t *items = bt_arena_zalloc(arena, sizeof(*items));

	(void)driver;
	++*(uint32_t *)judge;
	if (bt_str_is(bt_intern_str(held->intern, expression), "?")) {
		bt_buf_text(out_error, "what is that?");
		return BT_DEVICE_FAILED;
	}
	bt_buf_printf(&text, "%.*s of %.*s", BT_STR_ARG(bt_intern_str(held->intern, expression)),
		BT_STR_ARG(bt_intern_str(held->intern, device->name)));
	items[0] = bt_name_refs_add(held, bt_buf_view(&text));
	*out_value = (struct bt_attribute){.type = BT_ATTRIBUTE_STRINGS, .items = items, .n = 1};
	bt_buf_fini(&text);
	return BT_DEVICE_YES;
}

static void configure(struct fixture *f, bool all)
{
	static const struct bt_device_judge judge = {judge_create, judge_destroy, judge_match, judge_derive};
	const struct bt_device_features features = {.admin_access = all,
		.prioritized_list = all,
		.partitionable = all,
		.taints = all,
		.binding_conditions = all,
		.consumable_capacity = all,
		.extended_resources = all};

	bt_devices_configure(f->cache->devices, &features, &judge);
}

/* ---- allocations ---- */

static void a_device_is_allocated_as_long_as_a_claim_has_it(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	assert_false(use_of(f, "p", "a").allocated);
	device_claim(f, "c", "requests: [{name: r}]", ALLOCATED("device: a"));
	assert_true(use_of(f, "p", "a").allocated);
	assert_true(claim_of(f, "c")->allocated);
	device_claim(f, "c", "requests: [{name: r}]", "");
	assert_false(use_of(f, "p", "a").allocated);
	device_claim(f, "c", "requests: [{name: r}]", ALLOCATED("device: a"));
	assert_true(use_of(f, "p", "a").allocated);
	assert_int_equal(
		cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c")), BT_OK);
	assert_false(use_of(f, "p", "a").allocated);
	assert_null(claim_of(f, "c"));
	assert_int_equal(
		cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c")), BT_NOT_FOUND);
}

static void admin_access_takes_no_device(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", ALLOCATED("device: a, adminAccess: true"));
	assert_false(use_of(f, "p", "a").allocated);
}

#define GIGA ((bt_nano)1000000000)

static void shares_of_a_device_add_up(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", ALLOCATED("device: a, shareID: s1, consumedCapacity: {m: '3', n: '1'}"));
	device_claim(f, "e", "", ALLOCATED("device: a, shareID: s2, consumedCapacity: {m: '4'}"));
	struct bt_device_use use = use_of(f, "p", "a");
	assert_false(use.allocated);
	assert_int_equal(use.share_n, 2);
	assert_true(use.consumes);
	assert_int_equal(use.consumed_n, 2);
	assert_true(use.consumed[0].value == 7 * GIGA && use.consumed[1].value == GIGA);
	device_claim(f, "c", "", "");
	use = use_of(f, "p", "a");
	assert_int_equal(use.share_n, 1);
	assert_true(use.consumes && use.consumed[0].value == 4 * GIGA);
	device_claim(f, "e", "", "");
	use = use_of(f, "p", "a");
	assert_int_equal(use.share_n, 0);
	assert_false(use.consumes);
}

static void without_its_gate_a_share_is_the_whole_device(void **state)
{
	struct fixture *f = *state;

	configure(f, false);
	device_claim(f, "c", "", ALLOCATED("device: a, shareID: s1, consumedCapacity: {m: '3'}"));
	assert_true(use_of(f, "p", "a").allocated);
	assert_int_equal(use_of(f, "p", "a").share_n, 0);
}

/* ---- decided pods ---- */

/* The index of a claim. */
static uint32_t ix_of(struct fixture *f, const char *name)
{
	return (uint32_t)(claim_of(f, name) - f->cache->view.devices->claims);
}

static struct bt_device_result result_for(struct fixture *f, const char *device)
{
	return (struct bt_device_result){.request = fixture_name(f, "r"),
		.driver = fixture_name(f, "d"),
		.pool = fixture_name(f, "p"),
		.device = fixture_name(f, device)};
}

/* Chooses this device for the claim "c". result: outlives it. */
static struct bt_device_choice choose(struct fixture *f, const struct bt_device_result *result)
{
	return (struct bt_device_choice){ix_of(f, "c"), {.results = result, .result_n = 1}, false, false};
}

#define CLAIMING "resourceClaims: [{name: x, resourceClaimName: c}]"

static void a_kept_pod_owns_its_assumed_claims(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, CLAIMING);

	configure(f, true);
	device_claim(f, "c", "", "");
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	assert_true(claim_of(f, "c")->pending);
	assert_false(claim_of(f, "c")->allocated);
	assert_int_equal(use_of(f, "p", "a").pending_n, 1);
	bt_devices_keep(f->cache->devices, 7, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	const struct bt_resource_claim *claim = claim_of(f, "c");
	assert_true(claim->allocated && !claim->pending);
	assert_int_equal(claim->allocation.results[0].device, fixture_name(f, "a"));
	assert_int_equal(claim->reserved_n, 1);
	assert_int_equal(claim->reserved_for[0].uid, fixture_name(f, "uid"));
	assert_true(use_of(f, "p", "a").allocated);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	/* A second pod shares the claim, and a third, and the first is recorded once. */
	for (int i = 0; i < 2; i++) {
		bt_devices_keep(
			f->cache->devices, 8, signature, fixture_name(f, "pod2"), fixture_name(f, "uid2"));
		bt_devices_keep(f->cache->devices, 9, signature, fixture_name(f, "pod3"), BT_NAME_NONE);
	}
	claim = claim_of(f, "c");
	assert_int_equal(claim->reserved_n, 3);
	assert_int_equal(claim->reserved_for[2].uid, fixture_name(f, "pod3"));
	bt_devices_deallocate(f->cache->devices, ix_of(f, "c"));
	assert_false(claim_of(f, "c")->allocated);
	assert_int_equal(claim_of(f, "c")->reserved_n, 0);
	assert_false(use_of(f, "p", "a").allocated);
}

static void a_reverted_assumption_leaves_no_trace(void **state)
{
	struct fixture *f = *state;
	struct bt_consumed consumed = {fixture_name(f, "m"), 5 * GIGA};
	struct bt_device_result result = result_for(f, "a");

	configure(f, true);
	device_claim(f, "c", "", "");
	result.share = BT_NAME_EMPTY;
	result.consumed = &consumed;
	result.consumed_n = 1;
	const struct bt_device_choice choice = choose(f, &result);
	for (uint32_t pod = 1; pod <= 2; pod++) {
		bt_devices_assume(f->cache->devices, pod, &choice, 1);
	}
	assert_int_equal(use_of(f, "p", "a").share_n, 2);
	assert_true(use_of(f, "p", "a").consumed[0].value == 10 * GIGA);
	bt_devices_revert(f->cache->devices, 1);
	assert_int_equal(use_of(f, "p", "a").share_n, 1);
	bt_devices_revert(f->cache->devices, 2);
	bt_devices_revert(f->cache->devices, 2);
	assert_int_equal(use_of(f, "p", "a").share_n, 0);
	assert_false(use_of(f, "p", "a").consumes);
	assert_false(claim_of(f, "c")->pending);
}

static void a_claim_that_goes_while_it_is_pending_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, CLAIMING);

	configure(f, true);
	device_claim(f, "c", "", "");
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 3, &choice, 1);
	cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c"));
	device_claim(f, "other", "", "");
	assert_int_not_equal(ix_of(f, "other"), choice.claim_ix);
	bt_devices_keep(f->cache->devices, 3, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	assert_false(use_of(f, "p", "a").allocated);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	device_claim(f, "third", "", "");
	assert_int_equal(ix_of(f, "third"), choice.claim_ix);
}

/* A pod may name one claim twice: then two choices are pending, and its index is freed once. */
static void a_claim_that_a_pod_names_twice_gives_its_place_back_once(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", "");
	const struct bt_device_result first = result_for(f, "a"), second = result_for(f, "b");
	const struct bt_device_choice choices[2] = {
		{ix_of(f, "c"), {.results = &first, .result_n = 1}, false, false},
		{ix_of(f, "c"), {.results = &second, .result_n = 1}, false, false},
	};
	bt_devices_assume(f->cache->devices, 3, choices, 2);
	cache_remove(f->cache, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c"));
	bt_devices_revert(f->cache->devices, 3);
	device_claim(f, "other", "", "");
	device_claim(f, "third", "", "");
	assert_int_not_equal(ix_of(f, "other"), ix_of(f, "third"));
}

/* Pod 7 is bound, and claim c has device a for it. */
static void keep_for_pod(struct fixture *f)
{
	const struct bt_signature *signature = fixture_signature(f, CLAIMING);

	device_claim(f, "c", "", "");
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	bt_devices_keep(f->cache->devices, 7, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
}

static bool unkeep(struct fixture *f, uint32_t pod_ix)
{
	uint32_t claim_ix;

	return bt_devices_unkeep(
		f->cache->devices, pod_ix, fixture_name(f, "default"), fixture_name(f, "c"), &claim_ix);
}

static void a_claim_event_older_than_the_allocation_does_not_revert_it(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	keep_for_pod(f);
	device_claim(f, "c", "", "");
	assert_true(claim_of(f, "c")->allocated);
	assert_int_equal(claim_of(f, "c")->reserved_for[0].uid, fixture_name(f, "uid"));
	assert_int_equal(claim_of(f, "c")->allocation.results[0].device, fixture_name(f, "a"));
	assert_true(use_of(f, "p", "a").allocated);
	/* After the first event events alone count. */
	device_claim(f, "c", "", ALLOCATED("device: a"));
	device_claim(f, "c", "", "");
	assert_false(claim_of(f, "c")->allocated);
	assert_false(use_of(f, "p", "a").allocated);
	assert_false(unkeep(f, 7));
}

static void a_kept_allocation_ends_with_its_pod_once_shown_as_free(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	keep_for_pod(f);
	assert_false(unkeep(f, 8));
	device_claim(f, "c", "", "");
	assert_true(unkeep(f, 7));
	assert_false(unkeep(f, 7));
	/* Without any event it stays allocated; later events count. */
	bt_devices_deallocate(f->cache->devices, ix_of(f, "c"));
	keep_for_pod(f);
	assert_false(unkeep(f, 7));
	assert_true(claim_of(f, "c")->allocated);
	device_claim(f, "c", "", "");
	assert_false(claim_of(f, "c")->allocated);
}

/* It was allocated and deallocated again before the binder's answer. */
static void a_claim_shown_allocated_while_pending_is_not_allocated_again(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_claim(f, "c", "", "");
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	device_claim(f, "c", "", ALLOCATED("device: a"));
	assert_true(claim_of(f, "c")->pending);
	device_claim(f, "c", "", "");
	bt_devices_keep(f->cache->devices, 7,
		fixture_signature(f, "resourceClaims: [{name: x, resourceClaimName: c}]"),
		fixture_name(f, "pod"), fixture_name(f, "uid"));
	assert_false(claim_of(f, "c")->allocated || claim_of(f, "c")->pending);
	assert_false(use_of(f, "p", "a").allocated);
}

/* The watch may show the binder's write before the binder answers. */
static void a_share_that_is_shown_while_it_is_pending_stays_when_the_binder_answers(void **state)
{
	struct fixture *f = *state;
	struct bt_device_result result = result_for(f, "a");
	char status[256];
	uint32_t n;

	configure(f, true);
	device_claim(f, "c", "", "");
	result.share = BT_NAME_EMPTY;
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	uint32_t share = bt_devices_pending(f->cache->devices, 7, &n)->allocation.results[0].share;
	snprintf(status, sizeof(status), ALLOCATED("device: a, shareID: %.*s"),
		BT_STR_ARG(bt_intern_str(f->cache->dictionary->intern, share)));
	device_claim(f, "c", "", status);
	bt_devices_revert(f->cache->devices, 7);
	assert_int_equal(use_of(f, "p", "a").share_n, 1);
	device_claim(f, "c", "", "");
	assert_int_equal(use_of(f, "p", "a").share_n, 0);
}

static void a_recreated_claim_starts_over(void **state)
{
	struct fixture *f = *state;
	static const char other[] =
		"{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: c, uid: other}, "
		"spec: {devices: {}}}";

	configure(f, true);
	keep_for_pod(f);
	devices_apply(f, other);
	assert_false(claim_of(f, "c")->allocated);
	assert_false(use_of(f, "p", "a").allocated);
	/* The first one's pending choices do not concern the second. */
	device_claim(f, "c", "", "");
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 9, &choice, 1);
	devices_apply(f, other);
	assert_false(claim_of(f, "c")->pending);
	bt_devices_keep(f->cache->devices, 9,
		fixture_signature(f, "resourceClaims: [{name: x, resourceClaimName: c}]"),
		fixture_name(f, "pod"), fixture_name(f, "uid"));
	assert_false(claim_of(f, "c")->allocated);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
}

/* ---- writes of binders ---- */

static void claim_at(struct fixture *f, const char *version, const char *status)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: c, uid: u-c, "
		"resourceVersion: '%s'}, spec: {devices: {}}, status: {%s}}",
		version, status);
	devices_apply(f, text);
}

static const char of_a[] = "allocation: {devices: {results: [{request: r, driver: d, pool: p, device: a}]}}";

/* Claim c is shown at version 10, pod 7 gets device a for it, and its binder has written that at this
 * version, with this many changes. Returns the claim. */
static uint32_t write_for_pod(struct fixture *f, uint64_t version, bool reserved, uint32_t change_n)
{
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = choose(f, &result);
	const struct bt_written_claim written = {
		.name = bt_str("c"), .uid = bt_str("u-c"), .version = version, .reserved = reserved};

	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	uint32_t n, changes;
	assert_non_null(bt_devices_pending(f->cache->devices, 7, &n));
	assert_int_equal(n, 1);
	uint32_t ix = bt_devices_written(f->cache->devices, 7,
		&(struct bt_signature){.namespace_ = fixture_name(f, "default")}, fixture_name(f, "pod"),
		fixture_name(f, "uid"), &written, &changes);
	assert_int_equal(changes, change_n);
	assert_null(bt_devices_pending(f->cache->devices, 7, &n));
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	return ix;
}

static void a_binders_claim_counts_until_the_watch_shows_as_new_a_version(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	claim_at(f, "10", "");
	assert_int_equal(write_for_pod(f, 20, true, BT_CHANGED_CLAIM_STATUS), ix_of(f, "c"));
	assert_true(claim_of(f, "c")->allocated && use_of(f, "p", "a").allocated);
	assert_int_equal(claim_of(f, "c")->reserved_for[0].uid, fixture_name(f, "uid"));
	/* An older version does not revert it, even after its pod was deleted. */
	claim_at(f, "19", "reservedFor: [{resource: pods, name: x, uid: x}]");
	assert_false(unkeep(f, 7));
	assert_true(claim_of(f, "c")->allocated && use_of(f, "p", "a").allocated);
	assert_int_equal(claim_of(f, "c")->reserved_n, 1);
	assert_int_equal(claim_of(f, "c")->reserved_for[0].uid, fixture_name(f, "uid"));
	/* Shown as written, and with a later change. */
	claim_at(f, "20", of_a);
	assert_true(claim_of(f, "c")->allocated);
	claim_at(f, "21", "");
	assert_false(claim_of(f, "c")->allocated || use_of(f, "p", "a").allocated);
}

static void a_claim_that_has_changed_since_it_was_written_is_as_it_was_shown(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	claim_at(f, "10", "");
	claim_at(f, "21", "");
	assert_int_equal(write_for_pod(f, 20, true, BT_CHANGED_CLAIM_STATUS | BT_CHANGED_ALLOCATION_LOST),
		ix_of(f, "c"));
	assert_false(claim_of(f, "c")->allocated || use_of(f, "p", "a").allocated);
	assert_int_equal(claim_of(f, "c")->reserved_n, 0);
}

static void a_bound_pod_shown_before_the_binders_answer_changes_nothing(void **state)
{
	struct fixture *f = *state;
	const struct bt_written_claim written = {
		.name = bt_str("c"), .uid = bt_str("u-c"), .version = 20, .reserved = true};
	uint32_t changes;

	configure(f, true);
	claim_at(f, "20", of_a);
	bt_devices_written(f->cache->devices, 7,
		&(struct bt_signature){.namespace_ = fixture_name(f, "default")}, fixture_name(f, "pod"),
		fixture_name(f, "uid"), &written, &changes);
	assert_int_equal(changes, 0);
}

static void a_claim_of_a_binding_that_failed_stays_allocated_but_is_nobodys(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	claim_at(f, "10", "");
	write_for_pod(f, 20, false, BT_CHANGED_CLAIM_STATUS);
	assert_true(claim_of(f, "c")->allocated);
	assert_int_equal(claim_of(f, "c")->reserved_n, 0);
	bt_devices_deallocate(f->cache->devices, ix_of(f, "c"));
	/* An event from before the write does not allocate it. */
	claim_at(f, "19", of_a);
	assert_false(claim_of(f, "c")->allocated || use_of(f, "p", "a").allocated);
}

static void a_deleted_claims_writes_do_not_affect_a_recreated_one(void **state)
{
	struct fixture *f = *state;
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_written_claim written = {
		.name = bt_str("c"), .uid = bt_str("u-c"), .version = 20, .reserved = true};
	uint32_t changes;

	configure(f, true);
	claim_at(f, "10", "");
	const struct bt_device_choice choice = choose(f, &result);
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	devices_apply(f,
		"{" DEVICE_API "kind: ResourceClaim, metadata: {namespace: default, name: c, uid: other, "
		"resourceVersion: '12'}, spec: {devices: {}}}");
	assert_int_equal(bt_devices_written(f->cache->devices, 7,
				 &(struct bt_signature){.namespace_ = fixture_name(f, "default")},
				 fixture_name(f, "pod"), fixture_name(f, "uid"), &written, &changes),
		BT_NO_CLAIM);
	assert_int_equal(changes, 0);
	assert_false(claim_of(f, "c")->allocated);
	/* The deleted one's pending choice ends with the binding. */
	bt_devices_revert(f->cache->devices, 7);
	assert_int_equal(use_of(f, "p", "a").pending_n, 0);
}

static void the_claim_for_extended_resources_has_the_name_that_it_was_given(void **state)
{
	struct fixture *f = *state;
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = {
		BT_NO_CLAIM, {.results = &result, .result_n = 1}, false, false};
	const struct bt_written_claim written = {.name = bt_str("pod-extended-resources-x7"),
		.uid = bt_str("u-x"),
		.version = 20,
		.reserved = true,
		.special = true};
	uint32_t changes;

	configure(f, true);
	for (int shown = 0; shown < 2; shown++) {
		uint32_t before = f->cache->view.devices->special_n;

		bt_devices_assume(f->cache->devices, 7, &choice, 1);
		bt_devices_written(f->cache->devices, 7,
			&(struct bt_signature){.namespace_ = fixture_name(f, "default")},
			fixture_name(f, "pod"), fixture_name(f, "uid"), &written, &changes);
		const struct bt_resource_claim *claim = claim_of(f, "pod-extended-resources-x7");
		assert_true(claim->special && claim->allocated);
		assert_int_equal(claim->uid, fixture_name(f, "u-x"));
		assert_int_equal(claim->reserved_for[0].uid, fixture_name(f, "uid"));
		assert_int_equal(f->cache->view.devices->special_n, shown ? before : 1);
		assert_int_equal(use_of(f, "p", "a").pending_n, 0);
	}
}

static void any_number_of_pods_can_reserve_a_claim(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, CLAIMING);
	char text[512] = "", name[8];

	configure(f, true);
	for (uint32_t shown = 0; shown < 9; shown++) {
		snprintf(text, sizeof(text), "%s, reservedFor: [", of_a);
		for (uint32_t i = 0; i < shown; i++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "{uid: u%u}, ", i);
		}
		strcat(text, "]");
		claim_at(f, "", text);
		for (uint32_t i = shown; i < 20; i++) {
			snprintf(name, sizeof(name), "u%u", i);
			bt_devices_keep(f->cache->devices, i, signature, fixture_name(f, "pod"),
				fixture_name(f, name));
		}
		assert_int_equal(claim_of(f, "c")->reserved_n, 20);
		for (uint32_t i = 0; i < 20; i++) {
			snprintf(name, sizeof(name), "u%u", i);
			assert_int_equal(claim_of(f, "c")->reserved_for[i].uid, fixture_name(f, name));
		}
	}
}

static void extended_resources_get_a_claim_of_their_own(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, "");
	const struct bt_device_store *store = f->cache->view.devices;

	configure(f, true);
	const struct bt_device_result result = result_for(f, "a");
	const struct bt_device_choice choice = {
		BT_NO_CLAIM, {.results = &result, .result_n = 1}, false, false};
	bt_devices_assume(f->cache->devices, 3, &choice, 1);
	assert_int_equal(store->claim_n, 0);
	bt_devices_keep(f->cache->devices, 3, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	assert_int_equal(store->special_n, 1);
	assert_true(store->claims[0].special && store->claims[0].allocated);
	assert_int_equal(store->claims[0].owners[0].uid, fixture_name(f, "uid"));
	assert_true(use_of(f, "p", "a").allocated);
}

/* ---- pools ---- */

static void slices_of_a_pool_are_live_ones_of_any_generation(void **state)
{
	struct fixture *f = *state;
	const struct bt_device_store *store = f->cache->view.devices;
	uint32_t driver = fixture_name(f, "d"), p = fixture_name(f, "p"), n;

	assert_null(store->calls->slices_of(store->context, driver, p, &n));
	assert_int_equal(n, 0);
	device_slice(f, "s1", "name: p, generation: 1, resourceSliceCount: 1", "nodeName: n1");
	device_slice(f, "s2", POOL("other"), "nodeName: n1");
	device_slice(f, "s3", "name: p, generation: 2, resourceSliceCount: 1", "nodeName: n2");
	const uint32_t *slices = store->calls->slices_of(store->context, driver, p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(store->slices[slices[0]].name, fixture_name(f, "s1"));
	assert_int_equal(store->slices[slices[1]].name, fixture_name(f, "s3"));
	assert_null(store->calls->slices_of(store->context, p, driver, &n));
	cache_remove(f->cache, BT_KIND_RESOURCE_SLICE, bt_str(""), bt_str("s1"));
	slices = store->calls->slices_of(store->context, driver, p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(store->slices[slices[0]].name, fixture_name(f, "s3"));
}

static void a_pool_needs_all_slices_of_its_newest_generation(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", ""), n2 = fixture_node(f, "name: n2", "", "");

	configure(f, true);
	assert_int_equal(pools_of(f, n1)->n, 0);
	device_slice(f, "s2", "name: p, generation: 1, resourceSliceCount: 2",
		"nodeName: n1, devices: [{name: b}]");
	assert_int_equal(pools_of(f, n1)->n, 1);
	assert_true(pools_of(f, n1)->items[0].incomplete);
	assert_int_equal(pools_of(f, n2)->n, 0);
	device_slice(f, "s1", "name: p, generation: 1, resourceSliceCount: 2",
		"nodeName: n1, devices: [{name: a}]");
	const struct bt_device_pool *pool = &pools_of(f, n1)->items[0];
	assert_false(pool->incomplete || pool->invalid);
	assert_int_equal(pool->slice_n, 2);
	/* Slices are sorted by name. */
	assert_int_equal(f->cache->view.devices->slices[pool->slices[0]].name, fixture_name(f, "s1"));
	/* A newer generation on another node makes this slice obsolete. */
	device_slice(f, "s3", "name: p, generation: 2, resourceSliceCount: 2",
		"nodeName: n2, devices: [{name: c}]");
	assert_int_equal(pools_of(f, n1)->items[0].slice_n, 2);
	cache_remove(f->cache, BT_KIND_RESOURCE_SLICE, bt_str(""), bt_str("s1"));
	assert_int_equal(pools_of(f, n1)->n, 0);
	assert_true(pools_of(f, n2)->items[0].incomplete);
	device_slice(f, "s4", "name: p, generation: 2, resourceSliceCount: 2", "allNodes: true");
	assert_false(pools_of(f, n2)->items[0].incomplete);
	assert_int_equal(pools_of(f, n2)->items[0].slice_n, 2);
}

static void pools_are_ordered_by_driver_and_name_and_those_with_binding_conditions_last(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, true);
	device_slice(f, "s1", POOL("z"), "nodeName: n1, devices: [{name: a}]");
	device_slice(f, "s2", POOL("k"), "nodeName: n1, devices: [{name: a, bindingConditions: [ready]}]");
	device_slice(f, "s3", POOL("m"), "allNodes: true, devices: [{name: a}]");
	const struct bt_device_pools *pools = pools_of(f, n1);
	assert_int_equal(pools->n, 3);
	assert_int_equal(pools->items[0].pool, fixture_name(f, "m"));
	assert_int_equal(pools->items[1].pool, fixture_name(f, "z"));
	assert_int_equal(pools->items[2].pool, fixture_name(f, "k"));
}

static void a_pool_with_equal_names_or_unknown_counters_is_invalid(void **state)
{
	static const char *const bad[] = {
		"devices: [{name: a}, {name: a}]",
		"devices: [{name: a, consumesCounters: [{counterSet: s, counters: {c: {value: '1'}}}]}]",
	};
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");
	char text[512];

	configure(f, true);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		snprintf(text, sizeof(text), "nodeName: n1, %s", bad[i]);
		device_slice(f, "s1", POOL("p"), text);
		assert_true(pools_of(f, n1)->items[0].invalid);
	}
	/* With the counter it is valid; a duplicate set is not. */
	static const char counted[] = "name: p, generation: 1, resourceSliceCount: 2";
	device_slice(f, "s1", counted, text);
	device_slice(
		f, "s2", counted, "nodeName: n1, sharedCounters: [{name: s, counters: {c: {value: '4'}}}]");
	assert_false(pools_of(f, n1)->items[0].invalid);
	assert_int_equal(pools_of(f, n1)->items[0].counter_n, 1);
	assert_int_equal(pools_of(f, n1)->items[0].slice_n, 1);
	device_slice(f, "s2", counted,
		"nodeName: n1, sharedCounters: [{name: s, counters: {c: {value: '4'}}}, {name: s, counters: "
		"{c: {value: '4'}}}]");
	assert_true(pools_of(f, n1)->items[0].invalid);
}

static void devices_out_of_reach_still_take_of_the_counters(void **state)
{
	static const char counted[] = "name: p, generation: 1, resourceSliceCount: 3";
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1", "", "");

	configure(f, true);
	fixture_node(f, "name: n2", "", "");
	device_slice(f, "s1", counted, "nodeName: n1, devices: [{name: a}]");
	device_slice(f, "s2", counted, "nodeName: n2, devices: [{name: b}]");
	device_slice(
		f, "s3", counted, "nodeName: n2, sharedCounters: [{name: s, counters: {c: {value: '4'}}}]");
	const struct bt_device_pool *pool = &pools_of(f, n1)->items[0];
	assert_int_equal(pool->slice_n, 1);
	assert_int_equal(pool->other_n, 1);
	assert_int_equal(f->cache->view.devices->slices[pool->others[0]].name, fixture_name(f, "s2"));
}

static void reach_is_decided_by_selectors_and_by_devices(void **state)
{
	struct fixture *f = *state;
	uint32_t n1 = fixture_node(f, "name: n1, labels: {zone: a}", "", "");

	configure(f, true);
	device_slice(f, "s1", POOL("p"),
		"devices: [{name: a}], nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, "
		"operator: In, values: [a]}]}]}");
	device_slice(f, "s2", POOL("q"),
		"perDeviceNodeSelection: true, devices: [{name: a, nodeName: n2}, {name: b, allNodes: "
		"true}]");
	device_slice(f, "s3", POOL("r"), "perDeviceNodeSelection: true, devices: [{name: a, nodeName: n2}]");
	device_slice(f, "s4", POOL("t"), "devices: [{name: a}]");
	assert_int_equal(pools_of(f, n1)->n, 2);
	/* The pools of a changed node are computed again. */
	fixture_node(f, "name: n1, labels: {zone: b}", "", "");
	assert_int_equal(pools_of(f, n1)->n, 1);
	assert_int_equal(pools_of(f, n1)->items[0].pool, fixture_name(f, "q"));
}

/* ---- extended resources ---- */

static const char *class_for(struct fixture *f, const char *resource)
{
	const struct bt_device_class *class_ =
		bt_device_store_resource(f->cache->view.devices, fixture_name(f, resource));

	return class_ ? bt_intern_str(f->cache->dictionary->intern, class_->name).ptr : "";
}

static void of_classes_for_one_resource_the_youngest_serves(void **state)
{
	struct fixture *f = *state;
	uint64_t version = f->cache->view.snapshot->version;

	configure(f, true);
	device_class(f, "b, creationTimestamp: '2026-01-01T00:00:00Z'", "extendedResourceName: e.com/x");
	assert_true(f->cache->view.snapshot->version > version);
	assert_string_equal(class_for(f, "e.com/x"), "b");
	assert_string_equal(class_for(f, "deviceclass.resource.kubernetes.io/b"), "b");
	device_class(f, "a, creationTimestamp: '2025-01-01T00:00:00Z'", "extendedResourceName: e.com/x");
	assert_string_equal(class_for(f, "e.com/x"), "b");
	device_class(f, "c, creationTimestamp: '2027-01-01T00:00:00Z'", "extendedResourceName: e.com/x");
	assert_string_equal(class_for(f, "e.com/x"), "c");
	device_class(f, "a2, creationTimestamp: '2027-01-01T00:00:00Z'", "extendedResourceName: e.com/x");
	assert_string_equal(class_for(f, "e.com/x"), "a2");
	cache_remove(f->cache, BT_KIND_DEVICE_CLASS, bt_str(""), bt_str("a2"));
	assert_string_equal(class_for(f, "e.com/x"), "");
	assert_string_equal(class_for(f, "deviceclass.resource.kubernetes.io/a2"), "");
}

static void without_its_gate_no_class_serves(void **state)
{
	struct fixture *f = *state;

	configure(f, false);
	device_class(f, "b", "extendedResourceName: e.com/x");
	assert_string_equal(class_for(f, "e.com/x"), "");
}

/* ---- selectors ---- */

static enum bt_device_answer evaluate_device(struct fixture *f, const char *expression, bool single)
{
	const struct bt_device_store *store = f->cache->view.devices;
	struct bt_buf why = {0};
	enum bt_device_answer answer = store->calls->match(store->context, fixture_name(f, expression),
		store->slices[0].driver, &store->slices[0].devices[0], single, &why);

	if (answer == BT_DEVICE_FAILED) {
		assert_string_equal(why.ptr, "what is that?");
	}
	bt_buf_fini(&why);
	return answer;
}

static void an_answer_is_kept_until_the_slice_changes(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(evaluate_device(f, "yes", false), BT_DEVICE_YES);
		assert_int_equal(evaluate_device(f, "no", false), BT_DEVICE_NO);
	}
	assert_int_equal(asked_n, 2);
	/* Failures are not cached. */
	assert_int_equal(evaluate_device(f, "?", false), BT_DEVICE_FAILED);
	assert_int_equal(evaluate_device(f, "?", false), BT_DEVICE_FAILED);
	assert_int_equal(asked_n, 4);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	assert_int_equal(evaluate_device(f, "no", false), BT_DEVICE_NO);
	assert_int_equal(asked_n, 5);
}

static void a_device_missing_from_slices_is_evaluated_as_before(void **state)
{
	struct fixture *f = *state;
	struct bt_buf why = {0};

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	const struct bt_device_store *store = f->cache->view.devices;
	const struct bt_device *device = &store->slices[0].devices[0];
	uint32_t driver = store->slices[0].driver, no = fixture_name(f, "no");
	assert_int_equal(store->calls->match(store->context, no, driver, device, false, &why), BT_DEVICE_NO);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: []");
	assert_int_equal(store->calls->match(store->context, no, driver, device, false, &why), BT_DEVICE_NO);
	cache_remove(f->cache, BT_KIND_RESOURCE_SLICE, bt_str(""), bt_str("s1"));
	assert_int_equal(store->calls->match(store->context, no, driver, device, false, &why), BT_DEVICE_NO);
	assert_int_equal(asked_n, 3);
	bt_buf_fini(&why);
}

static void answers_stay_right_however_many_expressions_there_are(void **state)
{
	struct fixture *f = *state;
	char text[16];

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	for (int i = 0; i < 700; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(evaluate_device(f, text, false), BT_DEVICE_YES);
		assert_int_equal(evaluate_device(f, "no", false), BT_DEVICE_NO);
	}
}

static void a_shared_device_can_be_shown_as_a_single_one(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_slice(
		f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a, allowMultipleAllocations: true}]");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(evaluate_device(f, "shared", false), BT_DEVICE_YES);
		assert_int_equal(evaluate_device(f, "shared", true), BT_DEVICE_NO);
	}
}

/* The expression's value for the slice's device; NULL: it fails. */
static const char *derived_of(struct fixture *f, const char *expression, uint32_t device_ix)
{
	const struct bt_device_store *store = f->cache->view.devices;
	const struct bt_attribute *value;
	struct bt_buf why = {0};
	enum bt_device_answer answer = store->calls->derive(store->context, fixture_name(f, expression),
		store->slices[0].driver, &store->slices[0].devices[device_ix], &value, &why);

	bt_buf_fini(&why);
	if (answer != BT_DEVICE_YES) {
		return NULL;
	}
	return bt_intern_str(f->cache->dictionary->intern, (uint32_t)value->items[0]).ptr;
}

static void derived_attributes_are_cached_by_expression_and_device(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: b}]");
	for (int i = 0; i < 3; i++) {
		assert_string_equal(derived_of(f, "yes", 0), "yes of a");
		assert_string_equal(derived_of(f, "yes", 1), "yes of b");
		assert_string_equal(derived_of(f, "no", 0), "no of a");
		assert_int_equal(evaluate_device(f, "no", false), BT_DEVICE_NO);
	}
	assert_int_equal(asked_n, 4);
	assert_null(derived_of(f, "?", 0));
	assert_null(derived_of(f, "?", 0));
	assert_int_equal(asked_n, 6);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: c}]");
	assert_string_equal(derived_of(f, "yes", 0), "yes of c");
}

/* This many are cached; then all are dropped at the start of a cycle, with their texts. */
static void the_cache_of_derived_attributes_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct bt_intern *intern = f->cache->dictionary->intern;
	char text[32];

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	for (int i = 0; i < 65537; i++) {
		snprintf(text, sizeof(text), "%d", i);
		derived_of(f, text, 0);
	}
	assert_string_equal(derived_of(f, "0", 0), "0 of a");
	assert_int_not_equal(bt_intern_find(intern, bt_str("7 of a")), BT_NAME_NONE);
	bt_devices_begin(f->cache->devices, 0, 0, INT64_MAX);
	assert_int_equal(bt_intern_find(intern, bt_str("7 of a")), BT_NAME_NONE);
	assert_string_equal(derived_of(f, "0", 0), "0 of a");
}

/* ---- removal ---- */

#define MANY 600

static bool is_known(struct fixture *f, const char *text)
{
	return bt_intern_find(f->cache->dictionary->intern, bt_str(text)) != BT_NAME_NONE;
}

static void remove_one(struct fixture *f, enum bt_kind kind, const char *name)
{
	struct bt_str space = kind == BT_KIND_RESOURCE_CLAIM ? bt_str("default") : bt_str("");

	assert_int_equal(cache_remove(f->cache, kind, space, bt_str(name)), BT_OK);
}

static void show_slice(struct fixture *f, int i)
{
	char name[32], pool[96], spec[256];

	snprintf(name, sizeof(name), "slice-%d", i);
	snprintf(pool, sizeof(pool), "name: pool-%d, generation: 1, resourceSliceCount: 1", i);
	snprintf(spec, sizeof(spec),
		"nodeName: node-%d, devices: [{name: device-%d, attributes: {model: {string: model-%d}}}]", i,
		i, i);
	device_slice(f, name, pool, spec);
}

static void devices_and_pools_end_with_their_slices(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"slice-7", "pool-7", "node-7", "device-7", "model-7"};
	char name[32];

	configure(f, true);
	for (int i = 0; i < MANY; i++) {
		show_slice(f, i);
		show_slice(f, i); /* unchanged */
		snprintf(name, sizeof(name), "slice-%d", i);
		if (i == 7) {
			assert_true(is_known(f, "device-7"));
			remove_one(f, BT_KIND_RESOURCE_SLICE, name);
			/* A cycle may still refer to it. */
			assert_true(is_known(f, "device-7"));
		} else {
			remove_one(f, BT_KIND_RESOURCE_SLICE, name);
		}
	}
	bt_devices_release_names(f->cache->devices);
	assert_in_range(f->cache->view.devices->use_n, 1, 2);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_false(is_known(f, names[i]));
	}
}

/* The number of known devices. */
static uint32_t known_devices(const struct fixture *f)
{
	const struct bt_device_store *store = f->cache->view.devices;
	uint32_t n = 0;

	for (uint32_t i = 0; i < store->use_n; i++) {
		n += store->uses[i].driver != BT_NAME_NONE;
	}
	return n;
}

static void a_device_is_known_as_long_as_a_claim_or_a_slice_has_it(void **state)
{
	struct fixture *f = *state;

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: own-device}]");
	device_claim(f, "c", "", ALLOCATED("device: own-device"));
	remove_one(f, BT_KIND_RESOURCE_SLICE, "s1");
	bt_devices_release_names(f->cache->devices);
	assert_int_equal(known_devices(f), 1);
	assert_true(f->cache->view.devices->uses[0].allocated);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: own-device}]");
	assert_int_equal(known_devices(f), 1);
	remove_one(f, BT_KIND_RESOURCE_CLAIM, "c");
	bt_devices_release_names(f->cache->devices);
	assert_int_equal(known_devices(f), 1);
	assert_false(f->cache->view.devices->uses[0].allocated);
	remove_one(f, BT_KIND_RESOURCE_SLICE, "s1");
	bt_devices_release_names(f->cache->devices);
	assert_int_equal(known_devices(f), 0);
	assert_false(is_known(f, "own-device"));
}

static void an_allocation_outlives_slices_and_nodes(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(f, CLAIMING);
	struct bt_intern *intern = f->cache->dictionary->intern;

	configure(f, true);
	device_slice(f, "s1", POOL("own-pool"), "nodeName: own-node, devices: [{name: own-device}]");
	device_claim(f, "c", "", "");
	const struct bt_field_requirement field = {bt_intern_find(intern, bt_str("own-node")), true, false};
	const struct bt_node_term term = {.fields = &field, .field_n = 1};
	struct bt_device_result result = result_for(f, "other");
	result.pool = bt_intern_find(intern, bt_str("own-pool"));
	result.device = bt_intern_find(intern, bt_str("own-device"));
	const struct bt_device_choice choice = {ix_of(f, "c"),
		{.results = &result, .result_n = 1, .has_selector = true, .selector = {&term, 1}}, false,
		false};
	bt_devices_assume(f->cache->devices, 7, &choice, 1);
	remove_one(f, BT_KIND_RESOURCE_SLICE, "s1");
	bt_devices_release_names(f->cache->devices);
	assert_true(is_known(f, "own-node") && is_known(f, "own-pool") && is_known(f, "own-device"));
	bt_devices_keep(f->cache->devices, 7, signature, fixture_name(f, "pod"), fixture_name(f, "uid"));
	bt_devices_release_names(f->cache->devices);
	assert_true(is_known(f, "own-node") && is_known(f, "own-pool") && is_known(f, "own-device"));
	/* It is shown unchanged. */
	device_claim(f, "c", "", "");
	bt_devices_release_names(f->cache->devices);
	assert_true(claim_of(f, "c")->allocated);
	assert_true(is_known(f, "own-node") && is_known(f, "own-pool") && is_known(f, "own-device"));
	remove_one(f, BT_KIND_RESOURCE_CLAIM, "c");
	bt_devices_release_names(f->cache->devices);
	assert_false(is_known(f, "own-node") || is_known(f, "own-pool") || is_known(f, "own-device"));
	assert_int_equal(known_devices(f), 0);
}

/* Expressions that match are followed by failing ones with the same names. */
static void expressions_end_with_their_claims_and_answers_stay_right(void **state)
{
	struct fixture *f = *state;
	const struct bt_device_store *store = f->cache->view.devices;
	char spec[256];

	configure(f, true);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}]");
	uint32_t before = bt_intern_count(f->cache->dictionary->intern);
	for (int i = 0; i < 3 * MANY; i++) {
		struct bt_buf why = {0};

		snprintf(spec, sizeof(spec),
			"requests: [{name: r, exactly: {deviceClassName: k, selectors: [{cel: {expression: "
			"'%s%d'}}]}}]",
			i % 2 ? "?" : "", i);
		device_claim(f, "c", spec, "");
		uint32_t expression = claim_of(f, "c")->requests[0].exactly.selectors.expressions[0];
		assert_int_equal(store->calls->match(store->context, expression, store->slices[0].driver,
					 &store->slices[0].devices[0], false, &why),
			i % 2 ? BT_DEVICE_FAILED : BT_DEVICE_YES);
		bt_buf_fini(&why);
		remove_one(f, BT_KIND_RESOURCE_CLAIM, "c");
		bt_devices_release_names(f->cache->devices);
	}
	/* As many as cached results. */
	assert_in_range(bt_intern_count(f->cache->dictionary->intern), before, before + 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(devices_and_pools_end_with_their_slices),
		FIXTURE_TEST(a_device_is_known_as_long_as_a_claim_or_a_slice_has_it),
		FIXTURE_TEST(an_allocation_outlives_slices_and_nodes),
		FIXTURE_TEST(expressions_end_with_their_claims_and_answers_stay_right),
		FIXTURE_TEST(a_device_is_allocated_as_long_as_a_claim_has_it),
		FIXTURE_TEST(admin_access_takes_no_device),
		FIXTURE_TEST(shares_of_a_device_add_up),
		FIXTURE_TEST(without_its_gate_a_share_is_the_whole_device),
		FIXTURE_TEST(a_kept_pod_owns_its_assumed_claims),
		FIXTURE_TEST(a_reverted_assumption_leaves_no_trace),
		FIXTURE_TEST(a_claim_that_goes_while_it_is_pending_leaves_nothing),
		FIXTURE_TEST(a_claim_that_a_pod_names_twice_gives_its_place_back_once),
		FIXTURE_TEST(a_claim_event_older_than_the_allocation_does_not_revert_it),
		FIXTURE_TEST(a_kept_allocation_ends_with_its_pod_once_shown_as_free),
		FIXTURE_TEST(a_claim_shown_allocated_while_pending_is_not_allocated_again),
		FIXTURE_TEST(a_share_that_is_shown_while_it_is_pending_stays_when_the_binder_answers),
		FIXTURE_TEST(a_recreated_claim_starts_over),
		FIXTURE_TEST(a_binders_claim_counts_until_the_watch_shows_as_new_a_version),
		FIXTURE_TEST(a_claim_that_has_changed_since_it_was_written_is_as_it_was_shown),
		FIXTURE_TEST(a_bound_pod_shown_before_the_binders_answer_changes_nothing),
		FIXTURE_TEST(a_claim_of_a_binding_that_failed_stays_allocated_but_is_nobodys),
		FIXTURE_TEST(a_deleted_claims_writes_do_not_affect_a_recreated_one),
		FIXTURE_TEST(the_claim_for_extended_resources_has_the_name_that_it_was_given),
		FIXTURE_TEST(any_number_of_pods_can_reserve_a_claim),
		FIXTURE_TEST(extended_resources_get_a_claim_of_their_own),
		FIXTURE_TEST(slices_of_a_pool_are_live_ones_of_any_generation),
		FIXTURE_TEST(a_pool_needs_all_slices_of_its_newest_generation),
		FIXTURE_TEST(pools_are_ordered_by_driver_and_name_and_those_with_binding_conditions_last),
		FIXTURE_TEST(a_pool_with_equal_names_or_unknown_counters_is_invalid),
		FIXTURE_TEST(devices_out_of_reach_still_take_of_the_counters),
		FIXTURE_TEST(reach_is_decided_by_selectors_and_by_devices),
		FIXTURE_TEST(of_classes_for_one_resource_the_youngest_serves),
		FIXTURE_TEST(without_its_gate_no_class_serves),
		FIXTURE_TEST(an_answer_is_kept_until_the_slice_changes),
		FIXTURE_TEST(a_device_missing_from_slices_is_evaluated_as_before),
		FIXTURE_TEST(answers_stay_right_however_many_expressions_there_are),
		FIXTURE_TEST(a_shared_device_can_be_shown_as_a_single_one),
		FIXTURE_TEST(derived_attributes_are_cached_by_expression_and_device),
		FIXTURE_TEST(the_cache_of_derived_attributes_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
