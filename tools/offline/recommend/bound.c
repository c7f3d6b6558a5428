/* SPDX-License-Identifier: Apache-2.0
 * A lower bound of a covering problem.
 */
#include "tools/offline/recommend/bound.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define TINY 1e-9

/*
 * The dual: maximize the sum of need[i] y[i] such that for each type j the sum of amount[i][j] y[i] is at
 * most price[j]; y = 0 is feasible. The tableau has a row a type and one for the objective, a column a need,
 * a slack a type, and the right side.
 */
struct tableau {
	double *cells;
	size_t row_n, column_n; /* without the objective's row and the right side */
	size_t *basis;		/* by row: the column that is basic there */
};

static double *cell(const struct tableau *t, size_t row, size_t column)
{
	return &t->cells[row * (t->column_n + 1) + column];
}

/* The first column that improves the objective; column_n: none. */
static size_t entering(const struct tableau *t)
{
	size_t column = 0;

	while (column < t->column_n && *cell(t, t->row_n, column) <= TINY) {
		column++;
	}
	return column;
}

/* The row that limits the column; row_n: none does. Of equal ones that with the lowest basic column. */
static size_t leaving(const struct tableau *t, size_t column)
{
	size_t best = t->row_n;
	double least = INFINITY;

	for (size_t row = 0; row < t->row_n; row++) {
		const double pivot = *cell(t, row, column);
		const double ratio = pivot > TINY ? *cell(t, row, t->column_n) / pivot : INFINITY;

		if (ratio < least - TINY || (best < t->row_n && ratio <= least + TINY && isfinite(ratio) &&
						    t->basis[row] < t->basis[best])) {
			least = ratio < least ? ratio : least;
			best = row;
		}
	}
	return best;
}

static void pivot_at(struct tableau *t, size_t row, size_t column)
{
	const double pivot = *cell(t, row, column);

	for (size_t c = 0; c <= t->column_n; c++) {
		*cell(t, row, c) /= pivot;
	}
	for (size_t r = 0; r <= t->row_n; r++) {
		const double factor = *cell(t, r, column);

		for (size_t c = 0; r != row && factor != 0 && c <= t->column_n; c++) {
			*cell(t, r, c) -= factor * *cell(t, row, c);
		}
	}
	t->basis[row] = column;
}

/* Each row is scaled by its need, so that all needs are 1 and the tolerance means the same everywhere. */
static void fill_tableau(struct tableau *t, const double *price, const double *amount, const double *need,
	const size_t *rows, size_t row_n)
{
	for (size_t j = 0; j < t->row_n; j++) {
		for (size_t i = 0; i < row_n; i++) {
			*cell(t, j, i) = amount[rows[i] * t->row_n + j] / need[rows[i]];
		}
		*cell(t, j, row_n + j) = 1;
		*cell(t, j, t->column_n) = price[j];
		t->basis[j] = row_n + j;
	}
	for (size_t i = 0; i < row_n; i++) {
		*cell(t, t->row_n, i) = 1;
	}
}

static double maximize(struct tableau *t)
{
	size_t column;

	while ((column = entering(t)) < t->column_n) {
		const size_t row = leaving(t, column);

		if (row == t->row_n) {
			return INFINITY;
		}
		pivot_at(t, row, column);
	}
	return -*cell(t, t->row_n, t->column_n);
}

double bt_covering_bound(
	const double *price, size_t type_n, const double *amount, const double *need, size_t row_n)
{
	size_t *rows = bt_mem_zalloc(row_n + 1, sizeof(*rows)), used = 0;

	for (size_t i = 0; i < row_n; i++) {
		BT_REQUIRE(need[i] >= 0);
		if (need[i] > 0) {
			rows[used++] = i;
		}
	}
	struct tableau t = {.row_n = type_n, .column_n = used + type_n};
	t.cells = bt_mem_zalloc((t.row_n + 1) * (t.column_n + 1), sizeof(*t.cells));
	t.basis = bt_mem_zalloc(t.row_n + 1, sizeof(*t.basis));
	fill_tableau(&t, price, amount, need, rows, used);
	const double least = maximize(&t);
	bt_mem_free(t.cells);
	bt_mem_free(t.basis);
	bt_mem_free(rows);
	return least;
}
