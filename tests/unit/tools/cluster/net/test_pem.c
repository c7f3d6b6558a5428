/* SPDX-License-Identifier: Apache-2.0
 * Bundles of certificates: what counts, what is skipped, and what is counted as broken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pki.h"
#include "tools/cluster/net/pem.h"

#define BROKEN "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"

static struct pki_pair one, other;

static int make_world(void **state)
{
	(void)state;
	pki_make(&one, NULL, "one", NULL);
	pki_make(&other, NULL, "other", NULL);
	return 0;
}

static int end_world(void **state)
{
	(void)state;
	pki_fini(&one);
	pki_fini(&other);
	return 0;
}

/* What is read of the text is one's certificate, then other's, as often. */
static void expect(const struct bt_buf *text, uint32_t one_n, uint32_t other_n, uint32_t broken_n)
{
	struct bt_buf want = {0}, got = {0};
	uint32_t broken;

	bt_buf_text(&want, "");
	bt_buf_text(&got, "");
	for (uint32_t i = 0; i < one_n + other_n; i++) {
		bt_buf_str(&want, bt_buf_view(i < one_n ? &one.certificate_pem : &other.certificate_pem));
	}
	assert_int_equal(bt_pem_certificates(bt_buf_view(text), &got, &broken), one_n + other_n);
	assert_int_equal(broken, broken_n);
	assert_string_equal(got.ptr, want.ptr);
	bt_buf_fini(&want);
	bt_buf_fini(&got);
}

static void certificates_are_read_in_their_order(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	bt_buf_str(&text, bt_buf_view(&one.certificate_pem));
	bt_buf_str(&text, bt_buf_view(&other.certificate_pem));
	expect(&text, 1, 1, 0);
	bt_buf_fini(&text);
}

static void text_and_blocks_of_other_types_are_skipped(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	bt_buf_text(&text, "# a comment\n");
	bt_buf_str(&text, bt_buf_view(&one.key_pem));
	bt_buf_str(&text, bt_buf_view(&one.certificate_pem));
	bt_buf_text(&text, "-----BEGIN SOMETHING-----\naGVsbG8=\n-----END SOMETHING-----\nmore text\n");
	bt_buf_str(&text, bt_buf_view(&other.certificate_pem));
	bt_buf_text(&text, "the end");
	expect(&text, 1, 1, 0);
	bt_buf_fini(&text);
}

static void a_broken_block_does_not_end_the_bundle(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	bt_buf_text(&text, BROKEN);
	bt_buf_str(&text, bt_buf_view(&one.certificate_pem));
	bt_buf_text(&text, BROKEN);
	bt_buf_str(&text, bt_buf_view(&other.certificate_pem));
	expect(&text, 1, 1, 2);
	bt_buf_fini(&text);
}

static void a_text_without_certificates_has_none(void **state)
{
	static const char *const texts[] = {
		"", "garbage", "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bt_buf text = {0};

		bt_buf_text(&text, texts[i]);
		expect(&text, 0, 0, 0);
		bt_buf_fini(&text);
	}
}

static void a_store_gets_each_certificate_once(void **state)
{
	X509_STORE *store = X509_STORE_new();
	struct bt_buf text = {0};
	uint32_t broken;

	(void)state;
	bt_buf_str(&text, bt_buf_view(&one.certificate_pem));
	bt_buf_text(&text, BROKEN);
	bt_buf_str(&text, bt_buf_view(&one.certificate_pem));
	bt_buf_str(&text, bt_buf_view(&other.certificate_pem));
	assert_int_equal(bt_pem_trust(bt_buf_view(&text), store, &broken), 3);
	assert_int_equal(broken, 1);
	STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
	assert_int_equal(sk_X509_OBJECT_num(objects), 2);
	X509_STORE_free(store);
	bt_buf_fini(&text);
}

static void no_password_is_given(void **state)
{
	char room[8] = "x";

	(void)state;
	assert_int_equal(bt_pem_no_password(room, sizeof(room), 0, NULL), 0);
	assert_string_equal(room, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(certificates_are_read_in_their_order),
		cmocka_unit_test(text_and_blocks_of_other_types_are_skipped),
		cmocka_unit_test(a_broken_block_does_not_end_the_bundle),
		cmocka_unit_test(a_text_without_certificates_has_none),
		cmocka_unit_test(a_store_gets_each_certificate_once),
		cmocka_unit_test(no_password_is_given),
	};

	return cmocka_run_group_tests(tests, make_world, end_world);
}
