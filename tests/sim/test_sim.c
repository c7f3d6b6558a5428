/* SPDX-License-Identifier: Apache-2.0
 * Simulations of the engine: thousands of seeds, and every history that once failed. BT_SEED=n plays one
 * seed, BT_SIM_SEEDS=n this number of seeds (from BT_SEED on), BT_SIM_JOBS=n in n parallel processes,
 * BT_SIM_HISTORY=file one history, with a log of its steps.
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
#define CHUNK	      512  /* seeds per process */
#define CHUNK_S	      120  /* limit of processor time, a hundred times the usual */
#define SEEDS_FOR_ALL 4000 /* enough to meet every fault */
/* Memory that allocators and the dictionary may keep: some ten bytes for each step of a chunk. */
#define CACHED_BYTES (2u << 20)

/* Result of a process, also after a crash. */
struct tally {
	pid_t process; /* 0: none */
	uint64_t seed; /* being played, or the one that failed */
	bool failed;
	uint64_t histories, steps, placed, refused;
	uint64_t faults[SIM_FAULT_N];
	size_t grown_bytes;
	int status;	   /* of the process */
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
	tally->failed = sim->failed;
	if (sim->failed) {
		snprintf(tally->message, sizeof(tally->message), "%s", sim->message.ptr);
	}
	sim_end(sim);
	sim_history_fini(&history);
}

/* In a child process: plays seeds until one fails. */
BT_NORETURN static void play_chunk(uint64_t first, uint64_t n, struct tally *tally)
{
	sim_limit_cpu(CHUNK_S);
	play_seed(first, tally);
	bt_rcu_drain();
	size_t before = bt_mem_in_use_bytes();
	for (uint64_t seed = first + 1; seed < first + n && !tally->failed; seed++) {
		play_seed(seed, tally);
	}
	sim_team_end();
	bt_rcu_drain();
	size_t after = bt_mem_in_use_bytes();
	tally->grown_bytes = after > before ? after - before : 0;
	exit(0); /* runs the leak sanitizer */
}

static void begin_chunk(uint64_t first, uint64_t n, struct tally *tally)
{
	*tally = (struct tally){.seed = first};
	fflush(stdout);
	pid_t process = fork();
	if (process == 0) {
		play_chunk(first, n, tally);
	}
	tally->process = process; /* shared with the child */
}

static void end_chunk(struct tally *tally, struct tally *sum)
{
	waitpid(tally->process, &tally->status, 0);
	if (!WIFEXITED(tally->status) || WEXITSTATUS(tally->status) != 0) {
		tally->failed = true;
	}
	sum->histories += tally->histories;
	sum->steps += tally->steps;
	sum->placed += tally->placed;
	sum->refused += tally->refused;
	for (int i = 0; i < SIM_FAULT_N; i++) {
		sum->faults[i] += tally->faults[i];
	}
	sum->grown_bytes = tally->grown_bytes > sum->grown_bytes ? tally->grown_bytes : sum->grown_bytes;
	/* Reports the first of several failures. */
	if (tally->failed && !sum->failed) {
		sum->failed = true;
		sum->seed = tally->seed;
		sum->status = tally->status;
		memcpy(sum->message, tally->message, sizeof(sum->message));
	}
	tally->process = 0;
}

/* Plays n seeds, several chunks in parallel; stops after a failure. */
static void play_seeds(uint64_t first, uint64_t n, uint32_t jobs, struct tally *sum)
{
	struct tally *tallies = mmap(
		NULL, jobs * sizeof(*tallies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t chunk_n = (n + CHUNK - 1) / CHUNK;

	for (uint64_t chunk = 0; chunk < chunk_n + jobs; chunk++) {
		struct tally *tally = &tallies[chunk % jobs];
		uint64_t done = chunk * CHUNK;

		if (tally->process) {
			end_chunk(tally, sum);
		}
		if (done < n && !sum->failed) {
			begin_chunk(first + done, n - done < CHUNK ? n - done : CHUNK, tally);
		}
	}
	munmap(tallies, jobs * sizeof(*tallies));
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

static void print_tally(uint64_t first, const struct tally *tally)
{
	print_message("BT_SEED=%" PRIu64 "...: %" PRIu64 " histories, %" PRIu64 " steps, %" PRIu64
		      " placed, %" PRIu64 " refused\n",
		first, tally->histories, tally->steps, tally->placed, tally->refused);
	for (int i = 0; i < SIM_FAULT_N; i++) {
		print_message("%10" PRIu64 " %s\n", tally->faults[i], sim_fault_text((enum sim_fault)i));
	}
}

static void invariants_hold_under_faults(void **state)
{
	uint64_t first = number_from("BT_SEED", FIRST_SEED),
		 n = number_from("BT_SIM_SEEDS", getenv("BT_SEED") ? 1 : BT_SIM_SEEDS);
	uint32_t jobs = (uint32_t)number_from("BT_SIM_JOBS", 1);
	struct sim_history history;
	struct tally tally = {0};

	(void)state;
	for (int groups = 0; groups < SIM_GROUP_KINDS; groups++) {
		sim_config((enum sim_groups)groups);
	}
	play_seeds(first, n, jobs ? jobs : 1, &tally);
	if (tally.failed) {
		sim_history_of_seed(tally.seed, &history);
		show_failure(&history, &tally);
	}
	assert_true(tally.grown_bytes < CACHED_BYTES);
	print_tally(first, &tally);
	for (int i = 0; i < SIM_FAULT_N && n >= SEEDS_FOR_ALL; i++) {
		if (tally.faults[i] == 0) {
			fail_msg("never met: %s", sim_fault_text((enum sim_fault)i));
		}
	}
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
		printf("---- what happened ----\n%.*s\n", BT_STR_ARG(bt_buf_view(&message)));
		fail_msg("%s: %s", path, verdict.text);
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
