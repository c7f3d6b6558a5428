/* SPDX-License-Identifier: Apache-2.0
 * Reads cpu.max (version 2) or cpu.cfs_quota_us and cpu.cfs_period_us (version 1) from the process's control
 * group up to the root. In a container's namespace the path may not be mounted: then the root of the mount is
 * the container's group.
 */
#include "engine/base/cpu_quota.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/buf.h"

/* The first line of a file into line, without its end; false when there is none. */
static bool read_line(const char *path, char *line, size_t bytes)
{
	FILE *file = fopen(path, "r");
	bool there = file && fgets(line, (int)bytes, file);

	if (file) {
		fclose(file);
	}
	if (there) {
		line[strcspn(line, "\n")] = '\0';
	}
	return there;
}

static bool read_file(const char *folder, const char *name, char *line, size_t bytes)
{
	struct bt_buf path = {0};

	bt_buf_printf(&path, "%s/%s", folder, name);
	bool there = read_line(path.ptr, line, bytes);
	bt_buf_fini(&path);
	return there;
}

/* The quota in one folder; 0: none. */
static uint32_t quota_of(const char *folder, bool is_v2)
{
	char line[64], period_line[64];
	int64_t quota = 0, period = 0;

	if (is_v2) {
		/* "max 100000" does not begin with a number. */
		if (!read_file(folder, "cpu.max", line, sizeof(line)) ||
			sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) {
			return 0;
		}
	} else if (!read_file(folder, "cpu.cfs_quota_us", line, sizeof(line)) ||
		   !read_file(folder, "cpu.cfs_period_us", period_line, sizeof(period_line)) ||
		   sscanf(line, "%" SCNd64, &quota) != 1 || sscanf(period_line, "%" SCNd64, &period) != 1) {
		return 0;
	}
	if (quota <= 0 || period <= 0 || quota / period >= UINT32_MAX - 1) {
		return 0;
	}
	return (uint32_t)((quota - 1) / period + 1);
}

/* The least quota from mount/path up to mount. */
static uint32_t least_quota(const char *root, const char *mount, const char *group, bool is_v2)
{
	struct bt_buf folder = {0};
	uint32_t least = 0;

	bt_buf_printf(&folder, "%s%s", root, mount);
	size_t mount_len = folder.len;
	bt_buf_text(&folder, group);
	for (;;) {
		uint32_t quota = quota_of(folder.ptr, is_v2);

		if (quota && (!least || quota < least)) {
			least = quota;
		}
		if (folder.len <= mount_len) {
			break;
		}
		while (folder.len > mount_len && folder.ptr[folder.len - 1] != '/') {
			folder.len--;
		}
		folder.len -= folder.len > mount_len;
		folder.ptr[folder.len] = '\0';
	}
	bt_buf_fini(&folder);
	return least;
}

/* Is "cpu" in the comma-separated controllers of a line of /proc/self/cgroup? */
static bool has_cpu(const char *controllers, size_t len)
{
	for (const char *at = controllers, *end = controllers + len; at < end;) {
		size_t n = strcspn(at, ",:");

		if (n == 3 && memcmp(at, "cpu", 3) == 0) {
			return true;
		}
		at += n + 1;
	}
	return false;
}

/* The quota of one line of /proc/self/cgroup, number:controllers:path. */
static uint32_t quota_of_line(const char *root, const char *line)
{
	const char *controllers = strchr(line, ':');
	const char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group) {
		return 0;
	}
	controllers++;
	if (group == controllers) {
		return least_quota(root, "/sys/fs/cgroup", group + 1, true);
	}
	return has_cpu(controllers, (size_t)(group - controllers))
		       ? least_quota(root, "/sys/fs/cgroup/cpu", group + 1, false)
		       : 0;
}

uint32_t bt_cpu_quota_n(const char *root)
{
	struct bt_buf path = {0};
	char line[4096];
	uint32_t least = 0;

	bt_buf_printf(&path, "%s/proc/self/cgroup", root);
	FILE *file = fopen(path.ptr, "r");
	bt_buf_fini(&path);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		uint32_t quota = quota_of_line(root, line);

		if (quota && (!least || quota < least)) {
			least = quota;
		}
	}
	if (file) {
		fclose(file);
	}
	return least;
}
