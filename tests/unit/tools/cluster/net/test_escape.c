/* SPDX-License-Identifier: Apache-2.0
 * Escaping in URLs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/cluster/net/escape.h"

static void expect(struct bt_str text, const char *escaped)
{
	struct bt_buf out = {0};

	bt_escape(&out, text);
	assert_int_equal(out.len, strlen(escaped));
	if (out.len) {
		assert_memory_equal(out.ptr, escaped, out.len);
	}
	bt_buf_fini(&out);
}

static void names_stay_as_they_are(void **state)
{
	(void)state;
	expect(bt_str(""), "");
	expect(bt_str("kube-system"), "kube-system");
	expect(bt_str("system:node.a_b~9Z"), "system:node.a_b~9Z");
}

static void reserved_characters_of_urls_are_escaped(void **state)
{
	(void)state;
	expect(bt_str("a/b?c&d=e#f"), "a%2Fb%3Fc%26d%3De%23f");
	expect(bt_str("../x y%+"), "..%2Fx%20y%25%2B");
	expect((struct bt_str){"\0\n\xff", 3}, "%00%0A%FF");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stay_as_they_are),
		cmocka_unit_test(reserved_characters_of_urls_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
