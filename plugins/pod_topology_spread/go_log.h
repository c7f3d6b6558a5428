/* SPDX-License-Identifier: Apache-2.0
 * The natural logarithm with the roundings of upstream's runtime, which differ from the C library's in the
 * last bit for about one integer in a hundred. The method is fdlibm's: reduce to m * 2^k with m near 1, then
 * a polynomial in m's s = f / (2 + f).
 */
#pragma once

#include "engine/base/check.h"

#include <math.h>

/* Requires: x is finite and positive. */
static inline double bt_go_log(double x)
{
	static const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
	static const double l1 = 6.666666666666735130e-01, l2 = 3.999999999940941908e-01,
			    l3 = 2.857142874366239149e-01, l4 = 2.222219843214978396e-01,
			    l5 = 1.818357216161805012e-01, l6 = 1.531383769920937332e-01,
			    l7 = 1.479819860511658591e-01;
	BT_REQUIRE_HOT(x > 0 && isfinite(x));
	int exponent;
	double m = frexp(x, &exponent);

	if (m < 0x1.6a09e667f3bcdp-1) { /* the square root of one half */
		m *= 2;
		exponent--;
	}
	double f = m - 1, k = (double)exponent;
	double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
	double odd = s2 * (l1 + s4 * (l3 + s4 * (l5 + s4 * l7)));
	double even = s4 * (l2 + s4 * (l4 + s4 * l6));
	double half = 0.5 * f * f;
	return k * ln2_high - ((half - (s * (half + (odd + even)) + k * ln2_low)) - f);
}
