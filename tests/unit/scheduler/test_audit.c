/* SPDX-License-Identifier: Apache-2.0
 * The ledger compared with what the API has, and mended.
 */
#include "lab.h"

#include "tools/scheduler/audit.h"

#define SECOND	INT64_C(1000000000)
#define POD_MAX 8

/* What the reader and the server have of pods. */
struct server {
	struct {
		const char *name, *uid, *node;
	} pods[POD_MAX];
	int pod_n;
	bool late;	 /* the reader has heard of no pod yet */
	uint32_t status; /* of every answer; 0: what is true */
	int fetch_n;
};

struct bench {
	struct lab lab;
	struct server server;
	struct bt_audit *audit;
};

static struct bench *bench;

static void each_pod(
	struct bt_watch *watch, void (*call)(void *context, const struct bt_watch_pod *pod), void *context)
{
	const struct server *server = (const struct server *)watch;

	for (int i = 0; i < server->pod_n; i++) {
		const struct bt_watch_pod pod = {
			.namespace_ = BT_STR("default"),
			.name = bt_str(server->pods[i].name),
			.uid = bt_str(server->pods[i].uid),
			.node = bt_str(server->pods[i].node),
		};

		if (pod.node.len && !server->late) {
			call(context, &pod);
		}
	}
}

static uint32_t fetch(void *context, struct bt_str namespace_, struct bt_str name, struct bt_buf *out_text)
{
	struct server *server = context;

	assert_true(bt_str_is(namespace_, "default"));
	server->fetch_n++;
	if (server->status) {
		return server->status;
	}
	for (int i = 0; i < server->pod_n; i++) {
		if (bt_str_is(name, server->pods[i].name)) {
			bt_buf_printf(out_text,
				"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"namespace\": "
				"\"default\", \"name\": \"%s\", \"uid\": \"%s\"}, \"spec\": {\"nodeName\": "
				"\"%s\", \"schedulerName\": \"default-scheduler\", \"containers\": "
				"[{\"name\": \"c\"}]}}",
				server->pods[i].name, server->pods[i].uid, server->pods[i].node);
			return 200;
		}
	}
	return 404;
}

static void on_server(const char *name, const char *uid, const char *node)
{
	struct server *server = &bench->server;

	assert_true(server->pod_n < POD_MAX);
	server->pods[server->pod_n].name = name;
	server->pods[server->pod_n].uid = uid;
	server->pods[server->pod_n++].node = node;
}

/* A pod that the source has shown on a node. */
static void shown(const char *name, const char *uid, const char *node)
{
	char meta[64], spec[64];

	snprintf(meta, sizeof(meta), ", 'uid': '%s'", uid);
	snprintf(spec, sizeof(spec), ", 'nodeName': '%s'", node);
	lab_pod_event(&bench->lab, BT_PARCEL_APPLY, name, meta, spec);
	lab_settle(&bench->lab);
}

static int setup(void **state)
{
	bench = calloc(1, sizeof(*bench));
	const struct bt_pipeline_options options = lab_options(&bench->lab);

	lab_begin(&bench->lab, &options);
	lab_node(&bench->lab, "n1");
	lab_node(&bench->lab, "n2");
	lab_settle(&bench->lab);
	bench->audit = bt_audit_create(&(struct bt_audit_options){
		.pipeline = bench->lab.pipeline,
		.watch = (struct bt_watch *)&bench->server,
		.each_pod = each_pod,
		.fetch = fetch,
		.context = &bench->server,
		.interval_ns = 30 * SECOND,
	});
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_audit_destroy(bench->audit);
	lab_end(&bench->lab);
	free(bench);
	return 0;
}

static void expect(uint64_t round_n, uint64_t differ_n, uint64_t repaired_n, uint64_t failed_n)
{
	const struct bt_audit_counts counts = bt_audit_counts(bench->audit);

	assert_int_equal(counts.round_n, round_n);
	assert_int_equal(counts.differ_n, differ_n);
	assert_int_equal(counts.repaired_n, repaired_n);
	assert_int_equal(counts.failed_n, failed_n);
}

static void nothing_happens_when_both_agree(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	on_server("waits", "u2", "");
	shown("p", "u1", "n1");
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 29 * SECOND); /* not yet */
	bt_audit_look(bench->audit, 30 * SECOND);
	expect(2, 0, 0, 0);
	assert_int_equal(bench->server.fetch_n, 0);
}

static void an_event_on_its_way_is_no_mistake(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	bt_audit_look(bench->audit, 0);
	shown("p", "u1", "n1"); /* and then it has come */
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 0, 0, 0);
}

static void what_differs_in_another_way_each_time_is_no_mistake(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	bt_audit_look(bench->audit, 0);
	on_server("q", "u2", "n1");
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 0, 0, 0);
}

static void a_pod_that_the_ledger_has_missed_is_told_to_the_engine(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	on_server("q", "u2", "n2");
	shown("q", "u2", "n2");
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 1, 1, 0);
	assert_non_null(lab_find(&bench->lab, "p"));
	lab_assert_sets(&bench->lab, 0, 0, 2);
	bt_audit_look(bench->audit, 4 * SECOND);
	expect(3, 1, 1, 0);
}

static void a_ledger_that_knows_more_than_a_late_reader_is_right(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	bench->server.late = true;
	shown("p", "u1", "n1");
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 0, 0, 0);
	assert_int_equal(bench->server.fetch_n, 1);
	assert_non_null(lab_find(&bench->lab, "p"));
}

static void a_pod_that_only_the_ledger_has_goes(void **state)
{
	(void)state;
	shown("ghost", "u1", "n1");
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 1, 1, 0);
	assert_null(lab_find(&bench->lab, "ghost"));
	lab_assert_sets(&bench->lab, 0, 0, 0);
}

static void a_pod_of_another_uid_takes_the_place_of_one_that_has_gone(void **state)
{
	(void)state;
	on_server("p", "new", "n2");
	shown("p", "old", "n1");
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 2 * SECOND);
	bt_audit_look(bench->audit, 4 * SECOND);
	bt_audit_look(bench->audit, 6 * SECOND);
	const struct bt_pod *pod = lab_find(&bench->lab, "p");
	assert_non_null(pod);
	lab_assert_sets(&bench->lab, 0, 0, 1);
	bt_audit_look(bench->audit, 36 * SECOND);
	const struct bt_audit_counts counts = bt_audit_counts(bench->audit);
	assert_int_equal(counts.round_n, 4); /* all agree since the third one */
}

static void when_the_server_does_not_tell_nothing_is_changed_and_it_is_asked_again(void **state)
{
	(void)state;
	shown("p", "u1", "n1");
	bench->server.status = 500;
	bt_audit_look(bench->audit, 0);
	bt_audit_look(bench->audit, 2 * SECOND);
	expect(2, 1, 0, 1);
	assert_non_null(lab_find(&bench->lab, "p"));
	bench->server.status = 0;
	bt_audit_look(bench->audit, 4 * SECOND);
	expect(3, 2, 1, 1);
	assert_null(lab_find(&bench->lab, "p"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_happens_when_both_agree),
		TEST(an_event_on_its_way_is_no_mistake),
		TEST(what_differs_in_another_way_each_time_is_no_mistake),
		TEST(a_pod_that_the_ledger_has_missed_is_told_to_the_engine),
		TEST(a_ledger_that_knows_more_than_a_late_reader_is_right),
		TEST(a_pod_that_only_the_ledger_has_goes),
		TEST(a_pod_of_another_uid_takes_the_place_of_one_that_has_gone),
		TEST(when_the_server_does_not_tell_nothing_is_changed_and_it_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
