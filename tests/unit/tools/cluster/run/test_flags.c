/* SPDX-License-Identifier: Apache-2.0
 * berth run accepts kube-scheduler's command lines with the same meaning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "caught.h"
#include "command_line.h"

#include "tools/cluster/run/flags.h"

/* A parsed command line and its settings. */
struct line {
	struct command_line typed;
	struct bt_run_flags flags;
};

static enum bt_parse parse(struct line *line, const char *words)
{
	line->flags = (struct bt_run_flags){0};
	return command_line_parse(&line->typed, "run", words);
}

/* Settings that do not depend on the release. */
static const struct bt_run_flags *read_flags(struct line *line, const char *words)
{
	assert_int_equal(parse(line, words), BT_PARSE_RUN);
	assert_int_equal(bt_run_flags_read(&line->typed.invocation, &line->flags), BT_EXIT_OK);
	return &line->flags;
}

static const struct bt_run_flags *read_line(struct line *line, const char *words)
{
	read_flags(line, words);
	assert_int_equal(bt_run_flags_settle(&line->flags, bt_release_default()), BT_EXIT_OK);
	return &line->flags;
}

static void drop(struct line *line)
{
	bt_run_flags_fini(&line->flags);
	bt_invocation_fini(&line->typed.invocation);
}

/* The error of a wrong command line on standard error; it must be wrong. */
static const char *diagnostic(const char *words)
{
	struct line line;

	caught_begin();
	if (parse(&line, words) != BT_PARSE_WRONG) {
		int status = bt_run_flags_read(&line.typed.invocation, &line.flags);

		status = status ? status : bt_run_flags_settle(&line.flags, bt_release_default());
		assert_int_equal(status, BT_EXIT_USAGE);
	}
	drop(&line);
	const char *text = caught_end();

	assert_true(*text != 0);
	return text;
}

#define assert_complains(words, part) assert_non_null(strstr(diagnostic(words), (part)))

static void without_flags_the_defaults_are_upstreams_but_for_the_address(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line, "");

	(void)state;
	assert_null(flags->config);
	assert_null(flags->master);
	assert_string_equal(flags->serving.bind_address, "127.0.0.1");
	assert_int_equal(flags->serving.port, 10259);
	assert_false(flags->serving.tls13);
	assert_true(flags->serving.tolerate_lookup_failure);
	assert_false(flags->serving.skip_lookup);
	assert_true(flags->serving.token_ttl_ns == INT64_C(10000000000));
	assert_true(flags->serving.allowed_ttl_ns == INT64_C(10000000000));
	assert_true(flags->serving.refused_ttl_ns == INT64_C(10000000000));
	assert_int_equal(flags->serving.always_allow.n, 3);
	assert_true(bt_str_is(flags->serving.always_allow.items[1], "/readyz"));
	assert_int_equal(flags->log_format, BT_LOG_TEXT);
	assert_int_equal(flags->verbosity, 0);
	assert_int_equal(flags->version, BT_RUN_NO_VERSION);
	assert_false(flags->shadow);
	assert_null(bt_invocation_ignored(&line.typed.invocation, 0));
	drop(&line);
}

/* The static pod of kubeadm. */
static void kubeadms_command_line_is_taken(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line,
		"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf "
		"--authorization-kubeconfig=/etc/kubernetes/scheduler.conf --bind-address=127.0.0.1 "
		"--kubeconfig=/etc/kubernetes/scheduler.conf --leader-elect=true -v=2");
	struct bt_config config;

	(void)state;
	assert_string_equal(flags->authentication_kubeconfig, "/etc/kubernetes/scheduler.conf");
	assert_string_equal(flags->authorization_kubeconfig, "/etc/kubernetes/scheduler.conf");
	assert_int_equal(flags->verbosity, 2);
	bt_config_init_default(&config, &flags->gates);
	assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
	assert_true(bt_str_is(config.client_connection.kubeconfig, "/etc/kubernetes/scheduler.conf"));
	assert_true(config.leader_election.leader_elect.value);
	bt_config_fini(&config);
	drop(&line);
}

static void switches_take_gos_words(void **state)
{
	static const struct {
		const char *words;
		bool on;
	} rows[] = {{"--shadow", true}, {"--shadow=true", true}, {"--shadow=T", true}, {"--shadow=1", true},
		{"--shadow=false", false}, {"--shadow=0", false}, {"--shadow --shadow=False", false}};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(read_line(&line, rows[i].words)->shadow, rows[i].on);
		drop(&line);
	}
	assert_complains("--shadow=yes", "--shadow is true or false, not 'yes'");
	assert_complains("--shadow false", "unexpected argument");
}

