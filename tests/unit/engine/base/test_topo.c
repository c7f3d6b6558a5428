/* SPDX-License-Identifier: Apache-2.0
 * Topology and placement on simulated machines: two sockets, eight memory nodes, one core, fast and slow
 * cores, CPUs that are not allowed. On the real machine: the process's binding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/base/topo.h"
#include "seed.h"

#define TWO_SOCKETS "pack:2 [numa] core:4 pu:2"

static struct bt_topo *discover(const char *variable, const char *value)
{
	struct bt_topo *topo = NULL;
	struct bt_buf why = {0};

	unsetenv("HWLOC_XMLFILE");
	unsetenv("HWLOC_SYNTHETIC");
	if (variable) {
		setenv(variable, value, 1);
	}
	if (bt_topo_discover(&topo, &why) != BT_OK) {
		fail_msg("%s", why.ptr);
	}
	bt_buf_fini(&why);
	return topo;
}

static struct bt_topo_plan plan_of(const struct bt_topo *topo, struct bt_topo_request request)
{
	struct bt_topo_plan plan;
	struct bt_buf why = {0};

	if (bt_topo_plan(topo, &request, &plan, &why) != BT_OK) {
		fail_msg("%s", why.ptr);
	}
	bt_buf_fini(&why);
	return plan;
}

static uint32_t cpu_of(const struct bt_topo_plan *plan, enum bt_topo_role role, uint32_t ix)
{
	const struct bt_topo_place *place = bt_topo_plan_find(plan, role, ix);

	assert_non_null(place);
	assert_true(place->has_cpu);
	return place->cpu;
}

/* The CPU of worker ix, where worker 0 is the scheduling thread. */
static uint32_t worker_cpu(const struct bt_topo_plan *plan, uint32_t ix)
{
	return cpu_of(plan, ix ? BT_ROLE_WORKER : BT_ROLE_SCHEDULING, ix);
}

static void a_simulated_machine_is_counted(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct bt_topo_machine machine = bt_topo_machine(topo);
	uint32_t n;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);

	(void)state;
	assert_int_equal(machine.cpu_n, 16);
	assert_int_equal(machine.core_n, 8);
	assert_int_equal(machine.numa_n, 2);
	assert_int_equal(machine.package_n, 2);
	assert_int_equal(machine.kind_n, 1);
	assert_int_equal(machine.usable_cpu_n, 16);
	assert_int_equal(machine.usable_core_n, 8);
	assert_true(machine.is_simulated);
	assert_int_equal(n, 16);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(cpus[i].cpu, i);
		assert_int_equal(cpus[i].core_ix, i / 2);
		assert_int_equal(cpus[i].numa_ix, i / 8);
		assert_true(cpus[i].is_usable);
	}
	bt_topo_destroy(topo);
}

static void workers_take_cores_of_one_node_after_the_other(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 6});

	(void)state;
	assert_false(plan.is_inline);
	assert_int_equal(plan.worker_n, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(worker_cpu(&plan, i), 2 * i);
	}
	/* The others take the two remaining cores, then siblings, and never the scheduling thread's core. */
	assert_int_equal(cpu_of(&plan, BT_ROLE_PUBLISHER, 0), 12);
	assert_int_equal(cpu_of(&plan, BT_ROLE_INGESTION, 0), 14);
	assert_int_equal(cpu_of(&plan, BT_ROLE_BINDER, 0), 3);
	for (uint32_t i = 0; i < plan.place_n; i++) {
		assert_false(plan.places[i].is_pinned);
		assert_int_equal(plan.places[i].numa_ix, plan.places[i].cpu / 8);
	}
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void siblings_are_used_only_when_cores_are_used_up(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 10});

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(worker_cpu(&plan, i), 2 * i);
	}
	assert_int_equal(worker_cpu(&plan, 8), 1);
	assert_int_equal(worker_cpu(&plan, 9), 3);
	assert_non_null(strstr(plan.warnings.ptr, "10 workers on 8 cores: SMT siblings share a core"));
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void more_workers_than_cpus_are_not_pinned_and_this_is_reported(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "pack:1 [numa] core:2 pu:1");
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 3});

	(void)state;
	assert_int_equal(worker_cpu(&plan, 0), 0);
	assert_int_equal(worker_cpu(&plan, 1), 1);
	assert_false(bt_topo_plan_find(&plan, BT_ROLE_WORKER, 2)->has_cpu);
	assert_false(bt_topo_plan_find(&plan, BT_ROLE_PUBLISHER, 0)->has_cpu);
	assert_non_null(strstr(plan.warnings.ptr, "3 workers on 2 CPUs"));
	assert_non_null(strstr(plan.warnings.ptr, "no CPU is left"));
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

