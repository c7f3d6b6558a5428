/* SPDX-License-Identifier: Apache-2.0
 * Default spread selectors: of the Services that select a pod, and of its controller.
 */
#include "object_fixture.h"

#include "cache/default_spread_selectors.h"

static struct bt_intern *intern_of(struct fixture *f)
{
	return f->cache->dictionary->intern;
}

static const struct bt_object *read_named(
	struct fixture *f, const char *kind, const char *name, const char *selector)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: %s, kind: %s, metadata: {namespace: default, name: %s}, spec: {%s}}",
		strcmp(kind, "ReplicaSet") == 0 || strcmp(kind, "StatefulSet") == 0 ? "apps/v1" : "v1", kind,
		name, selector);
	return fixture_read(f, f->text.ptr);
}

static void service(
	struct fixture *f, struct bt_default_spread_selectors *w, const char *name, const char *selector)
{
	bt_default_spread_selectors_apply_service(
		w, intern_of(f), &read_named(f, "Service", name, selector)->service);
}

static void replica_set(
	struct fixture *f, struct bt_default_spread_selectors *w, const char *name, const char *selector)
{
	bt_default_spread_selectors_apply_controller(w, intern_of(f), BT_OWNER_REPLICA_SET,
		&read_named(f, "ReplicaSet", name, selector)->workload);
}

/* The keys of the pod's selector, each with its values; metadata: the pod's. */
static void assert_keys(
	struct fixture *f, struct bt_default_spread_selectors *w, const char *metadata, const char *wanted)
{
	struct bt_buf keys = {0};

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{apiVersion: v1, kind: Pod, metadata: {name: p, %s}}", metadata);
	const struct bt_signature *signature =
		bt_signatures_intern(f->cache->signatures, &fixture_read(f, f->text.ptr)->pod);
	struct bt_selector selector = bt_default_spread_selectors_selector(w, signature);
	bt_buf_text(&keys, "");
	for (uint32_t i = 0; i < selector.n; i++) {
		bt_buf_str(&keys, bt_intern_str(intern_of(f), selector.items[i].key));
		for (uint32_t j = 0; j < selector.items[i].value_n; j++) {
			bt_buf_char(&keys, j ? ',' : '=');
			bt_buf_str(&keys, bt_intern_str(intern_of(f), selector.items[i].values[j]));
		}
		bt_buf_char(&keys, ' ');
	}
	assert_string_equal(keys.ptr ? keys.ptr : "", wanted);
	bt_buf_fini(&keys);
}

#define POD "namespace: default, labels: {app: web, tier: front}"
#define OWNED(version, kind)                                                                                 \
	POD ", ownerReferences: [{apiVersion: " version ", kind: " kind                                      \
	    ", name: web, uid: u, controller: true}]"

static void services_that_select_the_pod_count_each_key_once(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};

	assert_keys(f, &w, POD, "");
	service(f, &w, "one", "selector: {app: web}");
	assert_keys(f, &w, POD, "app=web ");
	service(f, &w, "two", "selector: {app: web, tier: front}");
	service(f, &w, "other", "selector: {app: db}");
	service(f, &w, "headless", "");
	assert_keys(f, &w, "namespace: default, labels: {app: web}", "app=web ");
	assert_keys(f, &w, "namespace: elsewhere, labels: {app: web}", "");
	assert_keys(f, &w, POD, "app=web tier=front ");
	bt_default_spread_selectors_fini(&w);
}

static void a_service_is_replaced_and_removed(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};
	uint32_t namespace_ = fixture_name(f, "default");

	service(f, &w, "one", "selector: {app: db}");
	service(f, &w, "one", "selector: {app: web}");
	assert_keys(f, &w, POD, "app=web ");
	service(f, &w, "two", "selector: {tier: front}");
	service(f, &w, "three", "selector: {tier: front}");
	/* The first, the last and a middle one of the namespace's list. */
	assert_int_equal(
		bt_default_spread_selectors_remove_service(&w, namespace_, fixture_name(f, "two")), BT_OK);
	assert_keys(f, &w, POD, "tier=front app=web ");
	assert_int_equal(
		bt_default_spread_selectors_remove_service(&w, namespace_, fixture_name(f, "three")), BT_OK);
	assert_keys(f, &w, POD, "app=web ");
	assert_int_equal(
		bt_default_spread_selectors_remove_service(&w, namespace_, fixture_name(f, "one")), BT_OK);
	assert_keys(f, &w, POD, "");
	assert_int_equal(bt_default_spread_selectors_remove_service(&w, namespace_, fixture_name(f, "one")),
		BT_NOT_FOUND);
	service(f, &w, "four", "selector: {app: web}"); /* takes a vacant index */
	assert_int_equal(w.service_n, 3);
	assert_keys(f, &w, POD, "app=web ");
	bt_default_spread_selectors_fini(&w);
}