static void verbosity_is_written_in_four_ways(void **state)
{
	static const char *const rows[] = {"-v 4", "-v4", "-v=4", "--v=4"};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(read_line(&line, rows[i])->verbosity, 4);
		drop(&line);
	}
	assert_complains("-v=high", "whole number");
}

static void version_may_be_raw(void **state)
{
	struct line line;

	(void)state;
	assert_int_equal(read_line(&line, "--version")->version, BT_RUN_VERSION);
	drop(&line);
	assert_int_equal(read_line(&line, "--version=raw")->version, BT_RUN_VERSION_RAW);
	drop(&line);
	assert_complains("--version=v1.2.3", "one of true|raw");
}

static void election_flags_overrule_a_file_and_client_flags_do_not(void **state)
{
	static const char words[] =
		"--leader-elect=false --leader-elect-lease-duration=1m30s --leader-elect-renew-deadline 20s "
		"--leader-elect-retry-period=500ms --leader-elect-resource-name=berth "
		"--leader-elect-resource-namespace=ns --kube-api-qps=-1 --kube-api-burst=7 --kubeconfig=k";
	struct bt_config config;
	struct line line;
	char with_file[512] = "--config=file ";

	(void)state;
	for (int file = 0; file < 2; file++) {
		read_line(&line, file ? strcat(with_file, words) : words);
		bt_config_init_default(&config, NULL);
		assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
		assert_true(config.leader_election.leader_elect.set);
		assert_false(config.leader_election.leader_elect.value);
		assert_true(config.leader_election.lease_duration_ns == INT64_C(90000000000));
		assert_true(config.leader_election.renew_deadline_ns == INT64_C(20000000000));
		assert_true(config.leader_election.retry_period_ns == INT64_C(500000000));
		assert_true(bt_str_is(config.leader_election.resource_name, "berth"));
		assert_true(bt_str_is(config.leader_election.resource_namespace, "ns"));
		assert_true(bt_str_is(config.client_connection.kubeconfig, file ? "" : "k"));
		assert_true(config.client_connection.qps == (file ? 50.0f : -1.0f));
		assert_int_equal(config.client_connection.burst, file ? 100 : 7);
		bt_config_fini(&config);
		drop(&line);
	}
}

/* In berth run's order: defaults first, as upstream, then flags. */
static void profiling_is_switched_off_by_its_flag_unless_a_file_counts(void **state)
{
	static const char *const words[] = {"--profiling=false --contention-profiling=false",
		"--profiling=false --contention-profiling=false --config=f", "--v=0"};
	struct bt_config config;
	struct line line;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		read_line(&line, words[i]);
		bt_config_init_default(&config, NULL);
		assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
		assert_int_equal(config.enable_profiling.value, i > 0);
		assert_int_equal(config.enable_contention_profiling.value, i > 0);
		bt_config_fini(&config);
		drop(&line);
	}
}

static void flags_that_are_not_given_leave_a_file_as_it_is(void **state)
{
	struct bt_config config;
	struct line line;

	(void)state;
	read_line(&line, "--config=f");
	bt_config_init_default(&config, NULL);
	config.leader_election.leader_elect.value = false;
	config.leader_election.resource_name = bt_str("of the file");
	assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
	assert_false(config.leader_election.leader_elect.value);
	assert_true(bt_str_is(config.leader_election.resource_name, "of the file"));
	bt_config_fini(&config);
	drop(&line);
}

static void gates_may_name_their_component(void **state)
{
	struct line line;
	enum bt_gate hints = bt_gate_find(
		bt_str("SchedulerAsyncPreemption"), bt_release_find(bt_str(BT_RELEASE_DEFAULT_TEXT)));

	(void)state;
	assert_true(hints < BT_GATE_N);
	assert_true(read_line(&line, "")->gates.on[hints]);
	drop(&line);
	assert_false(
		read_line(&line, "--feature-gates=kube:SchedulerAsyncPreemption=false")->gates.on[hints]);
	drop(&line);
	assert_false(read_line(&line, "--feature-gates= --feature-gates SchedulerAsyncPreemption=false")
			     ->gates.on[hints]);
	drop(&line);
	assert_complains("--feature-gates=kube:SchedulerAsyncPreemptio=true",
		"--feature-gates: unrecognized feature gate: SchedulerAsyncPreemptio; did you mean "
		"SchedulerAsyncPreemption?");
	assert_complains("--feature-gates=NoSuchGate=true",
		"unrecognized feature gate: NoSuchGate; kube-scheduler v" BT_RELEASE_DEFAULT_TEXT
		" has none of that name");
}

