/* SPDX-License-Identifier: Apache-2.0
 * A queue, and threads that wait on a semaphore: one count for each job, and one for each thread at shutdown.
 */
#include "tools/cluster/serve/workers.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/thread.h"

struct bt_workers {
	struct bt_workers_options options; /* init: */
	int semaphore;			   /* init: */
	struct bt_thread **threads;	   /* init: */
	struct bt_lock lock;
	void **jobs;	       /* lock(lock): a ring of options.waiting */
	uint32_t first, job_n; /* lock(lock): */
};

static void *next_job(struct bt_workers *workers)
{
	void *job = NULL;

	bt_lock_acquire(&workers->lock);
	if (workers->job_n) {
		job = workers->jobs[workers->first];
		workers->first = (workers->first + 1) % workers->options.waiting;
		workers->job_n--;
	}
	bt_lock_release(&workers->lock);
	return job;
}

/* A count without a job means shutdown. */
static void work(void *context)
{
	struct bt_workers *workers = context;
	uint64_t one;

	for (;;) {
		ssize_t n = read(workers->semaphore, &one, sizeof(one));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		void *job = next_job(workers);

		if (!job) {
			return;
		}
		workers->options.run(workers->options.context, job);
	}
}

struct bt_workers *bt_workers_create(const struct bt_workers_options *options, struct bt_buf *out_error)
{
	const struct bt_thread_options thread = {.name = "answer"};
	struct bt_workers *workers = bt_mem_zalloc(1, sizeof(*workers));
	enum bt_status status = BT_OK;

	workers->options = *options;
	workers->semaphore = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	workers->threads = bt_mem_zalloc(options->threads, sizeof(struct bt_thread *));
	workers->jobs = bt_mem_zalloc(options->waiting, sizeof(void *));
	bt_lock_init(&workers->lock);
	if (workers->semaphore < 0) {
		bt_buf_printf(out_error, "no eventfd: %s", strerror(errno));
		status = BT_IO;
	}
	for (uint32_t i = 0; i < options->threads && status == BT_OK; i++) {
		status = bt_thread_start(&thread, work, workers, &workers->threads[i], out_error);
	}
	if (status != BT_OK) {
		bt_workers_destroy(workers);
		return NULL;
	}
	return workers;
}

static void workers_count(struct bt_workers *workers, uint64_t n)
{
	while (workers->semaphore >= 0 && write(workers->semaphore, &n, sizeof(n)) < 0 && errno == EINTR) {
	}
}

void bt_workers_destroy(struct bt_workers *workers)
{
	if (!workers) {
		return;
	}
	workers_count(workers, workers->options.threads);
	for (uint32_t i = 0; i < workers->options.threads; i++) {
		bt_thread_join(&workers->threads[i]);
	}
	if (workers->semaphore >= 0) {
		close(workers->semaphore);
	}
	bt_mem_free(workers->threads);
	bt_mem_free(workers->jobs);
	bt_lock_fini(&workers->lock);
	bt_mem_free(workers);
}

bool bt_workers_take(struct bt_workers *workers, void *job)
{
	bt_lock_acquire(&workers->lock);
	bool taken = workers->job_n < workers->options.waiting;

	if (taken) {
		workers->jobs[(workers->first + workers->job_n) % workers->options.waiting] = job;
		workers->job_n++;
	}
	bt_lock_release(&workers->lock);
	if (taken) {
		workers_count(workers, 1);
	}
	return taken;
}