static void a_controller_adds_its_selector_to_its_own_pods(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};

	replica_set(f, &w, "web",
		"selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: "
		"[front, "
		"back]}]}");
	assert_keys(f, &w, POD, "");
	assert_keys(f, &w, OWNED("apps/v1", "StatefulSet"), "");
	assert_keys(f, &w, OWNED("example.com/v1", "ReplicaSet"), "");
	assert_keys(f, &w, OWNED("apps/v1", "ReplicaSet"), "app=web tier=front,back ");
	replica_set(f, &w, "web", "selector: {matchExpressions: [{key: app, operator: Near}]}");
	assert_keys(f, &w, OWNED("apps/v1", "ReplicaSet"), "");
	replica_set(f, &w, "web", "selector: {matchLabels: {tier: front}}");
	assert_keys(f, &w, OWNED("apps/v1", "ReplicaSet"), "tier=front ");
	assert_int_equal(bt_default_spread_selectors_remove_controller(&w, BT_OWNER_STATEFUL_SET,
				 fixture_name(f, "default"), fixture_name(f, "web")),
		BT_NOT_FOUND);
	assert_int_equal(bt_default_spread_selectors_remove_controller(&w, BT_OWNER_REPLICA_SET,
				 fixture_name(f, "default"), fixture_name(f, "web")),
		BT_OK);
	assert_keys(f, &w, OWNED("apps/v1", "ReplicaSet"), "");
	replica_set(f, &w, "another", "selector: {matchLabels: {app: web}}");
	assert_int_equal(w.controller_n, 1);
	bt_default_spread_selectors_fini(&w);
}

static void a_replica_sets_keys_stand_beside_those_of_services(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};

	service(f, &w, "one", "selector: {app: web}");
	replica_set(f, &w, "web", "selector: {matchLabels: {app: web}}");
	assert_keys(f, &w, OWNED("apps/v1", "ReplicaSet"), "app=web app=web ");
	bt_default_spread_selectors_fini(&w);
}

static void a_replication_controllers_keys_replace_those_of_services(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};

	service(f, &w, "one", "selector: {app: web, tier: front}");
	bt_default_spread_selectors_apply_controller(&w, intern_of(f), BT_OWNER_REPLICATION_CONTROLLER,
		&read_named(f, "ReplicationController", "web", "selector: {app: web}")->workload);
	assert_keys(f, &w, OWNED("v1", "ReplicationController"), "tier=front app=web ");
	bt_default_spread_selectors_fini(&w);
}

static void names_go_with_what_has_them(void **state)
{
	struct fixture *f = *state;
	struct bt_default_spread_selectors w = {0};

	service(f, &w, "one", "selector: {service-key: x}");
	service(f, &w, "one", "selector: {app: x}");
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("service-key")), BT_NAME_NONE);
	replica_set(f, &w, "web", "selector: {matchLabels: {controller-key: x}}");
	assert_int_not_equal(bt_intern_find(intern_of(f), bt_str("controller-key")), BT_NAME_NONE);
	bt_default_spread_selectors_fini(&w);
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("controller-key")), BT_NAME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(services_that_select_the_pod_count_each_key_once),
		FIXTURE_TEST(a_service_is_replaced_and_removed),
		FIXTURE_TEST(a_controller_adds_its_selector_to_its_own_pods),
		FIXTURE_TEST(a_replica_sets_keys_stand_beside_those_of_services),
		FIXTURE_TEST(a_replication_controllers_keys_replace_those_of_services),
		FIXTURE_TEST(names_go_with_what_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
