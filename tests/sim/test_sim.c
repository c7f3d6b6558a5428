/* SPDX-License-Identifier: Apache-2.0
 * The engine in simulations: thousands of seeds, and every history that once failed. BT_SEED=n plays one
 * seed, BT_SIM_SEEDS=n so many, BT_SIM_HISTORY=file one history, with everything that happens in it.
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rcu.h"
#include "minimize.h"
#include "sim.h"

#define FIRST_SEED    1
#define CHUNK	      512  /* seeds a process */
#define CHUNK_S	      120  /* of processor time, a hundred times what they take */
#define SEEDS_FOR_ALL 2000 /* in which every fault is met */
/* What allocators and the dictionary may keep at hand: some ten bytes for each step of a chunk. */
#define CACHED_BYTES (2u << 20)

/* What a process leaves behind, also when it crashes. */
struct tally {
	uint64_t seed; /* being played */
	uint64_t failed_seed, histories, steps, placed, refused;
	uint64_t faults[SIM_FAULT_N];
	size_t grown_bytes;
	int status;	   /* of a process that did not come to its end */
	char message[256]; /* of the seed that failed */
};

static void play_seed(uint64_t seed, struct tally *tally)
{
	struct sim_history history;

	tally->seed = seed;
	sim_history_of_seed(seed, &history);
	struct sim *sim = sim_play(&history, false);
	tally->histories++;
	tally->steps += history.step_n;
	tally->placed += sim->placed_n;
	tally->refused += sim->refused_n;
	for (int i = 0; i < SIM_FAULT_N; i++) {
		tally->faults[i] += sim->faults[i];
	}
	tally->failed_seed = sim->failed ? seed : 0;
	if (sim->failed) {
		snprintf(tally->message, sizeof(tally->message), "%s", sim->message.ptr);
	}
	sim_end(sim);
	sim_history_fini(&history);
}

/* Plays seeds in a process of its own until one fails. */
static void play_chunk(uint64_t first, uint64_t n, struct tally *tally)
{
	int status = 0;

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		sim_limit_cpu(CHUNK_S);
		play_seed(first, tally);
		bt_rcu_drain();
		size_t before = bt_mem_in_use_bytes();
		for (uint64_t seed = first + 1; seed < first + n && !tally->failed_seed; seed++) {
			play_seed(seed, tally);
		}
		bt_rcu_drain();
		size_t after = bt_mem_in_use_bytes();
		tally->grown_bytes = after > before ? after - before : 0;
		exit(0); /* a leak sanitizer looks now */
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		tally->failed_seed = tally->seed;
		tally->status = status;
	}
}

static void show_failure(struct sim_history *history, const struct tally *tally)
{
	struct bt_buf text = {0}, message = {0};
	struct sim_verdict verdict = sim_try(history, false, NULL);

	if (!verdict.text[0]) {
		fail_msg("BT_SEED=%" PRIu64 " failed, but not alone: status %x, %s", history->seed,
			(unsigned int)tally->status, tally->message);
	}
	sim_minimize(history, verdict);
	sim_try(history, true, &message);
	bt_buf_printf(&text, "# %s\n", verdict.text);
	sim_history_write(history, &text);
	printf("---- what happened ----\n%.*s\n---- history ----\n%.*s---- end ----\n",
		BT_STR_ARG(bt_buf_view(&message)), BT_STR_ARG(bt_buf_view(&text)));
	bt_buf_fini(&text);
	bt_buf_fini(&message);
	fail_msg("BT_SEED=%" PRIu64 ": %s; the minimised history is above", history->seed, verdict.text);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void invariants_hold_under_faults(void **state)
{
	bool one = getenv("BT_SEED") != NULL;
	uint64_t first = number_from("BT_SEED", FIRST_SEED),
		 n = one ? 1 : number_from("BT_SIM_SEEDS", BT_SIM_SEEDS);
	struct tally *tally =
		mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sim_history history;

	(void)state;
	sim_config();
	for (uint64_t done = 0; done < n; done += CHUNK) {
		play_chunk(first + done, n - done < CHUNK ? n - done : CHUNK, tally);
		if (tally->failed_seed) {
			sim_history_of_seed(tally->failed_seed, &history);
			show_failure(&history, tally);
		}
		assert_true(tally->grown_bytes < CACHED_BYTES);
	}
	print_message("BT_SEED=%" PRIu64 "...: %" PRIu64 " histories, %" PRIu64 " steps, %" PRIu64
		      " placed, %" PRIu64 " refused\n",
		first, tally->histories, tally->steps, tally->placed, tally->refused);
	for (int i = 0; i < SIM_FAULT_N; i++) {
		print_message("%10" PRIu64 " %s\n", tally->faults[i], sim_fault_text((enum sim_fault)i));
	}
	for (int i = 0; i < SIM_FAULT_N && n >= SEEDS_FOR_ALL; i++) {
		if (tally->faults[i] == 0) {
			fail_msg("never met: %s", sim_fault_text((enum sim_fault)i));
		}
	}
	munmap(tally, sizeof(*tally));
}

static void read_file(const char *path, struct bt_buf *out)
{
	char part[4096];
	size_t n;
	FILE *file = fopen(path, "r");

	if (!file) {
		fail_msg("cannot read %s", path);
	}
	while ((n = fread(part, 1, sizeof(part), file)) > 0) {
		bt_buf_str(out, (struct bt_str){part, n});
	}
	fclose(file);
}

static void replay(const char *path, bool trace)
{
	struct bt_buf text = {0}, message = {0};
	struct sim_history history;

	read_file(path, &text);
	if (!sim_history_read(bt_buf_view(&text), &history)) {
		fail_msg("%s is no history", path);
	}
	struct sim_verdict verdict = sim_try(&history, trace, &message);
	if (verdict.text[0]) {
		fail_msg("%s: %s: %.*s", path, verdict.text, BT_STR_ARG(bt_buf_view(&message)));
	}
	sim_history_fini(&history);
	bt_buf_fini(&text);
	bt_buf_fini(&message);
}

static void histories_that_failed_hold(void **state)
{
	static const char folder[] = BT_SOURCE_DIR "/tests/sim/histories";
	DIR *dir = opendir(folder);
	char path[1024];

	(void)state;
	if (getenv("BT_SIM_HISTORY")) {
		replay(getenv("BT_SIM_HISTORY"), true);
	}
	for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			replay(path, false);
		}
	}
	if (dir) {
		closedir(dir);
	}
}

static void histories_are_text_and_back(void **state)
{
	struct sim_history history, again;
	struct bt_buf text = {0}, second = {0};

	(void)state;
	sim_history_of_seed(7, &history);
	sim_history_write(&history, &text);
	assert_true(sim_history_read(bt_buf_view(&text), &again));
	sim_history_write(&again, &second);
	assert_true(bt_str_eq(bt_buf_view(&text), bt_buf_view(&second)));
	assert_false(sim_history_read(bt_str("seed 1\nexplode 1 2 3\n"), &(struct sim_history){0}));
	sim_history_fini(&history);
	sim_history_fini(&again);
	bt_buf_fini(&text);
	bt_buf_fini(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories_are_text_and_back),
		cmocka_unit_test(histories_that_failed_hold),
		cmocka_unit_test(invariants_hold_under_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
