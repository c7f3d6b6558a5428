/* SPDX-License-Identifier: Apache-2.0
 * Quotas of control groups, read from simulated folders: both versions, nested groups,
 * containers, unusual files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "engine/base/cpu_quota.h"

static char root[64];

/* Writes a file under root, with the folders above it. */
static void put(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "%s", "/tmp/bt_cpu_quota_XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void without_control_groups_there_is_no_quota(void **state)
{
	(void)state;
	assert_int_equal(bt_cpu_quota_n(root), 0);
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(bt_cpu_quota_n(root), 0);
}

static void a_container_sees_its_own_group_at_the_root(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 2);
	put("/sys/fs/cgroup/cpu.max", "max 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 0);
}

static void parts_of_a_cpu_are_rounded_up(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 2);
	put("/sys/fs/cgroup/cpu.max", "1000 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 1);
}

static void the_least_quota_on_the_way_up_holds(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/kubepods/pod1/main\n");
	put("/sys/fs/cgroup/kubepods/pod1/main/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/kubepods/pod1/cpu.max", "300000 100000\n");
	put("/sys/fs/cgroup/kubepods/cpu.max", "800000 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 3);
	put("/sys/fs/cgroup/kubepods/pod1/main/cpu.max", "50000 50000\n");
	assert_int_equal(bt_cpu_quota_n(root), 1);
	/* A path of the host that the container does not have. */
	put("/proc/self/cgroup", "0::/not/mounted/here\n");
	put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 4);
}

static void version_1_is_read_too(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "7:memory:/a\n4:cpuset,cpuacct:/no\n3:cpu,cpuacct:/a/b\nnonsense\n");
	/* The group of another controller. */
	put("/sys/fs/cgroup/cpu/no/cpu.cfs_quota_us", "100000\n");
	put("/sys/fs/cgroup/cpu/no/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 0);
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	assert_int_equal(bt_cpu_quota_n(root), 3);
}

static void odd_files_grant_nothing_and_break_nothing(void **state)
{
	static const char *const texts[] = {"", "\n", "x y\n", "100000\n", "100000 0\n", "-1 100000\n",
		"100000 -1\n", "99999999999999999999 1\n", "9223372036854775807 1\n"};

	(void)state;
	put("/proc/self/cgroup", "0::/\n\n::\n:\n0:cpu\n");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put("/sys/fs/cgroup/cpu.max", texts[i]);
		assert_int_equal(bt_cpu_quota_n(root), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_control_groups_there_is_no_quota),
		TEST(a_container_sees_its_own_group_at_the_root),
		TEST(parts_of_a_cpu_are_rounded_up),
		TEST(the_least_quota_on_the_way_up_holds),
		TEST(version_1_is_read_too),
		TEST(odd_files_grant_nothing_and_break_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