/* Defaults by number of cores: workers, ingestion, binders. */
static void without_wishes_the_cores_decide(void **state)
{
	static const struct {
		const char *machine;
		uint32_t worker_n, ingestion_n, binder_n;
	} cases[] = {
		{"pack:1 [numa] core:2 pu:1", 1, 1, 1},
		{"pack:1 [numa] core:2 pu:2", 1, 1, 1},
		{"pack:1 [numa] core:4 pu:2", 3, 1, 1},
		{TWO_SOCKETS, 6, 1, 1},
		{"pack:8 [numa] core:8 pu:2", 55, 4, 4},
		{"pack:8 [numa] core:16 pu:2", 64, 4, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_topo *topo = discover("HWLOC_SYNTHETIC", cases[i].machine);
		struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 0});

		assert_false(plan.is_inline);
		assert_int_equal(plan.worker_n, cases[i].worker_n);
		assert_int_equal(plan.ingestion_n, cases[i].ingestion_n);
		assert_int_equal(plan.binder_n, cases[i].binder_n);
		assert_int_equal(plan.place_n, plan.worker_n + plan.ingestion_n + plan.binder_n + 1);
		bt_topo_plan_fini(&plan);
		bt_topo_destroy(topo);
	}
}

static void a_quota_counts_as_that_many_cores(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.quota_n = 1});

	(void)state;
	assert_true(plan.is_inline);
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.quota_n = 4});
	assert_int_equal(plan.worker_n, 3);
	assert_null(strstr(plan.warnings.ptr, "grants"));
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.quota_n = 4, .worker_n = 5});
	assert_int_equal(plan.worker_n, 5);
	assert_non_null(
		strstr(plan.warnings.ptr, "5 workers, but the control group grants 4 CPUs at a time"));
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void on_two_cores_the_second_serves_the_first(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "pack:1 [numa] core:2 pu:1");
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 0});

	(void)state;
	assert_int_equal(worker_cpu(&plan, 0), 0);
	assert_int_equal(cpu_of(&plan, BT_ROLE_PUBLISHER, 0), 1);
	assert_int_equal(cpu_of(&plan, BT_ROLE_INGESTION, 0), 1);
	assert_int_equal(cpu_of(&plan, BT_ROLE_BINDER, 0), 1);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void one_core_or_one_worker_runs_inline(void **state)
{
	static const char *const machines[] = {
		"pack:1 [numa] core:1 pu:1", "pack:1 [numa] core:1 pu:2", TWO_SOCKETS};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct bt_topo *topo = discover("HWLOC_SYNTHETIC", machines[i]);
		struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = i == 2});

		assert_true(plan.is_inline);
		assert_int_equal(plan.worker_n, 1);
		assert_int_equal(plan.place_n, 1);
		assert_int_equal(plan.ingestion_n + plan.binder_n, 0);
		assert_false(plan.places[0].has_cpu);
		bt_topo_plan_fini(&plan);
		bt_topo_destroy(topo);
	}
}

/* Tests of threads need them on any machine: requested threads are started, even on one core. */
static void wishes_are_kept_on_one_core(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "pack:1 [numa] core:1 pu:1");
	struct bt_topo_plan plan =
		plan_of(topo, (struct bt_topo_request){.worker_n = 4, .ingestion_n = 2, .binder_n = 3});

	(void)state;
	assert_false(plan.is_inline);
	assert_int_equal(plan.worker_n, 4);
	assert_int_equal(plan.place_n, 4 + 1 + 2 + 3);
	assert_string_equal(plan.places[9].name, "bind-2");
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.worker_n = 1, .ingestion_n = 1});
	assert_false(plan.is_inline);
	assert_int_equal(plan.worker_n, 1);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void eight_nodes_are_filled_one_by_one(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "numa:8 core:2 pu:2");
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 16});

	(void)state;
	assert_int_equal(bt_topo_machine(topo).numa_n, 8);
	for (uint32_t i = 0; i < 16; i++) {
		const struct bt_topo_place *place =
			bt_topo_plan_find(&plan, i ? BT_ROLE_WORKER : BT_ROLE_SCHEDULING, i);

		assert_int_equal(place->numa_ix, i / 2);
		assert_int_equal(place->core_ix, i);
	}
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