/* The release that decides with these flags; "": they are rejected. */
static const char *decides(const char *words, const char *binary)
{
	static char text[256];
	struct bt_buf error = {0};
	struct bt_release release;
	struct line line;
	const struct bt_run_flags *flags = read_flags(&line, words);

	if (bt_run_versions_apply(&flags->versions, bt_release_find(bt_str(binary)), &release, &error)) {
		snprintf(text, sizeof(text), "%s by %s with 1.%u", release.name,
			bt_release_binary(&release)->name, release.compatible);
	} else {
		snprintf(text, sizeof(text), "%s", error.ptr);
	}
	bt_buf_fini(&error);
	drop(&line);
	return text;
}

static void versions_are_emulated_within_upstreams_bounds(void **state)
{
	(void)state;
	assert_string_equal(decides("", "1.37"), "1.37 by 1.37 with 1.36");
	assert_string_equal(decides("--emulated-version=", "1.37"), "1.37 by 1.37 with 1.36");
	assert_string_equal(decides("--emulated-version=1.36", "1.37"), "1.36 by 1.37 with 1.35");
	assert_string_equal(decides("--emulated-version=kube=v1.36.0", "1.37"), "1.36 by 1.37 with 1.35");
	assert_string_equal(decides("--emulated-version=1.36", "1.36"), "1.36 by 1.36 with 1.35");
	assert_string_equal(
		decides("--min-compatibility-version=kube=1.37", "1.37"), "1.37 by 1.37 with 1.37");
	assert_string_equal(decides("--emulated-version=1.38", "1.37"),
		"--emulated-version: emulation version 1.38 is not between [1.34, 1.37.0]");
	assert_string_equal(decides("--emulated-version=1.33", "1.37"),
		"--emulated-version: emulation version 1.33 is not between [1.34, 1.37.0]");
	assert_non_null(strstr(decides("--emulated-version=1.34", "1.37"),
		"--emulated-version: the feature gates of 1.34 are not known here; use 1.3"));
	assert_string_equal(decides("--emulated-version=1.36 --min-compatibility-version=1.37", "1.37"),
		"--min-compatibility-version: minCompatibilityVersion version 1.37 is not between [1.34, "
		"1.36]");
	assert_string_equal(decides("--min-compatibility-version=1.33", "1.37"),
		"--min-compatibility-version: minCompatibilityVersion version 1.33 is not between [1.34, "
		"1.37]");
}

static void invalid_versions_are_rejected_with_upstreams_texts(void **state)
{
	(void)state;
	assert_complains(
		"--emulated-version=latest", "--emulated-version: could not parse \"latest\" as version");
	assert_complains("--emulated-version=1", "illegal version string \"1\"");
	assert_complains("--emulated-version=kube=1.36.3", "patch version not allowed, got: kube=1.36.3");
	assert_complains(
		"--emulated-version=wardle=1.36", "component not registered: wardle; there is only kube");
	assert_complains(
		"--emulated-version=1.36,kube=1.37", "duplicate version flag, kube=1.36 and kube=1.37");
	assert_complains("--min-compatibility-version=x", "--min-compatibility-version: could not parse");
}

static void the_release_is_fixed_by_kubernetes_version_or_left_to_the_server(void **state)
{
	struct line line;

	(void)state;
	assert_null(read_line(&line, "")->versions.fixed);
	drop(&line);
	assert_string_equal(read_line(&line, "--kubernetes-version=1.35")->versions.fixed->name, "1.35");
	drop(&line);
	assert_complains("--kubernetes-version=1.2", "--kubernetes-version: '1.2' is not supported; use ");
	assert_complains("--kubernetes-version=1.36 --follow-server",
		"--follow-server and --kubernetes-version exclude each other");
	assert_complains("--follow-server --journal=x", "--follow-server and --journal exclude each other");
}

static void tls_is_chosen_as_upstream(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line,
		"--tls-min-version=VersionTLS11 --tls-curve-preferences=29,0x17 --tls-curve-preferences=4588 "
		"--tls-sni-cert-key=a.crt,a.key --tls-sni-cert-key=b.crt,b.key:b.example,*.b.example");
	const struct bt_serve_settings *serving = &flags->serving;

	(void)state;
	assert_false(serving->tls13);
	assert_int_equal(serving->curve_n, 3);
	assert_int_equal(serving->curves[1], 23);
	assert_int_equal(serving->curves[2], 4588);
	assert_int_equal(serving->sni_n, 2);
	assert_string_equal(serving->sni[0].cert_file, "a.crt");
	assert_string_equal(serving->sni[0].key_file, "a.key");
	assert_int_equal(serving->sni[0].names.n, 0);
	assert_string_equal(serving->sni[1].key_file, "b.key");
	assert_int_equal(serving->sni[1].names.n, 2);
	assert_true(bt_str_is(serving->sni[1].names.items[1], "*.b.example"));
	drop(&line);
}

