/* SPDX-License-Identifier: Apache-2.0
 * From queue to assume there is no allocation, no lock, no log call and no system call: after plans and
 * columns exist, cycles run with all of these counted. The linker's --wrap counts calls of the C library, the
 * kernel's user dispatch counts system calls (Linux 5.11, x86-64; skipped elsewhere).
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "calls.h"
#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "engine/flow/cycle/source.h"
#include "tools/offline/generate/generate.h"

#define NODE_N	    500
#define POD_N	    6000
#define SIGNATURE_N 40
#define WARM_UP_N   3000 /* cycles until plans, columns and lists have reached their sizes */
#define MEASURED_N  2000

/* ---- system calls ---- */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define DISPATCH_ON  1
#define DISPATCH_OFF 0

static _Atomic unsigned char selector; /* the kernel reads it at each system call; 1: raise SIGSYS */
static volatile sig_atomic_t system_call_n, last_system_call;

static void count_system_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	bt_store_relaxed(&selector, 0); /* returning from the handler is a system call, too */
	system_call_n++;
	last_system_call = info->si_syscall;
}

static bool dispatch_begin(void)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct sigaction action = {.sa_sigaction = count_system_call, .sa_flags = SA_SIGINFO};

	sigaction(SIGSYS, &action, NULL);
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_ON, 0UL, 0UL, &selector) == 0;
#else
	(void)count_system_call;
	return false;
#endif
}

/* ---- the engine ---- */

struct scene {
	struct bt_config config;
	struct bt_engine *engine;
};

static void ignore(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)node_ix;
}

static bool take(void *context, const struct bt_object *object)
{
	struct scene *scene = context;
	enum bt_entry entry;
	uint32_t ix;

	bt_engine_apply(scene->engine, object, &entry, &ix);
	return true;
}

static void begin(struct scene *scene, uint32_t profiles)
{
	struct bt_generate_options options = bt_generate_defaults();
	const struct bt_engine_options engine_options = {.binder.bind = ignore, .no_backoff = true};
	struct bt_config_errors errors = {0};

	memset(scene, 0, sizeof(*scene));
	bt_config_init_default(&scene->config, NULL);
	scene->engine = bt_engine_create(&scene->config, &engine_options, &errors);
	options.node_n = NODE_N;
	options.pod_n = POD_N;
	options.signature_n = SIGNATURE_N;
	options.profiles = profiles;
	bt_generate(&options, take, scene);
	bt_config_errors_fini(&errors);
}

static void end(struct scene *scene)
{
	bt_engine_destroy(scene->engine);
	bt_config_fini(&scene->config);
}

static uint32_t place(struct scene *scene, uint32_t cycle_n)
{
	struct bt_decision decision;
	uint32_t placed_n = 0;

	for (uint32_t i = 0; i < cycle_n; i++) {
		uint32_t pod_ix = bt_engine_pop(scene->engine);

		if (pod_ix == BT_NO_POD) {
			break;
		}
		bt_engine_decide(scene->engine, pod_ix, &decision);
		placed_n += decision.outcome == BT_PLACED;
	}
	return placed_n;
}

/* Places all pods once and forgets them, so that each list has had its maximum length. */
static void warm_up(struct scene *scene)
{
	const struct bt_ledger *ledger = bt_engine_cache(scene->engine)->ledger;

	assert_true(place(scene, POD_N) > POD_N / 2);
	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		if (bt_ledger_pod(ledger, i)->state == BT_POD_ASSUMED) {
			bt_engine_bind_failed(scene->engine, i);
		}
	}
	assert_int_equal(place(scene, WARM_UP_N), WARM_UP_N);
}

static void measure(struct scene *scene)
{
	bool dispatched = dispatch_begin();

	warm_up(scene);
	system_call_n = 0;
	calls_begin();
	bt_store_relaxed(&selector, dispatched);
	uint32_t placed_n = place(scene, MEASURED_N);
	bt_store_relaxed(&selector, 0);
	struct calls calls = calls_end();
	if (dispatched) {
		prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_OFF, 0UL, 0UL, 0UL);
	} else {
		print_message("system calls are not counted here\n");
	}
	assert_true(placed_n > MEASURED_N * 9 / 10);
	print_message(
		"%u cycles: %u allocations, %u locks, %u log calls, %d system calls (the last one %d)\n",
		MEASURED_N, calls.allocation_n, calls.lock_n, calls.log_n, (int)system_call_n,
		(int)last_system_call);
	assert_int_equal(calls.allocation_n, 0);
	assert_int_equal(calls.lock_n, 0);
	assert_int_equal(calls.log_n, 0);
	assert_int_equal(system_call_n, 0);
}

static void no_allocation_lock_log_or_system_call_happens(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, BT_PROFILE_EVERYDAY);
	measure(&scene);
	end(&scene);
}

static void spread_and_affinity_neither(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, BT_PROFILE_EVERYDAY | BT_PROFILE_SPREAD | BT_PROFILE_INTERPOD);
	measure(&scene);
	end(&scene);
}

/* The counters work: without that this test proves nothing. */
static void calls_are_counted(void **state)
{
	bool dispatched = dispatch_begin();

	(void)state;
	system_call_n = 0;
	calls_begin();
	void *memory = bt_mem_zalloc(3, 5);
	bt_mem_free(memory);
	struct bt_lock lock;
	bt_lock_init(&lock);
	bt_lock_acquire(&lock);
	bt_lock_release(&lock);
	bt_store_relaxed(&selector, dispatched);
	(void)getppid();
	bt_store_relaxed(&selector, 0);
	struct calls calls = calls_end();
	bt_lock_fini(&lock);
	if (dispatched) {
		prctl(PR_SET_SYSCALL_USER_DISPATCH, DISPATCH_OFF, 0UL, 0UL, 0UL);
		assert_int_equal(system_call_n, 1);
	}
	assert_int_equal(calls.allocation_n, 2);
	assert_int_equal(calls.lock_n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(no_allocation_lock_log_or_system_call_happens),
		cmocka_unit_test(spread_and_affinity_neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
