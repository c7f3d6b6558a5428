/* SPDX-License-Identifier: Apache-2.0
 * Handles, their locks, and the errors of each thread.
 */
#include "tools/libberth/lib/lib_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/flow/cycle/transaction.h"

#define HANDLE_MAX  1024
#define ERROR_BYTES 4096

struct berth {
	struct bt_lock lock;
	struct bt_lib *lib; /* lock(lock): NULL: destroyed, or never created */
	uint32_t call_n;    /* lock(lock): calls under way */
	bool ready;	    /* lock(table): lock is initialised */
};

/* lock(table): allocation of slots. Freed slots are reused as late as possible. */
static struct bt_lock table = BT_LOCK_INIT;
static struct berth handles[HANDLE_MAX];
static uint32_t next_handle;

/* owner: the thread. */
static _Thread_local struct {
	const struct berth *handle;
	char text[ERROR_BYTES];
} last_error;
static _Thread_local const struct bt_lib_frame *callbacks;

static bool take_slot(struct berth *handle, struct bt_lib *lib)
{
	if (!handle->ready) {
		bt_lock_init(&handle->lock);
		handle->ready = true;
	}
	bt_lock_acquire(&handle->lock);
	bool vacant = !handle->lib;
	if (vacant) {
		BT_REQUIRE(handle->call_n == 0);
		handle->lib = lib;
		lib->handle = handle;
	}
	bt_lock_release(&handle->lock);
	return vacant;
}

struct berth *bt_lib_publish(struct bt_lib *lib)
{
	struct berth *handle = NULL;

	bt_lock_acquire(&table);
	for (uint32_t i = 0; i < HANDLE_MAX && !handle; i++) {
		struct berth *candidate = &handles[(next_handle + i) % HANDLE_MAX];

		if (take_slot(candidate, lib)) {
			handle = candidate;
			next_handle = (uint32_t)(handle - handles) + 1;
		}
	}
	bt_lock_release(&table);
	return handle;
}

static bool is_handle(const struct berth *handle)
{
	uintptr_t at = (uintptr_t)handle, begin = (uintptr_t)handles;

	return at >= begin && at < begin + sizeof(handles) && (at - begin) % sizeof(*handles) == 0 &&
	       handle->ready;
}

enum berth_status bt_lib_fail(const struct berth *handle, enum berth_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	last_error.handle = handle;
	vsnprintf(last_error.text, sizeof(last_error.text), format, args);
	va_end(args);
	return status;
}

const char *berth_error(const struct berth *berth)
{
	return last_error.handle == berth ? last_error.text : "";
}

enum berth_status bt_lib_enter(struct berth *handle, struct bt_lib **out)
{
	if (!handle) {
		return bt_lib_fail(handle, BERTH_INVALID, "the handle is NULL");
	}
	if (!is_handle(handle)) {
		return bt_lib_fail(handle, BERTH_INVALID, "this is no handle of berth_create");
	}
	for (const struct bt_lib_frame *frame = callbacks; frame; frame = frame->up) {
		if (frame->handle == handle) {
			return bt_lib_fail(handle, BERTH_BUSY,
				"the call comes from inside a callback of the same handle; make it when the "
				"callback has returned");
		}
	}
	bt_lock_acquire(&handle->lock);
	if (!handle->lib) {
		bt_lock_release(&handle->lock);
		return bt_lib_fail(handle, BERTH_INVALID, "the handle is destroyed");
	}
	*out = handle->lib;
	handle->call_n++;
	last_error.handle = handle;
	last_error.text[0] = '\0';
	if ((*out)->threads) {
		bt_lock_release(&handle->lock);
	}
	return BERTH_OK;
}

void bt_lib_leave(struct bt_lib *lib)
{
	struct berth *handle = lib->handle;

	if (lib->threads) {
		bt_lock_acquire(&handle->lock);
	}
	BT_REQUIRE(handle->lib == lib && handle->call_n > 0);
	handle->call_n--;
	bt_lock_release(&handle->lock);
}

void bt_lib_pause(struct bt_lib *lib)
{
	BT_REQUIRE(!lib->threads && lib->handle->call_n > 0);
	bt_lock_release(&lib->handle->lock);
}

void bt_lib_resume(struct bt_lib *lib)
{
	bt_lock_acquire(&lib->handle->lock);
	/* The paused call kept it from being destroyed. */
	BT_REQUIRE(lib->handle->lib == lib && lib->handle->call_n > 0);
}

bool bt_lib_retire(struct bt_lib *lib)
{
	struct berth *handle = lib->handle;

	if (lib->threads) {
		bt_lock_acquire(&handle->lock);
	}
	BT_REQUIRE(handle->lib == lib && handle->call_n > 0);
	bool alone = --handle->call_n == 0;
	if (alone) {
		handle->lib = NULL;
	}
	bt_lock_release(&handle->lock);
	return alone;
}

enum berth_status bt_lib_check_stopped(struct bt_lib *lib)
{
	return bt_load_acquire(&lib->stopped)
		       ? bt_lib_fail(lib->handle, BERTH_STOPPED, "berth_stop was called")
		       : BERTH_OK;
}

bool bt_lib_in_transaction(const struct bt_lib *lib)
{
	return !lib->threads && bt_transaction_depth(lib->engine) > 0;
}

enum berth_status bt_lib_check_cycles(struct bt_lib *lib)
{
	enum berth_status status = bt_lib_check_stopped(lib);

	if (status == BERTH_OK && bt_lib_in_transaction(lib)) {
		status = bt_lib_fail(lib->handle, BERTH_BUSY,
			"a transaction is open; end it with berth_transaction_commit or "
			"berth_transaction_rollback first");
	}
	return status;
}

void bt_lib_callback_begin(const struct bt_lib *lib, struct bt_lib_frame *frame)
{
	*frame = (struct bt_lib_frame){lib->handle, callbacks};
	callbacks = frame;
}

void bt_lib_callback_end(const struct bt_lib_frame *frame)
{
	BT_REQUIRE(callbacks == frame); /* frames end in reverse order, each on its thread */
	callbacks = frame->up;
}

void bt_lib_log(struct bt_lib *lib, enum berth_level level, const char *text)
{
	struct bt_lib_frame frame;

	if (lib->options.log) {
		bt_lib_callback_begin(lib, &frame);
		lib->options.log(lib->options.context, level, text);
		bt_lib_callback_end(&frame);
	}
}

bool bt_lib_copy_in(const void *from, size_t least, void *to, size_t size)
{
	size_t given;

	BT_REQUIRE(least >= sizeof(given) && least <= size);
	memcpy(&given, from, sizeof(given));
	if (given < least) {
		return false;
	}
	memcpy(to, from, given < size ? given : size);
	return true;
}