/* Source: SecureServingOptions.ApplyTo, v0.36.3. */
static void without_a_server_no_serving_options_are_reported(void **state)
{
	static const char *const words[] = {"--tls-curve-preferences=1", "--tls-curve-preferences=29,29",
		"--tls-curve-preferences=70000", "--tls-cert-file=a.crt", "--tls-private-key-file=a.key",
		"--tls-cipher-suites=FOO", "--tls-min-version=nonsense"};
	struct line line;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		snprintf(text, sizeof(text), "--secure-port=0 %s", words[i]);
		read_line(&line, text);
		drop(&line);
		assert_complains(words[i], "");
	}
	assert_complains("--secure-port=0 --tls-curve-preferences=x", "'x' is not a number");
	assert_complains("--secure-port=0 --bind-address=nonsense", "--bind-address is an IP address");
}

/* Source: strconv.ParseInt with base 0, Go 1.26. */
static void integers_are_written_as_in_go(void **state)
{
	static const struct {
		const char *text;
		uint16_t port;
	} rows[] = {{"0x10", 16}, {"0X1f", 31}, {"1_000", 1000}, {"010", 8}, {"0o17", 15}, {"0b11", 3},
		{"+5", 5}, {"0_10", 8}, {"0x_f", 15}, {"0", 0}, {"-0", 0}};
	static const char *const wrong[] = {"-1", "08", "_10", "1__0", "10_", "0x", "0x_", "0xg", "0b2",
		"1.5", "+", "65536", "0x10000", "99999999999999999999", "1e3"};
	char words[128];
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(words, sizeof(words), "--secure-port=%s", rows[i].text);
		assert_int_equal(read_line(&line, words)->serving.port, rows[i].port);
		drop(&line);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char said[128];

		snprintf(words, sizeof(words), "--secure-port=%s", wrong[i]);
		snprintf(said, sizeof(said), "--secure-port is a whole number from 0 to 65535, not '%s'",
			wrong[i]);
		assert_complains(words, said);
	}
	assert_complains("--secure-port=", "--secure-port needs a value that is not empty");
	read_line(&line, "--http2-max-streams-per-connection=-1");
	drop(&line);
	read_line(&line, "--http2-max-streams-per-connection=-9_223_372_036_854_775_808");
	drop(&line);
	assert_complains("--http2-max-streams-per-connection=9223372036854775808",
		"--http2-max-streams-per-connection is a whole number");
	assert_complains("--http2-max-streams-per-connection=many", "not 'many'");
	read_line(&line, "--tls-curve-preferences=0x1_d,0b10111");
	assert_int_equal(line.flags.serving.curves[0], 29);
	assert_int_equal(line.flags.serving.curves[1], 23);
	drop(&line);
}

static void qps_and_burst_of_the_client_are_used_as_given(void **state)
{
	static const struct {
		const char *words;
		float qps;
		int32_t burst;
		struct bt_run_rate rate; /* for writes */
	} rows[] = {{"--kube-api-qps=0", 0, 100, {5, 100}},
		{"--kube-api-qps=0 --kube-api-burst=0", 0, 0, {5, 10}},
		{"--kube-api-burst=0x10", 50, 16, {50, 16}}, {"--kube-api-burst=1_0", 50, 10, {50, 10}},
		{"--kube-api-qps=-1 --kube-api-burst=0", -1, 0, {-1, 10}}};
	struct bt_config config;
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		read_line(&line, rows[i].words);
		bt_config_init_default(&config, NULL);
		assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
		assert_true(config.client_connection.qps == rows[i].qps);
		assert_int_equal(config.client_connection.burst, rows[i].burst);
		const struct bt_run_rate rate = bt_run_rate_of(&config.client_connection);

		assert_true(rate.qps == rows[i].rate.qps);
		assert_int_equal(rate.burst, rows[i].rate.burst);
		bt_config_fini(&config);
		drop(&line);
	}
	assert_complains("--kube-api-burst=0",
		"--kube-api-burst: burst is required to be greater than 0 when --kube-api-qps is, not '0'");
	assert_complains(
		"--kube-api-qps=1 --kube-api-burst=-3", "greater than 0 when --kube-api-qps is, not '-3'");
	read_line(&line, "--config=f --kube-api-burst=0");
	drop(&line);
}

static void cipher_suites_that_go_has_not_are_refused_at_once(void **state)
{
	static const char *const wrong[] = {"FOO", "tls_aes_128_gcm_sha256", "TLS_FALLBACK_SCSV"};
	char words[128], said[128];
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(words, sizeof(words), "--tls-cipher-suites=TLS_AES_128_GCM_SHA256,%s", wrong[i]);
		snprintf(said, sizeof(said),
			"Cipher suite '%s' not supported or doesn't exist; --tls-cipher-suites takes TLS_",
			wrong[i]);
		assert_complains(words, said);
	}
	assert_complains("--tls-cipher-suites=\tTLS_AES_128_GCM_SHA256",
		"Cipher suite '\\tTLS_AES_128_GCM_SHA256' not supported");
	assert_complains("--tls-cipher-suites=TLS_AES_128_GCM_SHA256,", "Cipher suite '' not supported");
	read_line(&line, "--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA");
	drop(&line);
	read_line(&line, "--tls-cipher-suites=");
	drop(&line);
	read_line(&line, "--tls-cipher-suites=FOO --secure-port=0"); /* nothing is served */
	drop(&line);
}

