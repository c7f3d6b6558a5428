/* SPDX-License-Identifier: Apache-2.0
 * Devices and expressions with upstream's answers, from a text file. A line is a record, its fields separated
 * by tabs, where \t \n \r and \\ stand for themselves:
 *   device NAME DRIVER MULTI      then its  attribute NAME KIND VALUE  and  capacity NAME QUANTITY  lines
 *   language WORDS               of the cases that follow: lists includes short-includes, as in
 *                                enum bt_cel_feature; none at first
 *   case DEVICE RESULT COST EXPRESSION TEXT
 * A KIND with an s is a list, its values between commas.
 * RESULT is true, false, error (its cost is not given), compile, or syntax: refused too, in words that are
 * not given.
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
	size_t next;	   /* the line to read */
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

/* Ends the program with a message when there is no such file. */
void case_file_open(struct case_file *file, const char *path);
void case_file_close(struct case_file *file);

/* The next case; false at the end. */
bool case_file_next(struct case_file *file, struct cel_case *out_case);

/* NULL when there is none of this name. */
const struct bt_cel_device *case_file_device(const struct case_file *file, struct bt_str name);