/* Each package has memory, and so has each half of it: two kinds of memory that overlap. */
static void a_cpu_belongs_to_the_narrowest_of_its_nodes(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "pack:2 [numa] group:2 [numa] core:2 pu:1");
	uint32_t n;
	const struct bt_topo_cpu *cpus = bt_topo_cpus(topo, &n);

	(void)state;
	assert_int_equal(n, 8);
	assert_int_equal(bt_topo_machine(topo).numa_n, 6);
	for (uint32_t i = 1; i < n; i++) {
		assert_int_equal(cpus[i].numa_ix == cpus[i - 1].numa_ix, i % 2);
	}
	bt_topo_destroy(topo);
}

/* hybrid.xml: CPUs 0, 2, 4, 6 are slow cores, 8-9 and 10-11 fast ones with two threads each. */
static void fast_cores_come_before_slow_ones_and_these_before_siblings(void **state)
{
	static const uint32_t want[] = {8, 10, 0, 2, 4, 6, 9, 11};
	struct bt_topo *topo =
		discover("HWLOC_XMLFILE", BT_SOURCE_DIR "/tests/unit/engine/base/data/hybrid.xml");
	struct bt_topo_machine machine = bt_topo_machine(topo);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 8});

	(void)state;
	assert_true(machine.is_simulated);
	assert_int_equal(machine.kind_n, 2);
	assert_int_equal(machine.core_n, 6);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(worker_cpu(&plan, i), want[i]);
		assert_int_equal(bt_topo_plan_find(&plan, i ? BT_ROLE_WORKER : BT_ROLE_SCHEDULING, i)->kind,
			want[i] >= 8);
	}
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.worker_n = 0});
	assert_int_equal(plan.worker_n, 5);
	assert_int_equal(cpu_of(&plan, BT_ROLE_PUBLISHER, 0), 6);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

/* restricted.xml: two sockets of four cores with two threads each, of which CPUs 2-3 and 8-11 are allowed. */
static void cpus_that_are_not_allowed_are_left_out(void **state)
{
	struct bt_topo *topo =
		discover("HWLOC_XMLFILE", BT_SOURCE_DIR "/tests/unit/engine/base/data/restricted.xml");
	struct bt_topo_machine machine = bt_topo_machine(topo);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 3});

	(void)state;
	assert_int_equal(machine.cpu_n, 16);
	assert_int_equal(machine.usable_cpu_n, 6);
	assert_int_equal(machine.usable_core_n, 3);
	/* The node with more of them comes first. */
	assert_int_equal(worker_cpu(&plan, 0), 8);
	assert_int_equal(worker_cpu(&plan, 1), 10);
	assert_int_equal(worker_cpu(&plan, 2), 2);
	bt_topo_plan_fini(&plan);
	struct bt_topo_request request = {.cpus = "8-12"};
	struct bt_buf why = {0};
	assert_int_equal(bt_topo_plan(topo, &request, &plan, &why), BT_RANGE);
	assert_string_equal(why.ptr,
		"CPU list \"8-12\": CPU 12 is not allowed to this process (taskset, cpuset of its "
		"control group), which may use 2-3,8-11; leave it out, or give the process that CPU");
	bt_buf_fini(&why);
	bt_topo_destroy(topo);
}

