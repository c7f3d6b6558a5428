/* SPDX-License-Identifier: Apache-2.0
 * A kernel timer for each thread counts that thread's CPU time: a sleeping thread is not interrupted. The
 * handler runs on the sampled thread, and accesses only that thread's stack and the samples: it takes no lock
 * and allocates nothing. It stays installed, because a signal may still be pending.
 *
 * Frames are found by frame pointers, with which all of berth is compiled; a leaf function has no frame and
 * hides its caller. Libraries are compiled without: a function of theirs may hide its callers, or show a
 * value as an address. Addresses outside of code are omitted.
 */
#include "sampler_int.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/cluster/serve/certificate.h"

#define WORDS  ((uint64_t)1 << 20) /* 8 MiB: some 50,000 samples, eight minutes of CPU time */
#define RANGES 512
#define ON     ((uint32_t)1 << 31)

struct range {
	uintptr_t from, to;
};

/* A sample is the number of its frames, followed by the frames. */
static struct sampler {
	_Atomic uint32_t taken;	   /* atomic: a sampler runs */
	_Atomic uint32_t state;	   /* atomic: number of handlers that run; ON: they may write samples */
	_Atomic uint64_t word_n;   /* atomic: relaxed; beyond WORDS: full */
	_Atomic uint64_t sample_n; /* atomic: relaxed */
	_Atomic uint64_t lost_n;   /* atomic: relaxed */
	uint64_t *words;	   /* owner: the sampler's; each sample its thread's until it is complete */
	uintptr_t main_base;	   /* owner: the sampler's, before samples */
	/* owner: the sampler's */
	pid_t tids[BT_SAMPLER_THREADS];
	timer_t timers[BT_SAMPLER_THREADS];
	uint32_t thread_n;
} sampler;

/* ---- the handler ---- */

/* The base of the calling thread's stack; 0: unknown. */
static uintptr_t base_of_stack(void)
{
	const void *base = bt_thread_stack_base();

	return base ? (uintptr_t)base : gettid() == getpid() ? sampler.main_base : 0;
}

/* A return address may be signed on arm64. */
#if defined(__aarch64__)
#define ADDRESS(word) ((word) & (((uintptr_t)1 << 48) - 1))
#else
#define ADDRESS(word) (word)
#endif

struct registers {
	uintptr_t program, frame, stack;
};

static struct registers interrupted(const ucontext_t *context)
{
#if defined(__x86_64__)
	const greg_t *all = context->uc_mcontext.gregs;

	return (struct registers){(uintptr_t)all[REG_RIP], (uintptr_t)all[REG_RBP], (uintptr_t)all[REG_RSP]};
#elif defined(__aarch64__)
	return (struct registers){
		context->uc_mcontext.pc, context->uc_mcontext.regs[29], context->uc_mcontext.sp};
#else
#error "say where this processor's registers are"
#endif
}

/* A frame starts with the address of the caller's frame and the return address; it is above the callee's.
 * Returns: how many. */
BT_NO_SANITIZE static uint64_t walk(
	const struct registers *from, uintptr_t base, uintptr_t out[BT_SAMPLER_FRAMES])
{
	const size_t frame_bytes = 2 * sizeof(uintptr_t);
	uintptr_t low = from->stack, frame = from->frame;
	uint64_t n = 0;

	out[n++] = from->program;
	while (n < BT_SAMPLER_FRAMES && base > frame_bytes && frame >= low && frame <= base - frame_bytes &&
		frame % sizeof(uintptr_t) == 0) {
		const uintptr_t *words = (const uintptr_t *)frame;

		if (!words[1]) {
			break;
		}
		out[n++] = ADDRESS(words[1]);
		low = frame + frame_bytes;
		frame = words[0];
	}
	return n;
}

