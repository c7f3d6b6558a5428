/* SPDX-License-Identifier: Apache-2.0
 * DeviceTaintRules: the devices that they select, and when they change devices' taints.
 */
#include "cache/devices.h"
#include "device_fixture.h"
#include "engine/base/rng.h"
#include "seed.h"

#define RULES  6
#define ROUNDS 3000

/* A rule as plain values: its selector, '*' for any, and its taint's value. */
struct plain_rule {
	bool there, nothing; /* nothing: no selector */
	char driver, pool, device, value;
};

/* Every device of driver d: pool, device. */
static const char devices[][2] = {{'p', 'a'}, {'p', 'b'}, {'q', 'a'}};

static void *judge_create(const struct bt_device_features *features)
{
	(void)features;
	return NULL;
}

static void judge_destroy(void *judge)
{
	assert_null(judge);
}

static enum bt_device_answer judge_evaluate(void *judge, struct bt_intern *intern, uint32_t expression,
	uint32_t driver, const struct bt_device *device, struct bt_buf *out_error)
{
	(void)judge, (void)intern, (void)expression, (void)driver, (void)device, (void)out_error;
	return BT_DEVICE_NO;
}

static void configure(struct fixture *f, bool rules, const char *release)
{
	static const struct bt_device_judge judge = {judge_create, judge_destroy, judge_evaluate, NULL};
	const struct bt_device_features features = {
		.taints = true, .taint_rules = rules, .release = bt_release_find(bt_str(release))};

	bt_devices_configure(f->cache->devices, &features, &judge);
	device_slice(f, "s1", POOL("p"), "nodeName: n1, devices: [{name: a}, {name: b}]");
	device_slice(f, "s2", POOL("q"), "nodeName: n1, devices: [{name: a}]");
}

static bool covers(const struct plain_rule *rule, size_t device)
{
	return rule->there && !rule->nothing && (rule->driver == '*' || rule->driver == 'd') &&
	       (rule->pool == '*' || rule->pool == devices[device][0]) &&
	       (rule->device == '*' || rule->device == devices[device][1]);
}

