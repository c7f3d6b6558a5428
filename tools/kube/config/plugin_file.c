/* SPDX-License-Identifier: Apache-2.0
 * Loading plugins from shared objects.
 */
#include "tools/kube/config/plugin_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/thread.h"
#include "plugins/out_of_tree.h"
#include "plugins/registry.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

static struct bt_lock loading = BT_LOCK_INIT;
static void *loaded[BT_PLUGIN_ADDED_MAX]; /* lock(loading): handles */
static uint32_t loaded_n;		  /* lock(loading) */

/* The file's identity: a hash of its bytes. Returns: false with errno when it cannot be read. */
static bool hash_file(const char *path, char out_text[17])
{
	FILE *file = fopen(path, "rb");
	struct bt_buf bytes = {0};
	char block[16384];
	size_t n;

	if (!file) {
		return false;
	}
	while ((n = fread(block, 1, sizeof(block), file)) > 0) {
		bt_buf_add(&bytes, block, n);
	}
	bool ok = !ferror(file);
	int error = errno;

	fclose(file);
	snprintf(out_text, 17, "%016" PRIx64, bt_hash_bytes(bytes.ptr, bytes.len));
	bt_buf_fini(&bytes);
	errno = error;
	return ok;
}

/* POSIX guarantees that a function's address fits into dlsym's result; C has no conversion for it. */
static berth_plugin_entry *entry_of(void *handle)
{
	berth_plugin_entry *entry = NULL;
	void *symbol = dlsym(handle, NAME_OF(BERTH_PLUGIN_ENTRY));

	if (symbol) {
		memcpy(&entry, &symbol, sizeof(entry));
	}
	return entry;
}

static enum bt_status add(void *handle, const char *build, struct bt_buf *out_error)
{
	berth_plugin_entry *entry = entry_of(handle);
	const struct berth_plugin *plugin = entry ? entry(bt_out_of_tree_host()) : NULL;

	if (!entry) {
		bt_buf_text(out_error,
			"it has no function " NAME_OF(
				BERTH_PLUGIN_ENTRY) ": it is no plugin of berth, or of another plugin "
						    "ABI; build it with this berth's berth_plugin.h, and "
						    "export the function");
		return BT_INVALID;
	}
	if (!plugin) {
		bt_buf_text(out_error,
			"its " NAME_OF(
				BERTH_PLUGIN_ENTRY) " returns no plugin: it cannot work with this berth");
		return BT_UNSUPPORTED;
	}
	if (plugin->name) {
		bt_buf_printf(out_error, "plugin \"%s\": ", plugin->name);
	}
	return bt_out_of_tree_add(plugin, bt_str(build), out_error);
}

static bool is_loaded(const void *handle)
{
	for (uint32_t i = 0; i < loaded_n; i++) {
		if (loaded[i] == handle) {
			return true;
		}
	}
	return false;
}

/* Context: the lock is held. */
static enum bt_status load(const char *path, struct bt_buf *out_error)
{
	struct bt_buf at = {0};
	char build[17];

	if (!hash_file(path, build)) {
		bt_buf_text(out_error, strerror(errno));
		return BT_IO;
	}
	/* dlopen searches the system's libraries for a name without a slash. */
	bt_buf_printf(&at, "%s%s", strchr(path, '/') ? "" : "./", path);
	void *handle = dlopen(at.ptr, RTLD_NOW | RTLD_LOCAL);
	bt_buf_fini(&at);
	if (!handle) {
		bt_buf_text(out_error, dlerror());
		return BT_INVALID;
	}
	if (is_loaded(handle)) {
		dlclose(handle);
		return BT_OK;
	}
	enum bt_status status = add(handle, build, out_error);
	if (status == BT_OK) {
		loaded[loaded_n++] = handle;
	} else {
		dlclose(handle);
	}
	return status;
}

enum bt_status bt_plugin_file_load(const char *path, struct bt_buf *out_error)
{
	struct bt_buf why = {0};

	bt_lock_acquire(&loading);
	enum bt_status status = load(path, &why);
	bt_lock_release(&loading);
	if (status != BT_OK) {
		bt_buf_printf(out_error, "%s: %s", path, why.ptr);
	}
	bt_buf_fini(&why);
	return status;
}