static void a_cpu_list_chooses(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct bt_topo_plan plan =
		plan_of(topo, (struct bt_topo_request){.worker_n = 4, .cpus = "1,3,8-9,10-15"});

	(void)state;
	/* The second node has more of the listed cores; CPU 1 and 3 are the first listed ones of theirs. */
	assert_int_equal(worker_cpu(&plan, 0), 8);
	assert_int_equal(worker_cpu(&plan, 1), 10);
	assert_int_equal(worker_cpu(&plan, 2), 12);
	assert_int_equal(worker_cpu(&plan, 3), 14);
	assert_int_equal(cpu_of(&plan, BT_ROLE_PUBLISHER, 0), 1);
	assert_int_equal(cpu_of(&plan, BT_ROLE_INGESTION, 0), 3);
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.cpus = "5"});
	assert_true(plan.is_inline);
	bt_topo_plan_fini(&plan);
	plan = plan_of(topo, (struct bt_topo_request){.cpus = "4-5,4,5"});
	assert_true(plan.is_inline);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void a_bad_cpu_list_is_rejected_with_the_entry_and_the_reason(void **state)
{
	static const struct {
		const char *list;
		enum bt_status status;
		const char *text;
	} cases[] = {
		{"x", BT_INVALID, "not understood from \"x\" on; write numbers and ranges such as 0-3,8"},
		{"0-3,", BT_INVALID, "not understood from \"\" on"},
		{"0-3;4", BT_INVALID, "not understood from \";4\" on"},
		{"3-1", BT_INVALID, "not understood from \"3-1\" on"},
		{"0-", BT_INVALID, "not understood from \"0-\" on"},
		{"-1", BT_INVALID, "not understood from \"-1\" on"},
		{" 1", BT_INVALID, "not understood from \" 1\" on"},
		{"99999999999999999999", BT_INVALID, "not understood from \"9999"},
		{"0,16", BT_RANGE, "CPU 16 is not on this machine, which has 0-15; leave it out"},
		{"0-65535", BT_RANGE, "CPU 16 is not on this machine"},
	};
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bt_topo_request request = {.cpus = cases[i].list};
		struct bt_topo_plan plan = {0};
		struct bt_buf why = {0};

		assert_int_equal(bt_topo_plan(topo, &request, &plan, &why), cases[i].status);
		if (!strstr(why.ptr, cases[i].text)) {
			fail_msg("\"%s\" should say \"%s\"", why.ptr, cases[i].text);
		}
		assert_null(plan.places);
		bt_buf_fini(&why);
		assert_int_equal(bt_topo_plan(topo, &request, &plan, NULL), cases[i].status);
	}
	bt_topo_destroy(topo);
}

static void too_many_threads_are_refused(void **state)
{
	static const struct {
		struct bt_topo_request request;
		const char *text;
	} cases[] = {
		{{.worker_n = BT_TOPO_WORKERS_MAX + 1}, "65 workers: at most 64; 0 leaves it to the machine"},
		{{.ingestion_n = UINT32_MAX}, "4294967295 ingestion threads: at most 1024"},
		{{.binder_n = BT_TOPO_THREADS_MAX + 1}, "1025 binder threads: at most 1024"},
	};
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bt_topo_plan plan = {0};
		struct bt_buf why = {0};

		assert_int_equal(bt_topo_plan(topo, &cases[i].request, &plan, &why), BT_RANGE);
		assert_non_null(strstr(why.ptr, cases[i].text));
		bt_buf_fini(&why);
		assert_int_equal(bt_topo_plan(topo, &cases[i].request, &plan, NULL), BT_RANGE);
	}
	struct bt_topo_plan most = plan_of(topo, (struct bt_topo_request){.worker_n = BT_TOPO_WORKERS_MAX,
							 .ingestion_n = BT_TOPO_THREADS_MAX,
							 .binder_n = BT_TOPO_THREADS_MAX});
	assert_int_equal(most.place_n, BT_TOPO_WORKERS_MAX + 2 * BT_TOPO_THREADS_MAX + 1);
	bt_topo_plan_fini(&most);
	bt_topo_destroy(topo);
}

static void a_description_of_no_machine_is_refused(void **state)
{
	static const char *const variables[] = {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bt_topo *topo = NULL;
		struct bt_buf why = {0};

		unsetenv("HWLOC_SYNTHETIC");
		unsetenv("HWLOC_XMLFILE");
		setenv(variables[i], "nonsense:x", 1);
		assert_int_equal(bt_topo_discover(&topo, &why), BT_INVALID);
		assert_null(topo);
		assert_non_null(strstr(why.ptr, variables[i]));
		assert_non_null(strstr(why.ptr, "nonsense:x; write"));
		bt_buf_fini(&why);
	}
}

static void this_machine_has_the_cpus_of_this_process(void **state)
{
	struct bt_topo *topo = discover(NULL, NULL);
	struct bt_topo_machine machine = bt_topo_machine(topo);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 2});

	(void)state;
	assert_false(machine.is_simulated);
	assert_int_equal(machine.usable_cpu_n, bt_thread_usable_cpu_n());
	assert_true(machine.cpu_n >= machine.usable_cpu_n);
	assert_true(machine.numa_n >= 1);
	assert_true(plan.places[0].is_pinned);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

/* Makes plans in a thread that is bound to one CPU. */
static void plan_here(void *context)
{
	struct bt_topo *topo = discover(NULL, NULL);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 0});

	assert_int_equal(bt_topo_machine(topo).usable_cpu_n, 1);
	*(bool *)context = plan.is_inline;
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

