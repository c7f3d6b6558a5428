/* SPDX-License-Identifier: Apache-2.0
 * The volume of an ID, and the errors of invalid ones: results of KubernetesVolumeIDToEBSVolumeID, v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/model/ebs_id.h"
#include "seed.h"

struct row {
	const char *id, *text;
};

static void check(const struct row *rows, size_t n, bool names)
{
	for (size_t i = 0; i < n; i++) {
		struct bt_buf out = {0};

		assert_int_equal(bt_ebs_volume(bt_str(rows[i].id), &out), names);
		bt_buf_char(&out, 0);
		assert_string_equal(out.ptr, rows[i].text);
		bt_buf_fini(&out);
	}
}

#define CHECK(rows, names) check(rows, sizeof(rows) / sizeof((rows)[0]), names)

static void an_id_without_the_scheme_is_the_volume(void **state)
{
	static const struct row rows[] = {
		{"vol-1", "vol-1"},
		{"", ""},
		{"anything / at %zz all", "anything / at %zz all"},
		{"AWS:///vol-1", "AWS:///vol-1"},
		{"aws:/vol-1", "aws:/vol-1"},
	};

	(void)state;
	CHECK(rows, true);
}

static void a_url_names_the_volume_by_its_path(void **state)
{
	static const struct row rows[] = {
		{"aws://us-a1-a/vol-1", "vol-1"},
		{"aws:///vol-1", "vol-1"},
		{"aws:////vol-1//", "vol-1"},
		{"aws:///vol-", "vol-"},
		{"aws:///%76ol-1%2f", "vol-1"},
		{"aws:///vol-1?x=%zz", "vol-1"},
		{"aws:///vol-1#%41", "vol-1"},
		{"aws:///vol-1 \"<>\xc3\xa9", "vol-1 \"<>\xc3\xa9"},
		{"aws://u:p@h:80/vol-1", "vol-1"},
		{"aws://a:b:80/vol-1", "vol-1"},
		{"aws://%e9%25]<>/vol-1", "vol-1"},
		{"aws://[::1]:80/vol-1", "vol-1"},
		{"aws://[fe80::1%25en0]/vol-1", "vol-1"},
	};

	(void)state;
	CHECK(rows, true);
}

static void a_path_that_is_no_volume_is_refused(void **state)
{
	static const struct row rows[] = {
		{"aws://", "Invalid format for AWS volume (aws://)"},
		{"aws://vol-1", "Invalid format for AWS volume (aws://vol-1)"},
		{"aws:///odd", "Invalid format for AWS volume (aws:///odd)"},
		{"aws:///a/vol-1", "Invalid format for AWS volume (aws:///a/vol-1)"},
		{"aws:///vol-1%2fx", "Invalid format for AWS volume (aws:///vol-1%2fx)"},
	};

	(void)state;
	CHECK(rows, false);
}

#define DISK(id, url, why)                                                                                   \
	{                                                                                                    \
		id, "Invalid disk name (" id "): parse \"" url "\": " why                                    \
	}
#define SAME(id, why) DISK(id, id, why)

static void invalid_urls_are_rejected_with_gos_texts(void **state)
{
	static const struct row rows[] = {
		SAME("aws:///vol-%zz", "invalid URL escape \"%zz\""),
		SAME("aws:///vol-%4", "invalid URL escape \"%4\""),
		SAME("aws://a b/vol-1", "invalid character \" \" in host name"),
		DISK("aws://a\\b/vol-1", "aws://a\\\\b/vol-1", "invalid character \"\\\\\" in host name"),
		SAME("aws://%41/vol-1", "invalid URL escape \"%41\""),
		SAME("aws://h:port/vol-1", "invalid port \":port\" after host"),
		SAME("aws://u^@h/vol-1", "net/url: invalid userinfo"),
		SAME("aws://u%4:1@h/vol-1", "invalid URL escape \"%4\""),
		SAME("aws://a[x/vol-1", "invalid IP-literal"),
		SAME("aws://[x/vol-1", "missing ']' in host"),
		SAME("aws://[::1]x/vol-1", "invalid port \"x\" after host"),
		SAME("aws://[x]/vol-1", "invalid host: ParseAddr(\"x\"): unable to parse IP"),
		DISK("aws:///vol-1\n", "aws:///vol-1\\n", "net/url: invalid control character in URL"),
		/* The fragment is quoted only if it is invalid. */
		DISK("aws:///vol-%zz#f", "aws:///vol-%zz", "invalid URL escape \"%zz\""),
		SAME("aws:///vol-1#%zz", "invalid URL escape \"%zz\""),
	};

	(void)state;
	CHECK(rows, false);
}

/* Any bytes give a result: the ID, a text with it, or a part of its path. */
static void any_bytes_get_an_answer(void **state)
{
	static const char pool[] = "aws://%4zZ2f[]@:?#vol-1 .\\\"\n\xc3\xa9\xff";
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char id[40] = "aws://";
		size_t n = bt_rng_below(&rng, 4) ? 6 : 0;
		size_t end = n + bt_rng_below(&rng, (uint32_t)(sizeof(id) - n));
		struct bt_buf out = {0};

		while (n < end) {
			id[n++] = pool[bt_rng_below(&rng, sizeof(pool))];
		}
		bool names = bt_ebs_volume((struct bt_str){id, n}, &out);
		assert_true(names ? out.len <= n : out.len > n);
		bt_buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_without_the_scheme_is_the_volume),
		cmocka_unit_test(a_url_names_the_volume_by_its_path),
		cmocka_unit_test(a_path_that_is_no_volume_is_refused),
		cmocka_unit_test(invalid_urls_are_rejected_with_gos_texts),
		cmocka_unit_test(any_bytes_get_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