/* Context: the interrupted thread, at any point. */
static void note_sample(const ucontext_t *context)
{
	const struct registers registers = interrupted(context);
	uintptr_t frames[BT_SAMPLER_FRAMES];
	uint64_t n = walk(&registers, base_of_stack(), frames);
	uint64_t at = bt_add_relaxed(&sampler.word_n, n + 1);

	if (at + n + 1 > WORDS) {
		bt_add_relaxed(&sampler.lost_n, 1);
		return;
	}
	sampler.words[at] = n;
	for (uint64_t i = 0; i < n; i++) {
		sampler.words[at + 1 + i] = frames[i];
	}
	bt_add_relaxed(&sampler.sample_n, 1);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)signal_number, (void)info;
	if (bt_add(&sampler.state, 1) & ON) { /* EDGE sampler.state acquire: words are allocated */
		note_sample(context);
	}
	bt_sub(&sampler.state, 1); /* EDGE sampler.state release: the sample is complete */
	errno = error;
}

/* ---- threads ---- */

static bool is_known(pid_t tid)
{
	for (uint32_t i = 0; i < sampler.thread_n; i++) {
		if (sampler.tids[i] == tid) {
			return true;
		}
	}
	return false;
}

/* Returns: 0, or an errno. A thread that has just ended is ignored. */
static int arm(pid_t tid)
{
	const clockid_t clock =
		(clockid_t)(~(unsigned)tid << 3 | 6); /* the kernel's id of a thread's CPU clock */
	const struct timespec period = {.tv_nsec = 1000000000 / BT_SAMPLER_HERTZ};
	const struct itimerspec when = {period, period};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	timer_t *timer = &sampler.timers[sampler.thread_n];

	event._sigev_un._tid = tid;
	if (timer_create(clock, &event, timer) != 0) {
		return errno == EINVAL ? 0 : errno;
	}
	if (timer_settime(*timer, 0, &when, NULL) != 0) {
		int error = errno;

		timer_delete(*timer);
		return error == ESRCH ? 0 : error;
	}
	sampler.tids[sampler.thread_n++] = tid;
	return 0;
}

/* Returns: 0, or an errno. */
static int arm_all(void)
{
	DIR *threads = opendir("/proc/self/task");
	int error = threads ? 0 : errno;

	for (struct dirent *entry; !error && threads && (entry = readdir(threads));) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && sampler.thread_n < BT_SAMPLER_THREADS && !is_known(tid)) {
			error = arm(tid);
		}
	}
	if (threads) {
		closedir(threads);
	}
	return error;
}

static void disarm_all(void)
{
	while (sampler.thread_n) {
		timer_delete(sampler.timers[--sampler.thread_n]);
	}
}

/* ---- memory ---- */

/* The next line of /proc/self/maps: its range, whether it is code, and whether it is the main thread's
 * stack. */
static bool next_map(struct bt_str *rest, struct range *out_range, bool *out_code, bool *out_main_stack)
{
	unsigned long from, to;
	char rights[5];

	while (rest->len) {
		const char *end = memchr(rest->ptr, '\n', rest->len);
		struct bt_str line = bt_str_sub(*rest, 0, end ? (size_t)(end - rest->ptr) : rest->len);

		*rest = bt_str_sub(*rest, line.len + (end ? 1 : 0), rest->len);
		if (sscanf(line.ptr, "%lx-%lx %4s", &from, &to, rights) == 3) {
			*out_range = (struct range){from, to};
			*out_code = rights[2] == 'x';
			*out_main_stack = bt_str_ends(line, "[stack]");
			return true;
		}
	}
	return false;
}

/* The main thread's stack, which grows downwards. */
static void find_main_base(void)
{
	struct bt_buf maps = {0}, error = {0};
	struct range range;
	bool code, stack;

	sampler.main_base = 0;
	if (bt_file_read("/proc/self/maps", &maps, &error) == BT_OK) {
		struct bt_str rest = bt_buf_view(&maps);

		while (next_map(&rest, &range, &code, &stack)) {
			sampler.main_base = stack ? range.to : sampler.main_base;
		}
	}
	bt_buf_fini(&maps);
	bt_buf_fini(&error);
}