static const struct bt_object *read_rule(struct fixture *f, size_t number, const struct plain_rule *rule)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{" DEVICE_API "kind: DeviceTaintRule, metadata: {name: rule-%zu}, spec: {taint: {key: t, "
		"value: %c, effect: NoSchedule}",
		number, rule->value);
	if (!rule->nothing) {
		bt_buf_text(&f->text, ", deviceSelector: {");
		if (rule->driver != '*') {
			bt_buf_printf(&f->text, "driver: %c, ", rule->driver);
		}
		if (rule->pool != '*') {
			bt_buf_printf(&f->text, "pool: %c, ", rule->pool);
		}
		if (rule->device != '*') {
			bt_buf_printf(&f->text, "device: %c", rule->device);
		}
		bt_buf_text(&f->text, "}");
	}
	bt_buf_text(&f->text, "}}");
	return fixture_read(f, f->text.ptr);
}

/* The number of rules that taint a device with a value, from the cache. */
static uint32_t tainted(struct fixture *f, size_t device, char value)
{
	const struct bt_device_store *store = f->cache->view.devices;
	const char text[] = {value, 0};
	uint32_t cursor = BT_NO_TAINT_RULE, n = 0;

	for (uint32_t i = 0; i < store->slice_n; i++) {
		for (uint32_t j = 0; j < store->slices[i].device_n; j++) {
			const struct bt_device *at = &store->slices[i].devices[j];
			const char pool[] = {devices[device][0], 0}, name[] = {devices[device][1], 0};
			const struct bt_taint *taint;

			if (store->slices[i].pool != fixture_name(f, pool) ||
				at->name != fixture_name(f, name)) {
				continue;
			}
			while ((taint = store->calls->next_taint(
					store->context, &store->slices[i], at, &cursor))) {
				n += taint->value == fixture_name(f, text);
			}
			return n;
		}
	}
	return n;
}

static void check(struct fixture *f, const struct plain_rule *rules)
{
	for (size_t i = 0; i < COUNT_OF(devices); i++) {
		for (char value = 'v'; value <= 'w'; value++) {
			uint32_t n = 0;

			for (size_t j = 0; j < RULES; j++) {
				n += covers(&rules[j], i) && rules[j].value == value;
			}
			assert_int_equal(tainted(f, i, value), n);
		}
	}
}

static bool differ(const struct plain_rule *old, const struct plain_rule *new)
{
	for (size_t i = 0; i < COUNT_OF(devices); i++) {
		bool was = covers(old, i), is = covers(new, i);

		if (was != is || (was && old->value != new->value)) {
			return true;
		}
	}
	return false;
}

static struct plain_rule any_rule(struct bt_rng *rng)
{
	return (struct plain_rule){.there = true,
		.nothing = bt_rng_below(rng, 8) == 0,
		.driver = "**dx"[bt_rng_below(rng, 4)],
		.pool = "**pqx"[bt_rng_below(rng, 5)],
		.device = "**abx"[bt_rng_below(rng, 5)],
		.value = "vw"[bt_rng_below(rng, 2)]};
}

static void rules_cover_what_their_selectors_name(void **state)
{
	struct fixture *f = *state;
	struct bt_rng rng = {seed_of_test()};
	struct plain_rule rules[RULES] = {0};
	struct bt_cluster_event_object said;
	char name[16];

	configure(f, true, "1.37");
	for (int round = 0; round < ROUNDS; round++) {
		size_t at = bt_rng_below(&rng, RULES);
		struct plain_rule new = bt_rng_below(&rng, 3) ? any_rule(&rng) : (struct plain_rule){0};

		snprintf(name, sizeof(name), "rule-%zu", at);
		if (new.there) {
			const struct bt_object *object = read_rule(f, at, &new);

			assert_int_equal(bt_devices_describe(f->cache->devices, object,
						 &f->cache->dictionary->for_ever, &said),
				rules[at].there);
			bt_ingest_devices(f->cache, object);
		} else {
			assert_int_equal(
				bt_devices_describe_removal(f->cache->devices, BT_KIND_DEVICE_TAINT_RULE,
					BT_NAME_EMPTY, fixture_name(f, name), &said),
				rules[at].there);
			assert_int_equal(
				cache_remove(f->cache, BT_KIND_DEVICE_TAINT_RULE, bt_str(""), bt_str(name)),
				rules[at].there ? BT_OK : BT_NOT_FOUND);
		}
		assert_int_equal(said.changes, differ(&rules[at], &new) ? BT_CHANGED_DEVICE_TAINTS : 0);
		rules[at] = new;
		check(f, rules);
		bt_devices_release_names(f->cache->devices);
	}
}

static void a_rule_without_a_selector_takes_all_devices_up_to_1_36(void **state)
{
	struct fixture *f = *state;
	const struct plain_rule rule = {.nothing = true, .value = 'v'};

	configure(f, true, "1.36");
	bt_ingest_devices(f->cache, read_rule(f, 0, &rule));
	for (size_t i = 0; i < COUNT_OF(devices); i++) {
		assert_int_equal(tainted(f, i, 'v'), 1);
	}
}

static void without_the_gate_no_rule_counts(void **state)
{
	struct fixture *f = *state;
	const struct plain_rule rule = {.driver = '*', .pool = '*', .device = '*', .value = 'v'};
	struct bt_cluster_event_object said;

	configure(f, false, "1.37");
	const struct bt_object *object = read_rule(f, 0, &rule);
	bt_devices_describe(f->cache->devices, object, &f->cache->dictionary->for_ever, &said);
	assert_int_equal(said.changes, 0);
	bt_ingest_devices(f->cache, object);
	assert_int_equal(tainted(f, 0, 'v'), 0);
}

static void a_later_moment_is_another_taint(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_event_object said;
	static const char rule[] = "{" DEVICE_API "kind: DeviceTaintRule, metadata: {name: r}, spec: "
				   "{deviceSelector: {}, taint: {key: t, effect: None, timeAdded: "
				   "'2026-01-01T00:00:0%dZ'}}}";
	char text[sizeof(rule)];

	configure(f, true, "1.37");
	for (int second = 1; second <= 2; second++) {
		snprintf(text, sizeof(text), rule, second);
		bt_ingest_devices(f->cache, fixture_read(f, text));
		bt_devices_describe(
			f->cache->devices, fixture_read(f, text), &f->cache->dictionary->for_ever, &said);
		assert_int_equal(said.changes, 0);
	}
	snprintf(text, sizeof(text), rule, 3);
	bt_devices_describe(f->cache->devices, fixture_read(f, text), &f->cache->dictionary->for_ever, &said);
	assert_int_equal(said.changes, BT_CHANGED_DEVICE_TAINTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(rules_cover_what_their_selectors_name),
		FIXTURE_TEST(a_rule_without_a_selector_takes_all_devices_up_to_1_36),
		FIXTURE_TEST(without_the_gate_no_rule_counts),
		FIXTURE_TEST(a_later_moment_is_another_taint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