static void a_process_bound_to_one_cpu_runs_inline(void **state)
{
	struct bt_topo *topo = discover(NULL, NULL);
	struct bt_topo_plan plan = plan_of(topo, (struct bt_topo_request){.worker_n = 1, .ingestion_n = 1});
	struct bt_thread_options options = bt_topo_thread_options(&plan.places[0]);
	struct bt_thread *thread;
	bool is_inline = false;

	(void)state;
	assert_string_equal(options.name, "schedule");
	assert_true(options.pinned);
	assert_int_equal(bt_thread_start(&options, plan_here, &is_inline, &thread, NULL), BT_OK);
	bt_thread_join(&thread);
	assert_true(is_inline);
	bt_topo_plan_fini(&plan);
	bt_topo_destroy(topo);
}

/* Threads with a CPU have it alone while there are enough; siblings are used only after all cores. */
static void check_plan(
	const struct bt_topo *topo, const struct bt_topo_request *request, const struct bt_topo_plan *plan)
{
	struct bt_topo_machine machine = bt_topo_machine(topo);
	uint8_t on_cpu[64] = {0}, on_core[64] = {0};
	uint32_t workers_n = 0, cores_n = 0;

	assert_true(request->worker_n == 0 || plan->worker_n == request->worker_n);
	assert_int_equal(
		plan->place_n, plan->is_inline ? 1 : plan->worker_n + 1 + plan->ingestion_n + plan->binder_n);
	for (uint32_t i = 0; i < plan->place_n; i++) {
		const struct bt_topo_place *place = &plan->places[i];

		assert_ptr_equal(bt_topo_plan_find(plan, place->role, place->ix), place);
		if (!place->has_cpu) {
			continue;
		}
		assert_true(place->cpu < machine.cpu_n && place->core_ix < machine.core_n);
		if (i < plan->worker_n) {
			assert_int_equal(on_cpu[place->cpu]++, 0);
			cores_n += on_core[place->core_ix]++ == 0;
			workers_n++;
		} else {
			assert_int_equal(on_cpu[place->cpu], 0);
		}
	}
	if (!plan->is_inline && !request->cpus) {
		uint32_t seated_n = plan->worker_n < machine.cpu_n ? plan->worker_n : machine.cpu_n;

		assert_int_equal(workers_n, seated_n);
		assert_int_equal(cores_n, seated_n < machine.core_n ? seated_n : machine.core_n);
	}
}

static void plans_of_any_machine_keep_the_rules(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int round = 0; round < 60; round++) {
		char machine[64];
		snprintf(machine, sizeof(machine), "pack:%u [numa] core:%u pu:%u", 1 + bt_rng_below(&rng, 4),
			1 + bt_rng_below(&rng, 4), 1 + bt_rng_below(&rng, 3));
		struct bt_topo *topo = discover("HWLOC_SYNTHETIC", machine);
		for (int wish = 0; wish < 10; wish++) {
			struct bt_topo_request request = {
				.worker_n = bt_rng_below(&rng, 3) ? bt_rng_below(&rng, 40) : 0,
				.ingestion_n = bt_rng_below(&rng, 2) ? bt_rng_below(&rng, 5) : 0,
				.binder_n = bt_rng_below(&rng, 2) ? bt_rng_below(&rng, 5) : 0,
				.quota_n = bt_rng_below(&rng, 4) ? 0 : 1 + bt_rng_below(&rng, 8),
			};
			struct bt_topo_plan plan = plan_of(topo, request);

			check_plan(topo, &request, &plan);
			bt_topo_plan_fini(&plan);
		}
		bt_topo_destroy(topo);
	}
}

/* Lists of random digits, commas and dashes: a plan within the list, or an error. */
static void any_cpu_list_is_read_or_refused(void **state)
{
	static const char alphabet[] = "0123456789--,,, x";
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", "pack:2 [numa] core:4 pu:1");
	uint32_t read_n = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char list[8] = "";
		uint32_t len = 1 + bt_rng_below(&rng, 6);
		struct bt_topo_plan plan;
		struct bt_buf why = {0};

		for (uint32_t i = 0; i < len; i++) {
			list[i] = alphabet[bt_rng_below(&rng, sizeof(alphabet) - 1)];
		}
		struct bt_topo_request request = {.cpus = list, .worker_n = 8};
		enum bt_status status = bt_topo_plan(topo, &request, &plan, &why);
		if (status == BT_OK) {
			check_plan(topo, &request, &plan);
			bt_topo_plan_fini(&plan);
			read_n++;
		} else {
			assert_true((status == BT_INVALID || status == BT_RANGE) && strstr(why.ptr, list));
		}
		bt_buf_fini(&why);
	}
	assert_true(read_n > 100);
	bt_topo_destroy(topo);
}