static bool is_code(const struct range *ranges, uint32_t n, uintptr_t address)
{
	for (uint32_t i = 0; i < n; i++) {
		if (address >= ranges[i].from && address < ranges[i].to) {
			return true;
		}
	}
	return false;
}

/* ---- the profile ---- */

static void add_word(struct bt_buf *out, uint64_t word)
{
	bt_buf_add(out, (const char *)&word, sizeof(word));
}

/* Callers are shown up to the first address outside of code. */
static void add_samples(struct bt_buf *out, const struct range *ranges, uint32_t range_n)
{
	uint64_t words = bt_load_relaxed(&sampler.word_n), n;

	for (uint64_t at = 0; at < words && at < WORDS && (n = sampler.words[at]) > 0; at += n + 1) {
		const uint64_t *frames = &sampler.words[at + 1];
		uint64_t good = 1;

		while (good < n && is_code(ranges, range_n, frames[good])) {
			good++;
		}
		add_word(out, 1);
		add_word(out, good);
		bt_buf_add(out, (const char *)frames, good * sizeof(*frames));
	}
}

static void add_profile(struct bt_buf *out)
{
	struct range *ranges = bt_mem_zalloc(RANGES, sizeof(*ranges));
	struct bt_buf maps = {0}, error = {0};
	uint32_t n = 0;
	bool code, stack;

	if (bt_file_read("/proc/self/maps", &maps, &error) == BT_OK) {
		struct bt_str rest = bt_buf_view(&maps);

		while (n < RANGES && next_map(&rest, &ranges[n], &code, &stack)) {
			n += code;
		}
	}
	add_word(out, 0);
	add_word(out, 3); /* number of words that follow in the header */
	add_word(out, 0); /* the version */
	add_word(out, 1000000 / BT_SAMPLER_HERTZ);
	add_word(out, 0);
	add_samples(out, ranges, n);
	add_word(out, 0);
	add_word(out, 1);
	add_word(out, 0);
	bt_buf_add(out, maps.ptr, maps.len);
	bt_buf_fini(&maps);
	bt_buf_fini(&error);
	bt_mem_free(ranges);
}

/* ---- begin and end ---- */

/* Waits until no handler writes, and none will. */
static void stop_samples(void)
{
	disarm_all();
	bt_sub(&sampler.state, ON);
	while (bt_load_acquire(&sampler.state)) { /* EDGE sampler.state acquire: all samples are complete */
		bt_thread_yield();
	}
}

static void release(void)
{
	bt_mem_free(sampler.words);
	sampler.words = NULL;
	bt_store_release(&sampler.taken, 0); /* EDGE sampler.taken release: the sampler is unused */
}

enum bt_status bt_sampler_begin(struct bt_buf *out_why)
{
	const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
	uint32_t nobody = 0;

	if (!bt_cas(&sampler.taken, &nobody, 1)) { /* EDGE sampler.taken acquire */
		bt_buf_text(out_why, "cpu profiling already in use");
		return BT_CONFLICT;
	}
	bt_store_relaxed(&sampler.word_n, 0);
	bt_store_relaxed(&sampler.sample_n, 0);
	bt_store_relaxed(&sampler.lost_n, 0);
	sampler.words = bt_mem_zalloc(WORDS, sizeof(*sampler.words));
	find_main_base();
	int error = sigaction(SIGPROF, &action, NULL) == 0 ? 0 : errno;

	bt_add(&sampler.state, ON); /* EDGE sampler.state release: words are allocated */
	error = error ? error : arm_all();
	if (error) {
		stop_samples();
		release();
		bt_buf_printf(out_why, "timers of threads are refused: %s", strerror(error));
		return BT_IO;
	}
	return BT_OK;
}

void bt_sampler_add_threads(void)
{
	(void)arm_all();
}

uint64_t bt_sampler_n(uint64_t *out_lost_n)
{
	*out_lost_n = bt_load_relaxed(&sampler.lost_n);
	return bt_load_relaxed(&sampler.sample_n);
}

void bt_sampler_end(struct bt_buf *out)
{
	stop_samples();
	add_profile(out);
	release();
}
