/* SPDX-License-Identifier: Apache-2.0
 * A lower bound of a covering problem: at what price can no choice be had? Pure.
 */
#pragma once

#include <stddef.h>

/*
 * Minimizes the sum of price[j] x[j] such that for each row i the sum of amount[i * type_n + j] x[j] is at
 * least need[i], and x is not negative: the relaxation of buying whole nodes. Solved by the simplex method on
 * the dual problem, with Bland's rule. Source: Chvátal, Linear Programming, 1983, chapters 3 and 5.
 * Returns : the minimum; infinite when some need cannot be covered.
 * Requires: prices are positive, amounts and needs not negative.
 */
double bt_covering_bound(
	const double *price, size_t type_n, const double *amount, const double *need, size_t row_n);
