/* SPDX-License-Identifier: Apache-2.0
 * Objects of stored events live as long as the queue stores events, and no longer.
 */
#include "object_fixture.h"

#include "engine/flow/cycle/kept_events.h"

struct trial {
	struct fixture *f;
	struct bt_queue *queue;
	struct bt_kept_events kept;
};

static void begin(struct trial *t, void **state)
{
	const struct bt_queue_options options = {.max_backoff_ns = BT_QUEUE_SECOND};

	t->f = *state;
	t->queue = bt_queue_create(&options);
	bt_kept_events_init(&t->kept, t->queue, t->f->cache->dictionary->intern);
}

static void end(struct trial *t)
{
	bt_kept_events_fini(&t->kept);
	bt_queue_destroy(t->queue);
}

/* Pops a pod, so that an event is stored for it. */
static void keep_an_event(struct trial *t)
{
	const struct bt_cluster_event event = {.resource = BT_CLUSTER_EVENT_NODE, .action = BT_ADD};

	bt_queue_add(t->queue, 0, (struct bt_queue_kind){.signature_ix = 1}, 0);
	assert_int_equal(bt_queue_pop(t->queue), 0);
	bt_queue_move(t->queue, &event, INT32_MAX, BT_QUEUE_EMPTY, 0);
	assert_true(bt_queue_keeps_events(t->queue));
}

static const struct bt_node_desc *describe(struct trial *t)
{
	struct bt_delta delta;

	bt_ingest_describe_node(t->f->cache->worker,
		&fixture_read(t->f, "{apiVersion: v1, kind: Node, metadata: {name: n1}}")->node, &delta);
	const struct bt_node_desc *desc = delta.node.desc;
	delta.node.desc = NULL;
	bt_delta_drop(&delta);
	return desc;
}

/* Only an event's object holds the name: its first holder has released it. */
static uint32_t hold_name(struct trial *t, const char *text)
{
	struct bt_name_refs first = {.intern = t->f->cache->dictionary->intern};
	const struct bt_cluster_event_object object = {.name = bt_name_refs_add(&first, bt_str(text))};

	bt_kept_events_hold(&t->kept, &object);
	bt_name_refs_release(&first);
	return object.name;
}

static void names_are_held_while_events_are_kept(void **state)
{
	struct trial t;

	begin(&t, state);
	keep_an_event(&t);
	uint32_t name = hold_name(&t, "held");
	bt_kept_events_arena(&t.kept);
	assert_int_equal(bt_intern_find(t.f->cache->dictionary->intern, bt_str("held")), name);
	bt_queue_remove(t.queue, 0);
	bt_kept_events_arena(&t.kept);
	assert_int_equal(bt_intern_find(t.f->cache->dictionary->intern, bt_str("held")), BT_NAME_NONE);
	end(&t);
}

static void facts_stay_where_they_are_while_events_are_kept(void **state)
{
	struct trial t;

	begin(&t, state);
	keep_an_event(&t);
	char *fact = bt_arena_alloc(bt_kept_events_arena(&t.kept), 1, 1);
	*fact = 'a';
	*(char *)bt_arena_alloc(bt_kept_events_arena(&t.kept), 1, 1) = 'b';
	assert_int_equal(*fact, 'a');
	bt_queue_remove(t.queue, 0);
	assert_ptr_equal(bt_arena_alloc(bt_kept_events_arena(&t.kept), 1, 1), fact);
	end(&t);
}

static void a_replaced_description_is_kept_with_events_alone(void **state)
{
	struct trial t;

	begin(&t, state);
	bt_kept_events_release(&t.kept, NULL);
	bt_kept_events_release(&t.kept, describe(&t));
	assert_int_equal(t.kept.replaced_n, 0);
	keep_an_event(&t);
	bt_kept_events_release(&t.kept, describe(&t));
	bt_kept_events_release(&t.kept, NULL);
	assert_int_equal(t.kept.replaced_n, 1);
	bt_kept_events_end(&t.kept);
	assert_int_equal(t.kept.replaced_n, 0);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(names_are_held_while_events_are_kept),
		FIXTURE_TEST(facts_stay_where_they_are_while_events_are_kept),
		FIXTURE_TEST(a_replaced_description_is_kept_with_events_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