/* Source: Validate of component-base's logs/api/v1, v0.36.3. */
static void flags_of_the_log_are_checked_though_they_change_nothing(void **state)
{
	static const char *const taken[] = {"--vmodule=", "--vmodule=a=3,", "--vmodule=,",
		"--vmodule=a=1,b/*=2147483647", "--log-flush-frequency=1ns", "--log-text-info-buffer-size=0",
		"--log-json-info-buffer-size=0", "--log-text-split-stream=false",
		"--feature-gates=LoggingAlphaOptions=true --log-text-info-buffer-size=1Ki",
		"--feature-gates=LoggingAlphaOptions=true --log-json-info-buffer-size=1k",
		"--feature-gates=LoggingAlphaOptions=true --log-text-split-stream --log-json-split-stream"};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		read_line(&line, taken[i]);
		drop(&line);
	}
	assert_complains("--vmodule=a", "--vmodule: 'a' does not have the pattern=N format");
	assert_complains("--vmodule=b=1,a=", "--vmodule: 'a=' does not have the pattern=N format");
	assert_complains("--vmodule==3", "'=3' does not have the pattern=N format");
	assert_complains("--vmodule=a=3=4", "'a=3=4' does not have the pattern=N format");
	assert_complains("--vmodule=a=-1", "'a=-1' does not have the pattern=N format");
	assert_complains("--vmodule=a=2147483648", "'a=2147483648' does not have the pattern=N format");
	assert_complains("--vmodule=a=1 --logging-format=json",
		"--vmodule: 'a=1' is only supported for text log format");
	assert_complains(
		"--log-flush-frequency=0", "--log-flush-frequency must be greater than zero, not '0'");
	assert_complains("--log-flush-frequency=-1s", "must be greater than zero, not '-1s'");
	assert_complains(
		"--log-text-info-buffer-size=x", "--log-text-info-buffer-size is a quantity of bytes");
	assert_complains("--log-text-info-buffer-size=1",
		"--log-text-info-buffer-size=1: feature LoggingAlphaOptions is disabled");
	assert_complains("--log-json-info-buffer-size=1",
		"--log-json-info-buffer-size=1: feature LoggingAlphaOptions is disabled");
	assert_complains("--log-text-split-stream",
		"--log-text-split-stream=true: feature LoggingAlphaOptions is disabled");
	assert_complains("--log-json-split-stream=T",
		"--log-json-split-stream=true: feature LoggingAlphaOptions is disabled");
}

static void words_of_lists_are_not_empty_where_they_are_needed(void **state)
{
	static const char *const names[] = {"requestheader-allowed-names", "requestheader-username-headers",
		"requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix"};
	char words[128], said[128];
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(words, sizeof(words), "--%s=\t", names[i]);
		snprintf(said, sizeof(said), "--%s: empty value in '\\t'", names[i]);
		assert_complains(words, said);
		snprintf(words, sizeof(words), "--%s=a,\t,b", names[i]);
		assert_complains(words, "empty value in 'a,");
		snprintf(words, sizeof(words), "--%s=", names[i]);
		read_line(&line, words);
		drop(&line);
	}
	assert_complains("--requestheader-username-headers=a,", "empty value in 'a,'");
	assert_complains(
		"--tls-curve-preferences=", "--tls-curve-preferences needs a value that is not empty");
	assert_complains("--tls-curve-preferences=23,", "--tls-curve-preferences: '' is not a number");
	assert_complains("--tls-curve-preferences=\t23", "--tls-curve-preferences: '\\t23' is not a number");
	assert_complains("--tls-curve-preferences=23 --tls-curve-preferences=,24", "'' is not a number");
}

static void a_lease_needs_a_name_where_there_is_an_election(void **state)
{
	struct bt_config config;
	struct line line;

	(void)state;
	read_line(&line,
		"--leader-elect=false --leader-elect-resource-name= --leader-elect-resource-namespace=");
	bt_config_init_default(&config, NULL);
	assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
	assert_int_equal(config.leader_election.resource_name.len, 0);
	assert_int_equal(config.leader_election.resource_namespace.len, 0);
	bt_config_fini(&config);
	drop(&line);
	assert_complains("--leader-elect --leader-elect-resource-name=",
		"--leader-elect-resource-name is required where --leader-elect is on, not ''");
	assert_complains("--leader-elect --leader-elect-resource-namespace=",
		"--leader-elect-resource-namespace is required where --leader-elect is on, not ''");
}

