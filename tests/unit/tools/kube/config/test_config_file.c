/* SPDX-License-Identifier: Apache-2.0
 * The configuration of a command line: the release, its gates, the file, and errors of wrong ones.
 */
#include "command_line.h"
#include "folder.h"

#include "caught.h"
#include "engine/model/release.h"
#include "tools/kube/config/config_file.h"

#define YAML "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static void begin(struct command_line *line, const char *words)
{
	assert_int_equal(command_line_parse(line, "simulate", words), BT_PARSE_RUN);
}

/* A line with the file of that name behind --config. */
static void begin_with_file(struct command_line *line, const char *name, const char *text)
{
	char words[512];

	snprintf(words, sizeof(words), "--config %s", text ? write_text(name, text) : path_of(name));
	begin(line, words);
}

static void expect_said(const char *words)
{
	const char *said = caught_end();

	if (!strstr(said, words)) {
		fail_msg("no '%s' in %s", words, said);
	}
}

/* Reads the configuration. Returns: the exit code. */
static int read_config(const struct command_line *line, struct bt_config *out_config)
{
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	return bt_configuration_read(&line->invocation, &gates, out_config);
}

/* ---- releases and gates ---- */

static void a_release_is_found_by_its_minor_version(void **state)
{
	const struct bt_release *release;
	struct command_line line;

	(void)state;
	begin(&line, "--kubernetes-version v1.36");
	assert_int_equal(bt_configuration_release(&line.invocation, &release), BT_EXIT_OK);
	assert_string_equal(release->name, "1.36");
	bt_invocation_fini(&line.invocation);
	begin(&line, "");
	assert_int_equal(bt_configuration_release(&line.invocation, &release), BT_EXIT_OK);
	assert_ptr_equal(release, bt_release_default());
	bt_invocation_fini(&line.invocation);
}

static void an_unknown_release_is_answered_by_the_known_ones(void **state)
{
	const struct bt_release *release;
	struct bt_buf known = {0};
	struct command_line line;

	(void)state;
	begin(&line, "--kubernetes-version 1.20");
	caught_begin();
	assert_int_equal(bt_configuration_release(&line.invocation, &release), BT_EXIT_USAGE);
	bt_buf_text(&known, "--kubernetes-version: '1.20' is not supported; use ");
	bt_release_list(&known);
	expect_said(known.ptr);
	bt_buf_fini(&known);
	bt_invocation_fini(&line.invocation);
}

static void the_last_word_on_a_gate_counts_with_or_without_its_component(void **state)
{
	struct command_line line;
	struct bt_gates gates;

	(void)state;
	begin(&line, "--feature-gates AllAlpha=false,kube:GenericWorkload=true --feature-gates "
		     "GenericWorkload=false --feature-gates kube:GenericWorkload=true");
	assert_int_equal(bt_configuration_gates(&line.invocation, &gates), BT_EXIT_OK);
	assert_true(gates.on[BT_GATE_GENERIC_WORKLOAD]);
	bt_invocation_fini(&line.invocation);
	begin(&line, "");
	assert_int_equal(bt_configuration_gates(&line.invocation, &gates), BT_EXIT_OK);
	assert_false(gates.on[BT_GATE_GENERIC_WORKLOAD]);
	bt_invocation_fini(&line.invocation);
}

static void a_misspelt_gate_is_answered_by_the_nearest(void **state)
{
	struct command_line line;
	struct bt_gates gates;

	(void)state;
	begin(&line, "--feature-gates GenericWorklaod=true");
	caught_begin();
	assert_int_equal(bt_configuration_gates(&line.invocation, &gates), BT_EXIT_USAGE);
	expect_said(
		"--feature-gates: unrecognized feature gate: GenericWorklaod; did you mean GenericWorkload?");
	bt_invocation_fini(&line.invocation);
}

static void an_unknown_gate_is_reported_as_unknown_to_every_release(void **state)
{
	struct command_line line;
	struct bt_gates gates;
	char words[128];

	(void)state;
	begin(&line, "--feature-gates Xyzzy=true --kubernetes-version 1.36");
	caught_begin();
	assert_int_equal(bt_configuration_gates(&line.invocation, &gates), BT_EXIT_USAGE);
	snprintf(words, sizeof(words), "unrecognized feature gate: Xyzzy; kube-scheduler v1.36 has none of");
	expect_said(words);
	bt_invocation_fini(&line.invocation);
}

