/* SPDX-License-Identifier: Apache-2.0
 * The arithmetic of PodTopologySpread and InterPodAffinity, where a last bit matters. tests/model and
 * tests/conformance compare whole decisions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/pod_topology_spread/go_log.h"

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static void logarithms_round_as_upstreams_runtime(void **state)
{
	(void)state;
	assert_int_equal(bits_of(bt_go_log(2)), UINT64_C(0x3fe62e42fefa39ef));
	/* The C library's result has another last bit. */
	assert_int_equal(bits_of(bt_go_log(3)), UINT64_C(0x3ff193ea7aad030a));
	assert_int_equal(bits_of(bt_go_log(12)), UINT64_C(0x4003e116bcd39e7d));
	assert_int_equal(bits_of(bt_go_log(5000)), UINT64_C(0x402108cd8bc5b177));
}

static void affinity_divides_before_it_multiplies(void **state)
{
	int64_t scores[] = {100, 29, 0}, shifted[] = {1, -3, 0}, equal[] = {7, 7};

	(void)state;
	bt_plugin_inter_pod_affinity.normalize_own(NULL, NULL, NULL, 3, scores);
	assert_int_equal(scores[0], 100);
	assert_int_equal(scores[1], 28);
	assert_int_equal(scores[2], 0);
	bt_plugin_inter_pod_affinity.normalize_own(NULL, NULL, NULL, 3, shifted);
	assert_int_equal(shifted[0], 100);
	assert_int_equal(shifted[1], 0);
	assert_int_equal(shifted[2], 75);
	bt_plugin_inter_pod_affinity.normalize_own(NULL, NULL, NULL, 2, equal);
	assert_int_equal(equal[0], 0);
	assert_int_equal(equal[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logarithms_round_as_upstreams_runtime),
		cmocka_unit_test(affinity_divides_before_it_multiplies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