static void lists_are_split_at_commas_and_repeated(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line,
		"--authorization-always-allow-paths=/a,/b/* --authorization-always-allow-paths=/c "
		"--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");

	(void)state;
	assert_int_equal(flags->serving.always_allow.n, 3);
	assert_true(bt_str_is(flags->serving.always_allow.items[1], "/b/*"));
	assert_true(bt_str_is(flags->serving.always_allow.items[2], "/c"));
	assert_int_equal(flags->serving.cipher_suites.n, 1);
	drop(&line);
	assert_int_equal(read_line(&line, "--authorization-always-allow-paths=")->serving.always_allow.n, 0);
	drop(&line);
}

static void empty_values_count_as_absent(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line, "--config= --bind-address= --master=");

	(void)state;
	assert_null(flags->config);
	assert_null(flags->master);
	assert_null(flags->serving.bind_address);
	drop(&line);
}

static void flags_without_effect_are_taken_and_named(void **state)
{
	struct line line;
	char text[256];

	(void)state;
	snprintf(text, sizeof(text),
		"--show-hidden-metrics-for-version=%s --contention-profiling --log-flush-frequency=1s "
		"--vmodule=x=1",
		bt_release_find(bt_str(BT_RELEASE_DEFAULT_TEXT))->before);
	read_line(&line, text);
	for (size_t i = 0; i < 4; i++) {
		const struct bt_option *option = bt_invocation_ignored(&line.typed.invocation, i);

		assert_non_null(option);
		assert_true(strlen(option->ignored) > 0);
	}
	assert_null(bt_invocation_ignored(&line.typed.invocation, 4));
	drop(&line);
}

static void content_types_without_protobuf_mean_json(void **state)
{
	static const struct {
		const char *accept, *content;
		bool json;
	} cases[] = {{"", "application/vnd.kubernetes.protobuf", false}, {"", "", false},
		{"", "application/json", true},
		{"application/json", "application/vnd.kubernetes.protobuf", true},
		{"application/vnd.kubernetes.protobuf,application/json", "application/json", false},
		{"application/json, application/vnd.kubernetes.protobuf", "", false}};
	struct line line;
	struct bt_config config;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct bt_client_connection_config connection = {
			.accept_content_types = bt_str(cases[i].accept),
			.content_type = bt_str(cases[i].content)};

		assert_int_equal(bt_run_reads_json(&connection), cases[i].json);
	}
	read_line(&line, "--kube-api-content-type=application/json");
	assert_null(bt_invocation_ignored(&line.typed.invocation, 0));
	bt_config_init(&config, NULL);
	assert_int_equal(bt_run_flags_apply(&line.typed.invocation, &config), BT_EXIT_OK);
	assert_true(bt_run_reads_json(&config.client_connection));
	bt_config_fini(&config);
	drop(&line);
}

static void metrics_and_values_of_their_labels_can_be_left_out(void **state)
{
	struct line line;
	const struct bt_run_flags *flags =
		read_line(&line, "--disabled-metrics=a,b --disabled-metrics=a "
				 "--allow-metric-labels=a,x=v1,v2 --allow-metric-labels=b,x=w");

	(void)state;
	assert_int_equal(flags->serving.metrics.disabled.n, 2);
	assert_true(bt_metric_is_disabled(&flags->serving.metrics, "b"));
	assert_true(bt_metric_allows(&flags->serving.metrics, "a", "x", bt_str("v2")));
	assert_false(bt_metric_allows(&flags->serving.metrics, "b", "x", bt_str("v2")));
	assert_null(bt_invocation_ignored(&line.typed.invocation, 0));
	drop(&line);
}

static void errors_of_metrics_flags_are_reported(void **state)
{
	(void)state;
	assert_complains(
		"--disabled-metrics=a.b", "--disabled-metrics: must be fully qualified metric names");
	assert_complains(
		"--allow-metric-labels=a", "--allow-metric-labels: a must be formatted as key=value");
	assert_complains("--allow-metric-labels-manifest=/nonsense",
		"--allow-metric-labels-manifest: failed to read allow list manifest: /nonsense");
	assert_complains("--allow-metric-labels=a,x=v --allow-metric-labels-manifest=/nonsense",
		"--allow-metric-labels-manifest: give either this or --allow-metric-labels");
	assert_complains("--show-hidden-metrics-for-version=1.2",
		"--show-hidden-metrics-for-version: must be omitted or have the value '1.");
}