static void a_later_gate_is_reported_with_its_release(void **state)
{
	static const struct {
		const char *arguments, *words;
	} cases[] = {
		{"--feature-gates SecurityProfileOCI=true", "unrecognized feature gate: SecurityProfileOCI; "
							    "Kubernetes 1.38 brings it, and is not "
							    "supported yet: leave the gate out"},
		{"--feature-gates CompositePodGroup=true --kubernetes-version 1.35",
			"unrecognized feature gate: CompositePodGroup; Kubernetes 1.37 brings it"},
	};
	struct command_line line;
	struct bt_gates gates;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&line, cases[i].arguments);
		caught_begin();
		assert_int_equal(bt_configuration_gates(&line.invocation, &gates), BT_EXIT_USAGE);
		expect_said(cases[i].words);
		bt_invocation_fini(&line.invocation);
	}
}

static void gates_of_another_release_are_unknown_to_one_that_lacks_them(void **state)
{
	struct bt_buf error = {0};
	struct command_line line;
	struct bt_gates gates;

	(void)state;
	begin(&line, "--feature-gates InPlacePodVerticalScalingSchedulerPreemption=true");
	assert_true(bt_configuration_try_gates(
		&line.invocation, "feature-gates", bt_release_find(bt_str("1.37")), &gates, &error));
	assert_false(bt_configuration_try_gates(
		&line.invocation, "feature-gates", bt_release_find(bt_str("1.35")), &gates, &error));
	assert_non_null(strstr(error.ptr, "InPlacePodVerticalScalingSchedulerPreemption"));
	bt_buf_fini(&error);
	bt_invocation_fini(&line.invocation);
}

/* ---- the file ---- */

static void without_a_file_the_defaults_count(void **state)
{
	struct command_line line;
	struct bt_config config;

	(void)state;
	begin(&line, "");
	assert_int_equal(read_config(&line, &config), BT_EXIT_OK);
	assert_int_equal(config.profile_n, 1);
	assert_true(bt_str_is(config.profiles[0].scheduler_name, "default-scheduler"));
	bt_config_fini(&config);
	bt_invocation_fini(&line.invocation);
}

static void a_file_s_values_count(void **state)
{
	struct command_line line;
	struct bt_config config;

	(void)state;
	begin_with_file(&line, "c.yaml", YAML "parallelism: 3\nprofiles:\n- schedulerName: mine\n");
	assert_int_equal(read_config(&line, &config), BT_EXIT_OK);
	assert_int_equal(config.parallelism.value, 3);
	assert_true(bt_str_is(config.profiles[0].scheduler_name, "mine"));
	bt_config_fini(&config);
	bt_invocation_fini(&line.invocation);
}

/* It is refused, with these words, and can be freed all the same. */
static void expect_refused(const struct command_line *line, const char *words)
{
	struct bt_config config;

	caught_begin();
	assert_int_equal(read_config(line, &config), BT_EXIT_INPUT);
	expect_said(words);
	bt_config_fini(&config);
}

static void a_wrong_file_is_named_with_the_remedy(void **state)
{
	struct command_line line;

	(void)state;
	begin_with_file(&line, "c.yaml", YAML "parallelism: none\n");
	expect_refused(&line, "c.yaml:3: json: cannot unmarshal string");
	expect_refused(&line, "\nCorrect the file, or leave out --config for kube-scheduler's defaults.\n");
	bt_invocation_fini(&line.invocation);
}

static void only_a_missing_plugin_is_reported_as_not_loaded(void **state)
{
	struct command_line line;

	(void)state;
	begin_with_file(&line, "c.yaml", YAML "profiles:\n- plugins: {score: {enabled: [{name: Nope}]}}\n");
	expect_refused(&line, "has to be loaded: --plugin FILE.so.\n");
	bt_invocation_fini(&line.invocation);
	begin_with_file(&line, "c.yaml", YAML "parallelism: 0\n");
	struct bt_config config;
	caught_begin();
	assert_int_equal(read_config(&line, &config), BT_EXIT_INPUT);
	assert_null(strstr(caught_end(), "--plugin"));
	bt_config_fini(&config);
	bt_invocation_fini(&line.invocation);
}

