/* SPDX-License-Identifier: Apache-2.0
 * Device selectors: expressions of the Common Expression Language over one device, from DeviceClasses and
 * requests. Compiling checks types as upstream does. Matching allocates only to grow its scratch, and within
 * RE2. Source: dynamic-resource-allocation/cel and cel-go v0.26, Kubernetes v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "engine/base/str.h"
#include "engine/model/quantity.h"

/* Longer expressions are rejected (CELSelectorExpressionMaxLength). */
#define BT_CEL_EXPRESSION_MAX 10240

/* A match that costs more fails (CELSelectorExpressionMaxCost), in units of cel-go's cost tracker. */
#define BT_CEL_COST_MAX 1000000

struct bt_cel;

/* A semantic version; pre and build are views of the parsed text, without - and +. */
struct bt_cel_semver {
	uint64_t major, minor, patch;
	struct bt_str pre, build;
};

enum bt_cel_attribute_kind { BT_CEL_INT, BT_CEL_BOOL, BT_CEL_STRING, BT_CEL_VERSION };

union bt_cel_scalar {
	int64_t integer;
	bool boolean;
	struct bt_str string;
	struct bt_cel_semver version;
};

struct bt_cel_attribute {
	struct bt_str domain, name;
	enum bt_cel_attribute_kind kind;
	bool list; /* a list of n elements of the kind */
	uint32_t n;
	union {
		union bt_cel_scalar scalar;
		int64_t integer;
		bool boolean;
		struct bt_str string;
		struct bt_cel_semver version;
		const union bt_cel_scalar *elements;
	};
};

struct bt_cel_capacity {
	struct bt_str domain, name;
	struct bt_quantity value;
};

/* The device as an expression sees it. Owns nothing. Each pair of domain and name occurs once. */
struct bt_cel_device {
	struct bt_str driver;
	const struct bt_cel_attribute *attributes;
	const struct bt_cel_capacity *capacity;
	uint32_t attribute_n, capacity_n;
	bool allow_multiple_allocations;
	/*
	 * Not empty: expressions cannot read the device, and every match fails with this text. Upstream's
	 * texts: "attribute NAME: unsupported attribute value" for a value of unknown type, "attribute NAME:
	 * parse semantic version: WHY" for a version that bt_cel_semver_parse rejects.
	 */
	struct bt_str invalid;
};

enum bt_cel_result { BT_CEL_FALSE, BT_CEL_TRUE, BT_CEL_ERROR };

/* Memory for matching, reused between matches. A zero-initialised one is empty. One thread at a time. */
struct bt_cel_scratch {
	struct bt_arena arena;
};

/* Gates that change the language. */
enum bt_cel_feature {
	BT_CEL_CONSUMABLE_CAPACITY = 1, /* DRAConsumableCapacity: device.allowMultipleAllocations exists */
	BT_CEL_LISTS = 2,		/* attributes may be lists: their type is dyn, not any */
	BT_CEL_INCLUDES = 4,		/* lists have includes() */
	BT_CEL_SHORT_INCLUDES = 8,	/* includes() of an older release: it rejects lists
					 * that no attribute may have */
	BT_CEL_DERIVES = 16		/* the result is an attribute's value instead of whether it matches */
};

/*
 * Compiles an expression that must evaluate to bool, or with BT_CEL_DERIVES to a scalar or a list of scalars
 * that attributes have. features is a set of bt_cel_feature.
 * Context : any thread; allocates.
 * Returns : the compiled expression, immutable; or NULL, and the error as upstream words it in *error.
 * Owns    : the caller destroys it with bt_cel_destroy; the text is not needed afterwards.
 */
struct bt_cel *bt_cel_compile(struct bt_str expression, unsigned features, struct bt_buf *error);

/* NULL is fine. */
void bt_cel_destroy(struct bt_cel *cel);

/*
 * Does the device match? The result depends on the arguments alone; cost, depth and memory are bounded.
 * Context : any thread, with its own scratch; allocates only to grow scratch, and to write an error.
 * Returns : BT_CEL_ERROR with the error as cel-go words it appended to *error, such as "no such key: x".
 */
enum bt_cel_result bt_cel_match(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error) BT_MUST_CHECK;

/*
 * The value that an expression compiled with BT_CEL_DERIVES has for the device, evaluated as by bt_cel_match.
 * Returns : BT_CEL_TRUE with kind and value of *out set, which view device, scratch and expression; an empty
 *           list is one of strings. BT_CEL_ERROR as bt_cel_match.
 */
enum bt_cel_result bt_cel_derive(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error, struct bt_cel_attribute *out) BT_MUST_CHECK;

void bt_cel_scratch_fini(struct bt_cel_scratch *scratch);

/* Like bt_cel_match, and sets *out_cost, also on errors. */
enum bt_cel_result bt_cel_match_cost(const struct bt_cel *cel, const struct bt_cel_device *device,
	struct bt_cel_scratch *scratch, struct bt_buf *error, uint64_t *out_cost) BT_MUST_CHECK;

/*
 * Splits the qualified name of an attribute or capacity at its first '/'. Without '/'
 * the domain is the driver.
 * Context: any thread; no allocation.
 */
void bt_cel_split_name(
	struct bt_str qualified, struct bt_str driver, struct bt_str *out_domain, struct bt_str *out_name);

/*
 * Parses MAJOR.MINOR.PATCH with optional -PRE and +BUILD, strictly.
 * Context : any thread; allocates only to write an error.
 * Returns : false with upstream's words appended to *error; error may be NULL.
 */
bool bt_cel_semver_parse(struct bt_str text, struct bt_cel_semver *out_version, struct bt_buf *error);

/* Returns a negative number, 0 or a positive number for a < b, a == b, a > b. Ignores builds. */
int bt_cel_semver_cmp(const struct bt_cel_semver *a, const struct bt_cel_semver *b);