static void errors_have_a_remedy(void **state)
{
	(void)state;
	assert_complains("--nonsense", "there is no option '--nonsense'");
	assert_complains("--secure-prt=1", "did you mean --secure-port?");
	assert_complains("--secure-port=70000", "--secure-port is a whole number from 0 to 65535");
	assert_complains("--tls-sni-cert-key=a", "expected comma separated certificate and key file paths");
	assert_complains("--tls-sni-cert-key=a,b:", "'a,b:': empty names list is not allowed");
	assert_complains("--tls-curve-preferences=29,31", "curve preference 31 is not known; 29, 23, 24");
	assert_complains("--tls-curve-preferences=70000", "70000 is out of range (must be 1-65535)");
	assert_complains("--tls-curve-preferences=23,23", "duplicate curve preference 23");
	assert_complains("--tls-curve-preferences=P-256", "'P-256' is not a number");
	assert_complains("--tls-cert-file=a", "belong together");
	assert_complains("--tls-min-version=3", "unknown tls version \"3\"");
	assert_complains("--leader-elect-lease-duration=15", "--leader-elect-lease-duration: time: ");
	assert_complains("--leader-elect-resource-lock=endpoints", "one of leases");
	assert_complains(
		"--bind-address=here", "--bind-address is an IP address, such as 0.0.0.0 or ::, not 'here'");
	assert_complains("--log-flush-frequency=5", "--log-flush-frequency: time: ");
	assert_complains("--kube-api-qps=fast", "--kube-api-qps is a number");
	assert_complains("--kube-api-burst=1.5", "--kube-api-burst is a whole number");
	assert_complains(
		"--kube-api-burst=3000000000", "--kube-api-burst is a whole number from -2147483648 to");
	assert_complains("--kube-api-qps=\t5", "--kube-api-qps is a number");
	assert_complains("pod.yaml", "unexpected argument");
}

static void front_proxies_pass_the_user_in_the_usual_headers(void **state)
{
	struct line line;
	const struct bt_run_flags *flags = read_line(&line, "--feature-gates=RemoteRequestHeaderUID=false");

	(void)state;
	assert_null(flags->serving.proxy_ca_file);
	assert_int_equal(flags->serving.proxy.allowed_names.n, 0);
	assert_true(bt_str_is(flags->serving.proxy.username_headers.items[0], "x-remote-user"));
	assert_true(bt_str_is(flags->serving.proxy.group_headers.items[0], "x-remote-group"));
	assert_true(bt_str_is(flags->serving.proxy.extra_prefixes.items[0], "x-remote-extra-"));
	assert_int_equal(flags->serving.proxy.uid_headers.n, 0);
	assert_true(flags->serving.no_proxy_uids);
	drop(&line);
	flags = read_line(&line,
		"--requestheader-client-ca-file=/ca --requestheader-allowed-names=a,b "
		"--requestheader-username-headers=X-Who --requestheader-uid-headers=X-Remote-UID");
	assert_string_equal(flags->serving.proxy_ca_file, "/ca");
	assert_int_equal(flags->serving.proxy.allowed_names.n, 2);
	assert_int_equal(flags->serving.proxy.username_headers.n, 1);
	assert_true(bt_str_is(flags->serving.proxy.username_headers.items[0], "X-Who"));
	assert_int_equal(flags->serving.proxy.uid_headers.n, 1);
	assert_false(flags->serving.no_proxy_uids);
	drop(&line);
	assert_complains(
		"--requestheader-uid-headers=X-Id", "without specifying the standard X-Remote-Uid header");
	assert_complains(
		"--requestheader-uid-headers=X-Remote-Uid --feature-gates=RemoteRequestHeaderUID=false",
		"requires the \"RemoteRequestHeaderUID\" feature to be enabled");
}

struct shown {
	const char *last;
	char text[8192];
};

static void show(void *context, const char *name, struct bt_str value)
{
	struct shown *shown = context;
	size_t n = strlen(shown->text);

	assert_true(!shown->last || strcmp(shown->last, name) < 0);
	shown->last = name;
	snprintf(shown->text + n, sizeof(shown->text) - n, "%s=%.*s\n", name, BT_STR_ARG(value));
}

static void every_flag_is_shown_with_its_value_in_order(void **state)
{
	struct line line;
	const struct bt_run_flags *flags =
		read_line(&line, "-v=3 --leader-elect=false --disabled-metrics=a,b "
				 "--disabled-metrics=c --secure-port=1");
	struct shown shown = {.last = NULL};

	(void)state;
	bt_run_flags_each(flags, show, &shown);
	assert_non_null(strstr(shown.text, "\nv=3\n"));
	assert_non_null(strstr(shown.text, "\nleader-elect=false\n"));
	assert_non_null(strstr(shown.text, "\ndisabled-metrics=[a,b,c]\n"));
	assert_non_null(strstr(shown.text, "\nsecure-port=1\n"));
	assert_non_null(strstr(shown.text, "\nauthorization-always-allow-paths=[/healthz,/readyz,/livez]\n"));
	assert_non_null(strstr(shown.text, "\nrequestheader-username-headers=[x-remote-user]\n"));
	assert_non_null(strstr(shown.text, "\nclient-ca-file=\n"));
	drop(&line);
}