static void a_directory_and_a_missing_file_are_no_configuration(void **state)
{
	struct bt_buf text = {0};
	struct command_line line;

	(void)state;
	begin_with_file(&line, "", NULL);
	expect_refused(&line, "this is a directory; --config takes one file\n");
	caught_begin();
	assert_int_equal(bt_configuration_text(&line.invocation, &text), BT_EXIT_INPUT);
	caught_end();
	bt_buf_fini(&text);
	bt_invocation_fini(&line.invocation);
	begin_with_file(&line, "missing.yaml", NULL);
	expect_refused(&line, "missing.yaml: cannot open it: No such file or directory");
	bt_invocation_fini(&line.invocation);
}

static void a_plugin_that_cannot_be_loaded_ends_the_reading(void **state)
{
	struct command_line line;

	(void)state;
	begin(&line, "--plugin /nowhere.so");
	expect_refused(&line, "berth simulate: --plugin /nowhere.so: No such file or directory\n");
	bt_invocation_fini(&line.invocation);
}

static void written_text_reads_back_equal(void **state)
{
	struct command_line line;
	struct bt_config config;
	char words[300];

	(void)state;
	begin_with_file(&line, "c.yaml", YAML "parallelism: 3\npercentageOfNodesToScore: 40\n");
	assert_int_equal(read_config(&line, &config), BT_EXIT_OK);
	assert_int_equal(bt_configuration_write(&config, path_of("effective.json")), BT_EXIT_OK);
	bt_config_fini(&config);
	bt_invocation_fini(&line.invocation);
	snprintf(words, sizeof(words), "--config %s", path_of("effective.json"));
	begin(&line, words);
	assert_int_equal(read_config(&line, &config), BT_EXIT_OK);
	assert_int_equal(config.parallelism.value, 3);
	assert_int_equal(config.percentage_of_nodes_to_score.value, 40);
	bt_config_fini(&config);
	bt_invocation_fini(&line.invocation);
}

static void errors_without_a_file_are_attributed_to_the_gates(void **state)
{
	struct bt_config_errors errors = {0};
	struct command_line line;

	(void)state;
	begin(&line, "");
	caught_begin();
	assert_int_equal(bt_configuration_refused(&line.invocation, &errors), BT_EXIT_INPUT);
	expect_said("berth simulate: --feature-gates: ");
	bt_invocation_fini(&line.invocation);
}

static void sampling_options_do_what_the_help_says(void **state)
{
	(void)state;
	assert_int_equal(bt_configuration_sampling("all"), BT_SAMPLING_NONE);
	assert_int_equal(bt_configuration_sampling("upstream"), BT_SAMPLING_UPSTREAM);
	assert_int_equal(bt_configuration_sampling("configured"), BT_SAMPLING_AS_CONFIGURED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_release_is_found_by_its_minor_version),
		cmocka_unit_test(an_unknown_release_is_answered_by_the_known_ones),
		cmocka_unit_test(the_last_word_on_a_gate_counts_with_or_without_its_component),
		cmocka_unit_test(a_misspelt_gate_is_answered_by_the_nearest),
		cmocka_unit_test(an_unknown_gate_is_reported_as_unknown_to_every_release),
		cmocka_unit_test(a_later_gate_is_reported_with_its_release),
		cmocka_unit_test(gates_of_another_release_are_unknown_to_one_that_lacks_them),
		cmocka_unit_test(without_a_file_the_defaults_count),
		cmocka_unit_test(a_file_s_values_count),
		cmocka_unit_test(a_wrong_file_is_named_with_the_remedy),
		cmocka_unit_test(only_a_missing_plugin_is_reported_as_not_loaded),
		cmocka_unit_test(a_directory_and_a_missing_file_are_no_configuration),
		cmocka_unit_test(a_plugin_that_cannot_be_loaded_ends_the_reading),
		cmocka_unit_test(written_text_reads_back_equal),
		cmocka_unit_test(errors_without_a_file_are_attributed_to_the_gates),
		cmocka_unit_test(sampling_options_do_what_the_help_says),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
