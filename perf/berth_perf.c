/* SPDX-License-Identifier: Apache-2.0
 * The benchmark program: every suite of suites.def behind Google Benchmark's command line.
 */
#include "bench.h"
#include "suites.h"

int main(int argc, char **argv)
{
	static const struct bt_bench_suite *const suites[] = {
#define SUITE(name) &bt_bench_##name,
#include "suites.def"
#undef SUITE
	};

	return bt_bench_main(argc, argv, suites, sizeof(suites) / sizeof(suites[0]));
}
