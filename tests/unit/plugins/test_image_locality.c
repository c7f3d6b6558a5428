/* SPDX-License-Identifier: Apache-2.0
 * ImageLocality, with kube-scheduler's numbers.
 */
#include "plugins/image_locality/image_locality.h"
#include "plugin_fixture.h"

#define PLUGIN (&bt_plugin_image_locality)

/* Image volumes are ignored. */
static const struct bt_image_locality_settings nothing = {.volumes_score = false},
					       images = {.volumes_score = true},
					       images_as_containers = {
						       .volumes_score = true, .volumes_raise_top = true};

static void add_empty_nodes(struct fixture *f, int n)
{
	char metadata[32];

	for (int i = 0; i < n; i++) {
		snprintf(metadata, sizeof(metadata), "name: empty-%d", i);
		fixture_node(f, metadata, "", "");
	}
}

static void an_image_counts_by_size_and_spread(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "", "images: [{names: ['app:1'], sizeBytes: 524288000}]");

	add_empty_nodes(f, 3);
	struct subject subject =
		compile_pod(f, PLUGIN, &images_as_containers, "containers: [{name: a, image: 'app:1'}]");
	assert_int_equal(score(&subject, n), 10);
	assert_int_equal(score(&subject, n + 1), 0);
}

static void containers_share_the_limit(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "", "images: [{names: ['app:1'], sizeBytes: 1048576000}]");

	fixture_node(f, "name: n2", "", "images: [{names: ['app:1'], sizeBytes: 1048576000}]");
	add_empty_nodes(f, 1);
	struct subject subject = compile_pod(f, PLUGIN, &images_as_containers,
		"containers: [{name: a, image: 'app:1'}, {name: b, image: 'other:1'}]");
	assert_int_equal(score(&subject, n), 32);
}

static void names_without_a_tag_are_the_latest(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "",
		"images: [{names: ['reg:5000/app:latest', 'db@sha256:12'], sizeBytes: 1048576000}]");
	struct subject subject = compile_pod(
		f, PLUGIN, &images_as_containers, "containers: [{name: a, image: 'reg:5000/app'}]");

	assert_int_equal(score(&subject, n), 100);
	subject = compile_pod(
		f, PLUGIN, &images_as_containers, "containers: [{name: a, image: 'db@sha256:12'}]");
	assert_int_equal(score(&subject, n), 100);
	subject = compile_pod(
		f, PLUGIN, &images_as_containers, "containers: [{name: a, image: 'reg:5000/app:1'}]");
	assert_int_equal(score(&subject, n), 0);
}

static void image_volumes_count_by_release(void **state)
{
	struct fixture *f = *state;
	static const char spec[] = "containers: [{name: a, image: 'other:1'}], "
				   "volumes: [{name: v, image: {reference: 'data'}}]";
	uint32_t n =
		fixture_node(f, "name: n1", "", "images: [{names: ['data:latest'], sizeBytes: 524288000}]");
	struct subject subject = compile_pod(f, PLUGIN, &nothing, spec);

	assert_int_equal(score(&subject, n), 0);
	subject = compile_pod(f, PLUGIN, &images, spec);
	assert_int_equal(score(&subject, n), 48);
	subject = compile_pod(f, PLUGIN, &images_as_containers, spec);
	assert_int_equal(score(&subject, n), 24);
}

static void small_images_count_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1", "", "images: [{names: ['app:1'], sizeBytes: 24117248}]");
	struct subject subject =
		compile_pod(f, PLUGIN, &images_as_containers, "containers: [{name: a, image: 'app:1'}]");

	assert_int_equal(score(&subject, n), 0);
}

/* Several images on many nodes: any range gives each node the score that it gets alone. */
static void a_range_scores_as_its_nodes_do_alone(void **state)
{
	struct fixture *f = *state;
	int64_t raw[200];
	uint32_t distinct = 0, first = UINT32_MAX;

	for (uint32_t i = 0; i < 200; i++) {
		char metadata[32], status[160];

		snprintf(metadata, sizeof(metadata), "name: n-%u", i);
		snprintf(status, sizeof(status), "images: [{names: ['a:1'], sizeBytes: 900000000}%s%s]",
			i % 3 ? "" : ", {names: ['b:1'], sizeBytes: 700000000}",
			i % 5 ? "" : ", {names: ['c:1'], sizeBytes: 300000000}");
		uint32_t node = fixture_node(f, metadata, "", i % 7 ? status : "");
		first = i ? first : node;
	}
	struct subject subject = compile_pod(f, PLUGIN, &images_as_containers,
		"containers: [{name: a, image: 'a:1'}, {name: b, image: 'b:1'}, {name: c, image: 'c:1'}]");
	for (uint32_t from = 0; from < 200; from += 13) {
		for (uint32_t n = 1; from + n <= 200; n += 29) {
			PLUGIN->score(subject.compiled.term, &f->cache->view, first + from, n, raw);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(raw[i], score(&subject, first + from + i));
				distinct |= 1u << raw[i] % 32;
			}
		}
	}
	assert_true(__builtin_popcount(distinct) >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_image_counts_by_size_and_spread),
		FIXTURE_TEST(containers_share_the_limit),
		FIXTURE_TEST(names_without_a_tag_are_the_latest),
		FIXTURE_TEST(image_volumes_count_by_release),
		FIXTURE_TEST(small_images_count_nothing),
		FIXTURE_TEST(a_range_scores_as_its_nodes_do_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
