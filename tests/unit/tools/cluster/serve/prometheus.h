/* SPDX-License-Identifier: Apache-2.0
 * A strict parser of Prometheus' text format: any violation fails the test. Families and samples can be
 * looked up afterwards.
 */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"

#define PROMETHEUS_FAMILIES 256
#define PROMETHEUS_SAMPLES  8192

struct prometheus_family {
	char name[128], type[16];
};

struct prometheus_sample {
	const char *family;
	char key[512]; /* name and labels, as written */
	double value;
};

struct prometheus {
	struct prometheus_family families[PROMETHEUS_FAMILIES];
	size_t family_n;
	struct prometheus_sample samples[PROMETHEUS_SAMPLES];
	size_t sample_n;
};

static inline bool prometheus_is_name(const char *text, size_t n, bool colons)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');

		if (!letter && !(i > 0 && c >= '0' && c <= '9')) {
			return false;
		}
	}
	return n > 0;
}

/* Parses {a="b",...}; returns the rest. */
static inline const char *prometheus_labels(const char *at)
{
	assert_int_equal(*at++, '{');
	while (*at != '}') {
		size_t n = strcspn(at, "=");

		assert_true(prometheus_is_name(at, n, false));
		at += n + 1;
		assert_int_equal(*at++, '"');
		for (; *at != '"'; at++) {
			assert_int_not_equal(*at, 0);
			assert_int_not_equal(*at, '\n');
			if (*at == '\\') {
				at++;
				assert_true(*at == '\\' || *at == '"' || *at == 'n');
			}
		}
		at++;
		assert_true(*at == ',' || *at == '}');
		at += *at == ',';
	}
	return at + 1;
}

static inline double prometheus_number(const char *text)
{
	char *end;

	if (strcmp(text, "+Inf") == 0) {
		return INFINITY;
	}
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value)) {
		fail_msg("no number: %s", text);
	}
	return value;
}

static inline void prometheus_add_sample(struct prometheus *p, const char *line)
{
	const struct prometheus_family *family = &p->families[p->family_n - 1];
	size_t name_n = strcspn(line, "{ "), family_n = strlen(family->name);
	const char *suffix = line + family_n, *behind = line + name_n;

	assert_true(p->family_n > 0);
	assert_true(prometheus_is_name(line, name_n, true));
	assert_true(name_n >= family_n && strncmp(line, family->name, family_n) == 0);
	if (strcmp(family->type, "histogram") == 0) {
		size_t n = name_n - family_n;

		assert_true((n == 7 && strncmp(suffix, "_bucket", n) == 0) ||
			    (n == 4 && strncmp(suffix, "_sum", n) == 0) ||
			    (n == 6 && strncmp(suffix, "_count", n) == 0));
	} else {
		assert_int_equal(name_n, family_n);
	}
	if (*behind == '{') {
		behind = prometheus_labels(behind);
	}
	assert_int_equal(*behind, ' ');
	assert_true(p->sample_n < PROMETHEUS_SAMPLES);
	struct prometheus_sample *sample = &p->samples[p->sample_n];

	assert_true((size_t)(behind - line) < sizeof(sample->key));
	snprintf(sample->key, sizeof(sample->key), "%.*s", (int)(behind - line), line);
	sample->family = family->name;
	sample->value = prometheus_number(behind + 1);
	for (size_t i = 0; i < p->sample_n; i++) {
		if (strcmp(p->samples[i].key, sample->key) == 0) {
			fail_msg("twice: %s", sample->key);
		}
	}
	assert_true(strcmp(family->type, "counter") != 0 || sample->value >= 0);
	p->sample_n++;
}

/* A HELP line, and the TYPE line after it. */
static inline const char *prometheus_add_family(struct prometheus *p, const char *line)
{
	struct prometheus_family *family = &p->families[p->family_n];
	char again[128];
	int n = 0;

	assert_true(p->family_n < PROMETHEUS_FAMILIES);
	assert_int_equal(sscanf(line, "# HELP %127s %n", family->name, &n), 1);
	assert_true(n > 0 && line[n] && line[n] != '\n');
	line = strchr(line, '\n');
	assert_non_null(line);
	assert_int_equal(sscanf(line + 1, "# TYPE %127s %15s", again, family->type), 2);
	assert_string_equal(again, family->name);
	assert_true(strcmp(family->type, "counter") == 0 || strcmp(family->type, "gauge") == 0 ||
		    strcmp(family->type, "histogram") == 0);
	for (size_t i = 0; i < p->family_n; i++) {
		assert_string_not_equal(p->families[i].name, family->name);
	}
	p->family_n++;
	return strchr(line + 1, '\n');
}

static inline const struct prometheus_sample *prometheus_find(const struct prometheus *p, const char *key)
{
	for (size_t i = 0; i < p->sample_n; i++) {
		if (strcmp(p->samples[i].key, key) == 0) {
			return &p->samples[i];
		}
	}
	return NULL;
}

static inline double prometheus_value(const struct prometheus *p, const char *key)
{
	const struct prometheus_sample *sample = prometheus_find(p, key);

	if (!sample) {
		fail_msg("there is no %s", key);
	}
	return sample->value;
}

static inline const char *prometheus_type(const struct prometheus *p, const char *name)
{
	for (size_t i = 0; i < p->family_n; i++) {
		if (strcmp(p->families[i].name, name) == 0) {
			return p->families[i].type;
		}
	}
	return "";
}

/* Buckets ascend, are cumulative, end with +Inf, and are followed by sum and count. */
static inline void prometheus_check_histograms(const struct prometheus *p)
{
	double before = 0, bound = -INFINITY;

	for (size_t i = 0; i < p->sample_n; i++) {
		const char *key = p->samples[i].key, *le = strrchr(key, '=');

		if (strcmp(prometheus_type(p, p->samples[i].family), "histogram") != 0 ||
			!strstr(key, "_bucket{")) {
			continue;
		}
		assert_true(le && le - key > 3 && strncmp(le - 2, "le=\"", 4) == 0); /* the last label */
		char text[64];

		snprintf(text, sizeof(text), "%.*s", (int)strcspn(le + 2, "\""), le + 2);
		double at = prometheus_number(text);

		assert_true(at > bound);
		assert_true(p->samples[i].value >= before);
		bound = at;
		before = p->samples[i].value;
		if (isinf(at)) {
			assert_true(i + 2 < p->sample_n);
			assert_non_null(strstr(p->samples[i + 1].key, "_sum"));
			assert_non_null(strstr(p->samples[i + 2].key, "_count"));
			assert_true(p->samples[i + 2].value == before);
			before = 0;
			bound = -INFINITY;
		}
	}
	assert_true(isinf(bound) && bound < 0);
}

/* Owns: free() the result. */
static inline struct prometheus *prometheus_parse(const struct bt_buf *text)
{
	struct prometheus *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_true(text->len > 0 && text->ptr[text->len - 1] == '\n');
	for (const char *line = text->ptr; *line;) {
		const char *end = strchr(line, '\n');
		char copy[1024];

		assert_non_null(end);
		if (*line == '#') {
			line = prometheus_add_family(p, line) + 1;
			continue;
		}
		assert_true((size_t)(end - line) < sizeof(copy));
		snprintf(copy, sizeof(copy), "%.*s", (int)(end - line), line);
		prometheus_add_sample(p, copy);
		line = end + 1;
	}
	prometheus_check_histograms(p);
	return p;
}