/* One flag of each line of kube-scheduler's help is accepted. Source: kube-scheduler --help, v1.36.3. */
static void every_flag_of_kube_scheduler_is_known(void **state)
{
	static const char *const names[] = {"config", "master", "write-config-to", "bind-address", "cert-dir",
		"disable-http2-serving", "http2-max-streams-per-connection", "permit-address-sharing",
		"permit-port-sharing", "secure-port", "tls-cert-file", "tls-cipher-suites",
		"tls-curve-preferences", "tls-min-version", "tls-private-key-file", "tls-sni-cert-key",
		"authentication-kubeconfig", "authentication-skip-lookup",
		"authentication-token-webhook-cache-ttl", "authentication-tolerate-lookup-failure",
		"client-ca-file", "requestheader-allowed-names", "requestheader-client-ca-file",
		"requestheader-extra-headers-prefix", "requestheader-group-headers",
		"requestheader-uid-headers", "requestheader-username-headers",
		"authorization-always-allow-paths", "authorization-kubeconfig",
		"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl",
		"contention-profiling", "kube-api-burst", "kube-api-content-type", "kube-api-qps",
		"kubeconfig", "pod-max-in-unschedulable-pods-duration", "profiling", "leader-elect",
		"leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-resource-lock",
		"leader-elect-resource-name", "leader-elect-resource-namespace", "leader-elect-retry-period",
		"emulated-version", "feature-gates", "min-compatibility-version", "allow-metric-labels",
		"allow-metric-labels-manifest", "disabled-metrics", "show-hidden-metrics-for-version",
		"log-flush-frequency", "log-text-info-buffer-size", "log-text-split-stream", "logging-format",
		"v", "vmodule", "help", "version"};
	const struct bt_command *run = bt_command_find("run");

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct bt_option *option;
		size_t ix = 0;

		while ((option = bt_command_option(run, ix)) && strcmp(option->name, names[i]) != 0) {
			ix++;
		}
		if (!option) {
			fail_msg("--%s is not known", names[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_flags_the_defaults_are_upstreams_but_for_the_address),
		cmocka_unit_test(kubeadms_command_line_is_taken),
		cmocka_unit_test(switches_take_gos_words),
		cmocka_unit_test(verbosity_is_written_in_four_ways),
		cmocka_unit_test(version_may_be_raw),
		cmocka_unit_test(election_flags_overrule_a_file_and_client_flags_do_not),
		cmocka_unit_test(profiling_is_switched_off_by_its_flag_unless_a_file_counts),
		cmocka_unit_test(flags_that_are_not_given_leave_a_file_as_it_is),
		cmocka_unit_test(gates_may_name_their_component),
		cmocka_unit_test(versions_are_emulated_within_upstreams_bounds),
		cmocka_unit_test(invalid_versions_are_rejected_with_upstreams_texts),
		cmocka_unit_test(the_release_is_fixed_by_kubernetes_version_or_left_to_the_server),
		cmocka_unit_test(tls_is_chosen_as_upstream),
		cmocka_unit_test(without_a_server_no_serving_options_are_reported),
		cmocka_unit_test(integers_are_written_as_in_go),
		cmocka_unit_test(qps_and_burst_of_the_client_are_used_as_given),
		cmocka_unit_test(cipher_suites_that_go_has_not_are_refused_at_once),
		cmocka_unit_test(flags_of_the_log_are_checked_though_they_change_nothing),
		cmocka_unit_test(words_of_lists_are_not_empty_where_they_are_needed),
		cmocka_unit_test(a_lease_needs_a_name_where_there_is_an_election),
		cmocka_unit_test(lists_are_split_at_commas_and_repeated),
		cmocka_unit_test(empty_values_count_as_absent),
		cmocka_unit_test(flags_without_effect_are_taken_and_named),
		cmocka_unit_test(front_proxies_pass_the_user_in_the_usual_headers),
		cmocka_unit_test(every_flag_is_shown_with_its_value_in_order),
		cmocka_unit_test(content_types_without_protobuf_mean_json),
		cmocka_unit_test(metrics_and_values_of_their_labels_can_be_left_out),
		cmocka_unit_test(errors_of_metrics_flags_are_reported),
		cmocka_unit_test(errors_have_a_remedy),
		cmocka_unit_test(every_flag_of_kube_scheduler_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
