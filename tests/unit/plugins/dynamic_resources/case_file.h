/* SPDX-License-Identifier: Apache-2.0
 * Devices and expressions with upstream's results, from a text file. A line is a record with fields separated
 * by tabs; \t \n \r and \\ are escapes:
 *   device NAME DRIVER MULTI      then its  attribute NAME KIND VALUE  and  capacity NAME QUANTITY  lines
 *   language WORDS               of the following cases: lists includes short-includes, as in
 *                                enum bt_cel_feature; initially none
 *   case DEVICE RESULT COST EXPRESSION TEXT
 * A KIND with an s is a list, its values separated by commas.
 * RESULT is true, false, error (without a cost), compile, or syntax: rejected, too, without
 * the text.
 */
#pragma once

#include "plugins/dynamic_resources/cel.h"

#define FIELDS_MAX     6
#define DEVICES_MAX    16
#define ATTRIBUTES_MAX 32

struct case_device {
	struct bt_str name;
	struct bt_cel_device device;
	struct bt_cel_attribute attributes[ATTRIBUTES_MAX];
	struct bt_cel_capacity capacity[ATTRIBUTES_MAX];
};

struct case_file {
	struct bt_arena arena;
	struct bt_str text;
	size_t next;	   /* the next line */
	unsigned language; /* enum bt_cel_feature */
	struct case_device devices[DEVICES_MAX];
	uint32_t device_n;
};

struct cel_case {
	const struct bt_cel_device *device;
	unsigned language;
	struct bt_str result, expression, text;
	uint64_t cost;
};

/* Exits with a message if the file cannot be read. */
void case_file_open(struct case_file *file, const char *path);
void case_file_close(struct case_file *file);

/* The next case; false at the end. */
bool case_file_next(struct case_file *file, struct cel_case *out_case);

/* NULL: no such device. */
const struct bt_cel_device *case_file_device(const struct case_file *file, struct bt_str name);