static void memory_of_a_simulated_machine_is_not_bound(void **state)
{
	struct bt_topo *two = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	size_t bytes = 1 << 20;
	char *memory = bt_mem_column(bytes, 1);

	(void)state;
	assert_int_equal(bt_topo_bind_range(two, memory, bytes, 1), BT_OK);
	assert_int_equal(bt_topo_bind_range(two, memory, bytes, 2), BT_RANGE);
	memory[bytes - 1] = 1;
	bt_mem_free(memory);
	bt_topo_destroy(two);
}

/* The memory node of a page, from the kernel, or an error below 0. */
static int node_of_page(void *page)
{
	int node = -1;

	return syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) == 0 ? node : -1;
}

static void memory_of_this_machine_lies_where_it_is_bound_to(void **state)
{
	struct bt_topo *this = discover(NULL, NULL);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 64 * page;
	char *memory = aligned_alloc(page, bytes);

	(void)state;
	assert_int_equal(bt_topo_bind_range(this, memory, bytes, 100000), BT_RANGE);
	memset(memory, 7, bytes / 2); /* these pages must move, the others are new */
	if (bt_topo_bind_range(this, memory, bytes, 0) == BT_IO) {
		bt_topo_destroy(this);
		free(memory);
		skip(); /* a container that may not bind memory */
	}
	memset(memory + bytes / 2, 7, bytes / 2);
	for (size_t i = 0; i < bytes; i += page) {
		assert_int_equal(node_of_page(memory + i), 0);
		assert_int_equal(memory[i], 7);
	}
	free(memory);
	bt_topo_destroy(this);
}

struct holder {
	const struct bt_topo *topo;
	void *held;
};

static void hold_on_node_1(void *context)
{
	struct holder *holder = context;

	bt_topo_use_memory(holder->topo, 1);
	holder->held = bt_mem_zalloc(1 << 20, 1);
}

static void a_worker_allocates_on_its_node(void **state)
{
	struct bt_topo *topo = discover("HWLOC_SYNTHETIC", TWO_SOCKETS);
	struct holder holder = {.topo = topo};
	struct bt_thread_options options = {.name = "holder"};
	struct bt_thread *thread;
	bt_mem_arena_ix arena = bt_mem_node_arena(1);
	size_t before = bt_mem_arena_in_use_bytes(arena);

	(void)state;
	assert_int_equal(bt_thread_start(&options, hold_on_node_1, &holder, &thread, NULL), BT_OK);
	bt_thread_join(&thread);
	if (arena) {
		assert_true(bt_mem_arena_in_use_bytes(arena) >= before + (1 << 20));
	}
	bt_mem_free(holder.held);
	bt_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_simulated_machine_is_counted),
		cmocka_unit_test(workers_take_cores_of_one_node_after_the_other),
		cmocka_unit_test(siblings_are_used_only_when_cores_are_used_up),
		cmocka_unit_test(more_workers_than_cpus_are_not_pinned_and_this_is_reported),
		cmocka_unit_test(without_wishes_the_cores_decide),
		cmocka_unit_test(a_quota_counts_as_that_many_cores),
		cmocka_unit_test(on_two_cores_the_second_serves_the_first),
		cmocka_unit_test(one_core_or_one_worker_runs_inline),
		cmocka_unit_test(wishes_are_kept_on_one_core),
		cmocka_unit_test(eight_nodes_are_filled_one_by_one),
		cmocka_unit_test(a_cpu_belongs_to_the_narrowest_of_its_nodes),
		cmocka_unit_test(fast_cores_come_before_slow_ones_and_these_before_siblings),
		cmocka_unit_test(cpus_that_are_not_allowed_are_left_out),
		cmocka_unit_test(a_cpu_list_chooses),
		cmocka_unit_test(a_bad_cpu_list_is_rejected_with_the_entry_and_the_reason),
		cmocka_unit_test(too_many_threads_are_refused),
		cmocka_unit_test(a_description_of_no_machine_is_refused),
		cmocka_unit_test(this_machine_has_the_cpus_of_this_process),
		cmocka_unit_test(a_process_bound_to_one_cpu_runs_inline),
		cmocka_unit_test(plans_of_any_machine_keep_the_rules),
		cmocka_unit_test(any_cpu_list_is_read_or_refused),
		cmocka_unit_test(memory_of_a_simulated_machine_is_not_bound),
		cmocka_unit_test(memory_of_this_machine_lies_where_it_is_bound_to),
		cmocka_unit_test(a_worker_allocates_on_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
