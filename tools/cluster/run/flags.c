/* SPDX-License-Identifier: Apache-2.0
 * Flags of berth run. Source: cmd/kube-scheduler/app/options, and k8s.io/apiserver/pkg/server/options,
 * v1.36.3.
 */
#include "tools/cluster/run/flags.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/duration.h"
#include "engine/base/mem.h"
#include "engine/model/quantity.h"
#include "tools/format/strict.h"
#include "tools/cluster/run/flag_values.h"
#include "tools/cluster/serve/serve.h"
#include "tools/kube/config/config_file.h"

/* Source: SetDefaults_KubeSchedulerConfiguration, v1.36.3. */
#define DEFAULT_PARALLELISM 16

static const char *flags_text_of(const struct bt_invocation *invocation, const char *name)
{
	const char *text = bt_invocation_text(invocation, name);

	return text && *text ? text : NULL;
}

static int read_duration(const struct bt_invocation *invocation, const char *name, int64_t *out_ns)
{
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;

	if (!bt_duration_parse(bt_str(bt_invocation_text(invocation, name)), out_ns, &error)) {
		status = bt_invocation_wrong(invocation->command, "--%s: %s", name, error.ptr);
	}
	bt_buf_fini(&error);
	return status;
}

/* A decimal number within the range of its type upstream. */
static int read_real(
	const struct bt_invocation *invocation, const char *name, double bound, double *out_value)
{
	const char *text = bt_invocation_text(invocation, name);
	char *end;

	errno = 0;
	*out_value = strtod(text, &end);
	if (errno || bt_flag_is_blank((struct bt_str){text, 1}) || end == text || *end ||
		!isfinite(*out_value) || fabs(*out_value) > bound) {
		return bt_invocation_wrong(invocation->command, "--%s is a number, not '%s'", name, text);
	}
	return BT_EXIT_OK;
}

static int read_integer(const struct bt_invocation *invocation, const char *name, int64_t min, int64_t max,
	int64_t *out_value)
{
	const char *text = bt_invocation_text(invocation, name);

	if (!bt_flag_integer(bt_str(text), out_value) || *out_value < min || *out_value > max) {
		return bt_invocation_wrong(invocation->command,
			"--%s is a whole number from %lld to %lld, not '%s'", name, (long long)min,
			(long long)max, text);
	}
	return BT_EXIT_OK;
}

static void add_items(struct bt_run_flags *flags, struct bt_str text, struct bt_str_list *list)
{
	for (size_t at = 0, end; at < text.len; at = end + 1) {
		end = bt_str_find(text, ',', at);
		if (end == at) {
			continue;
		}
		struct bt_str *items = bt_arena_alloc(
			&flags->arena, (list->n + 1) * sizeof(*items), _Alignof(struct bt_str));

		for (uint32_t i = 0; i < list->n; i++) {
			items[i] = list->items[i];
		}
		items[list->n] = bt_str_sub(text, at, end);
		list->items = items;
		list->n++;
		list->set = true;
	}
}

/* The items of all values of a repeated flag, or of its default. */
static struct bt_str_list list_of(
	struct bt_run_flags *flags, const struct bt_invocation *invocation, const char *name)
{
	struct bt_str_list list = {0};
	const char *text = bt_invocation_has(invocation, name) ? NULL : bt_invocation_text(invocation, name);

	if (text) {
		add_items(flags, bt_str(text), &list);
	}
	for (size_t i = 0; (text = bt_invocation_item(invocation, name, i)); i++) {
		add_items(flags, bt_str(text), &list);
	}
	return list;
}

static int read_tls(const struct bt_invocation *invocation, struct bt_serve_settings *serving)
{
	static const char *const older[] = {"VersionTLS10", "VersionTLS11", "VersionTLS12"};
	const char *version = flags_text_of(invocation, "tls-min-version");

	serving->cert_file = flags_text_of(invocation, "tls-cert-file");
	serving->key_file = flags_text_of(invocation, "tls-private-key-file");
	serving->cert_dir = flags_text_of(invocation, "cert-dir");
	if (serving->port && !serving->cert_file != !serving->key_file) {
		return bt_invocation_wrong(invocation->command,
			"--tls-cert-file and --tls-private-key-file belong together; give both or none");
	}
	serving->tls13 = version && strcmp(version, "VersionTLS13") == 0;
	for (size_t i = 0; version && !serving->tls13 && i < sizeof(older) / sizeof(*older); i++) {
		version = strcmp(version, older[i]) == 0 ? NULL : version;
	}
	if (version && !serving->tls13 && serving->port) {
		return bt_invocation_wrong(invocation->command,
			"unknown tls version \"%s\" in --tls-min-version: use VersionTLS12 or VersionTLS13",
			version);
	}
	return BT_EXIT_OK;
}

static bool is_word(struct bt_str word)
{
	return !bt_flag_is_blank(word);
}

/* As upstream, suites, curves and pairs of files are not checked when nothing is served. Source:
 * TLSCipherSuites of component-base's cli/flag, and SecureServingOptions.ApplyTo, v0.36.3. */
static int check_suites(const struct bt_invocation *invocation, const struct bt_serve_settings *serving)
{
	struct bt_buf error = {0};
	struct bt_str suite;
	int status = BT_EXIT_OK;

	if (serving->port &&
		bt_flag_wrong_word(invocation, "tls-cipher-suites", bt_serve_knows_suite, &suite)) {
		bt_serve_refuse_suite(suite, &error);
		status = bt_invocation_wrong(invocation->command, "%s", error.ptr);
	}
	bt_buf_fini(&error);
	return status;
}

/* Source: TLSCurvePreferences of component-base's cli/flag, v0.36.3. */
static int read_curves(
	struct bt_run_flags *flags, const struct bt_invocation *invocation, struct bt_serve_settings *serving)
{
	const struct bt_str_list list = list_of(flags, invocation, "tls-curve-preferences");
	uint32_t *curves = bt_arena_zalloc(&flags->arena, (list.n + 1) * sizeof(*curves));
	struct bt_str word;

	if (bt_flag_wrong_word(invocation, "tls-curve-preferences", is_word, &word)) {
		return bt_invocation_wrong(
			invocation->command, "--tls-curve-preferences: '' is not a number");
	}
	serving->curves = curves;
	serving->curve_n = 0;
	for (uint32_t i = 0; i < list.n; i++) {
		const char *text = bt_arena_copy(&flags->arena, list.items[i].ptr, list.items[i].len);
		int64_t id = 0;
		const char *wrong =
			!bt_flag_integer(list.items[i], &id) ? "--tls-curve-preferences: '%s' is not a number"
			: !serving->port		     ? NULL
			: id < 1 || id > UINT16_MAX
				? "--tls-curve-preferences: curve preference %s is out of range "
				  "(must be 1-65535)"
			: !bt_serve_knows_curve((uint32_t)id)
				? "--tls-curve-preferences: curve preference %s is not known; 29, 23, "
				  "24 and 25 are"
				: NULL;

		for (uint32_t k = 0; k < serving->curve_n && !wrong && serving->port; k++) {
			wrong = curves[k] == (uint32_t)id
					? "--tls-curve-preferences: duplicate curve preference %s"
					: NULL;
		}
		if (wrong) {
			return bt_invocation_wrong(invocation->command, wrong, text);
		}
		curves[serving->curve_n++] = (uint32_t)id;
	}
	return BT_EXIT_OK;
}

/* CERTIFICATE,KEY or CERTIFICATE,KEY:NAME,... Source: NamedCertKey.Set of component-base's cli/flag, v0.36.3.
 * Returns: NULL, or what is wrong. */
static const char *read_named(struct bt_run_flags *flags, struct bt_str text, struct bt_sni_settings *out)
{
	struct bt_str_list files = {0}, names = {0};
	size_t colon = bt_str_find(text, ':', 0);

	add_items(flags, bt_str_sub(text, 0, colon), &files);
	if (colon < text.len) {
		add_items(flags, bt_str_sub(text, colon + 1, text.len), &names);
	}
	for (uint32_t i = 0; i < files.n; i++) {
		files.items[i] = bt_flag_trim(files.items[i]);
	}
	for (uint32_t i = 0; i < names.n; i++) {
		names.items[i] = bt_flag_trim(names.items[i]);
	}
	if (files.n != 2 || !files.items[0].len || !files.items[1].len) {
		return "--tls-sni-cert-key: '%s': expected comma separated certificate and key file paths";
	}
	if (colon < text.len && (!names.n || !names.items[0].len)) {
		return "--tls-sni-cert-key: '%s': empty names list is not allowed";
	}
	*out = (struct bt_sni_settings){
		.cert_file = bt_arena_copy(&flags->arena, files.items[0].ptr, files.items[0].len),
		.key_file = bt_arena_copy(&flags->arena, files.items[1].ptr, files.items[1].len),
		.names = names};
	return NULL;
}

static int read_sni(
	struct bt_run_flags *flags, const struct bt_invocation *invocation, struct bt_serve_settings *serving)
{
	const char *text, *wrong;
	uint32_t n = 0;

	while (bt_invocation_item(invocation, "tls-sni-cert-key", n)) {
		n++;
	}
	struct bt_sni_settings *sni = bt_arena_zalloc(&flags->arena, (n + 1) * sizeof(*sni));

	serving->sni = sni;
	serving->sni_n = n;
	for (uint32_t i = 0; i < n; i++) {
		text = bt_invocation_item(invocation, "tls-sni-cert-key", i);
		wrong = read_named(flags, bt_str(text), &sni[i]);
		if (wrong) {
			return bt_invocation_wrong(invocation->command, wrong, text);
		}
	}
	return BT_EXIT_OK;
}

/* Source: component-base's metrics/options.go and metrics/api/v1/config.go, v0.36.3. */
static int read_metrics(struct bt_run_flags *flags, const struct bt_invocation *invocation,
	struct bt_metric_settings *metrics)
{
	const char *manifest = flags_text_of(invocation, "allow-metric-labels-manifest"), *text, *flag = "";
	bool allows = bt_invocation_has(invocation, "allow-metric-labels"), good = true;
	struct bt_buf error = {0};

	for (size_t i = 0; good && (text = bt_invocation_item(invocation, "disabled-metrics", i)); i++) {
		flag = "disabled-metrics";
		good = bt_metric_settings_disable(metrics, &flags->arena, bt_str(text), &error);
	}
	for (size_t i = 0; good && (text = bt_invocation_item(invocation, "allow-metric-labels", i)); i++) {
		flag = "allow-metric-labels";
		good = bt_metric_settings_allow(metrics, &flags->arena, bt_str(text), &error);
	}
	if (good && manifest) {
		flag = "allow-metric-labels-manifest";
		good = !allows && bt_metric_settings_allow_file(metrics, &flags->arena, manifest, &error);
		bt_buf_text(&error, allows ? "give either this or --allow-metric-labels" : "");
	}
	int status =
		good ? BT_EXIT_OK : bt_invocation_wrong(invocation->command, "--%s: %s", flag, error.ptr);

	bt_buf_fini(&error);
	return status;
}

static bool is_address(const char *text)
{
	unsigned char address[16];

	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static int read_ports(const struct bt_invocation *invocation, struct bt_serve_settings *serving)
{
	int64_t port = 0, streams;
	int status = read_integer(invocation, "secure-port", 0, UINT16_MAX, &port);

	serving->port = (uint16_t)port;
	if (!status) {
		status = read_integer(
			invocation, "http2-max-streams-per-connection", INT64_MIN, INT64_MAX, &streams);
	}
	return status;
}

static int read_serving(
	struct bt_run_flags *flags, const struct bt_invocation *invocation, struct bt_serve_settings *serving)
{
	int status = read_ports(invocation, serving);

	if (!status) {
		status = read_tls(invocation, serving);
	}
	if (!status) {
		status = check_suites(invocation, serving);
	}
	if (!status) {
		status = read_curves(flags, invocation, serving);
	}
	if (!status) {
		status = read_sni(flags, invocation, serving);
	}
	serving->bind_address = flags_text_of(invocation, "bind-address");
	if (!status && serving->bind_address && !is_address(serving->bind_address)) {
		status = bt_invocation_wrong(invocation->command,
			"--bind-address is an IP address, such as 0.0.0.0 or ::, not '%s'",
			serving->bind_address);
	}
	serving->share_port = bt_invocation_switch(invocation, "permit-port-sharing");
	serving->cipher_suites = list_of(flags, invocation, "tls-cipher-suites");
	serving->client_ca_file = flags_text_of(invocation, "client-ca-file");
	serving->proxy_ca_file = flags_text_of(invocation, "requestheader-client-ca-file");
	serving->proxy = (struct bt_front_proxy_settings){
		.allowed_names = list_of(flags, invocation, "requestheader-allowed-names"),
		.username_headers = list_of(flags, invocation, "requestheader-username-headers"),
		.uid_headers = list_of(flags, invocation, "requestheader-uid-headers"),
		.group_headers = list_of(flags, invocation, "requestheader-group-headers"),
		.extra_prefixes = list_of(flags, invocation, "requestheader-extra-headers-prefix"),
	};
	serving->skip_lookup = bt_invocation_switch(invocation, "authentication-skip-lookup");
	serving->tolerate_lookup_failure =
		bt_invocation_switch(invocation, "authentication-tolerate-lookup-failure");
	serving->always_allow = list_of(flags, invocation, "authorization-always-allow-paths");
	if (!status) {
		status = read_duration(
			invocation, "authentication-token-webhook-cache-ttl", &serving->token_ttl_ns);
	}
	if (!status) {
		status = read_duration(
			invocation, "authorization-webhook-cache-authorized-ttl", &serving->allowed_ttl_ns);
	}
	if (!status) {
		status = read_duration(
			invocation, "authorization-webhook-cache-unauthorized-ttl", &serving->refused_ttl_ns);
	}
	return status;
}

static int check_proxy_words(const struct bt_invocation *invocation)
{
	static const char *const names[] = {"requestheader-allowed-names", "requestheader-username-headers",
		"requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix"};
	const char *value = NULL;
	struct bt_str word;
	size_t i = 0;

	while (i < sizeof(names) / sizeof(*names) &&
		!(value = bt_flag_wrong_word(invocation, names[i], is_word, &word))) {
		i++;
	}
	return !value ? BT_EXIT_OK
		      : bt_invocation_wrong(
				invocation->command, "--%s: empty value in '%s'", names[i], value);
}

/* Source: RequestHeaderAuthenticationOptions.Validate, v0.36.3. */
static int check_proxy(const struct bt_invocation *invocation, const struct bt_gates *gates,
	struct bt_serve_settings *serving)
{
	const struct bt_str_list *uids = &serving->proxy.uid_headers;
	bool standard = uids->n == 0;

	for (uint32_t i = 0; i < uids->n; i++) {
		standard = standard || (uids->items[i].len == 12 &&
					       strncasecmp(uids->items[i].ptr, "X-Remote-Uid", 12) == 0);
	}
	serving->no_proxy_uids = !gates->on[BT_GATE_REMOTE_REQUEST_HEADER_UID];
	if (check_proxy_words(invocation)) {
		return BT_EXIT_USAGE;
	}
	if (uids->n && serving->no_proxy_uids) {
		return bt_invocation_wrong(invocation->command,
			"--requestheader-uid-headers requires the "
			"\"RemoteRequestHeaderUID\" feature to be enabled");
	}
	return standard ? BT_EXIT_OK
			: bt_invocation_wrong(invocation->command,
				  "--requestheader-uid-headers is set without specifying the standard "
				  "X-Remote-Uid "
				  "header - API aggregation will not work");
}

static int check_buffer_size(const struct bt_invocation *invocation, const char *name, bool *out_has_size)
{
	const char *text = flags_text_of(invocation, name);
	struct bt_quantity size = {0};

	if (text && bt_quantity_parse(bt_str(text), &size) != BT_OK) {
		return bt_invocation_wrong(invocation->command,
			"--%s is a quantity of bytes, such as 512 or 2Ki, not '%s'", name, text);
	}
	*out_has_size = bt_quantity_value(size) != 0;
	return BT_EXIT_OK;
}

static int check_alpha_options(const struct bt_invocation *invocation, const struct bt_gates *gates)
{
	static const struct {
		const char *name;
		bool is_size;
	} options[] = {{"log-text-split-stream", false}, {"log-text-info-buffer-size", true},
		{"log-json-split-stream", false}, {"log-json-info-buffer-size", true}};
	int status = BT_EXIT_OK;

	for (size_t i = 0; !status && i < sizeof(options) / sizeof(*options); i++) {
		const char *name = options[i].name;
		bool alpha = false;

		if (options[i].is_size) {
			status = check_buffer_size(invocation, name, &alpha);
		} else {
			alpha = bt_invocation_switch(invocation, name);
		}
		if (!status && alpha && !gates->on[BT_GATE_LOGGING_ALPHA_OPTIONS]) {
			status = bt_invocation_wrong(invocation->command,
				"--%s=%s: feature LoggingAlphaOptions is disabled; see --feature-gates", name,
				options[i].is_size ? bt_invocation_text(invocation, name) : "true");
		}
	}
	return status;
}

/* Source: Validate of component-base's logs/api/v1, v0.36.3. */
static int check_log(const struct bt_invocation *invocation)
{
	const char *vmodule = flags_text_of(invocation, "vmodule");
	struct bt_str word;
	int64_t flush_ns;
	int status = read_duration(invocation, "log-flush-frequency", &flush_ns);

	if (!status && flush_ns <= 0) {
		status = bt_invocation_wrong(invocation->command,
			"--log-flush-frequency must be greater than zero, not '%s'",
			bt_invocation_text(invocation, "log-flush-frequency"));
	}
	if (!status && bt_flag_wrong_word(invocation, "vmodule", bt_flag_is_vmodule, &word)) {
		status = bt_invocation_wrong(invocation->command,
			"--vmodule: '%.*s' does not have the pattern=N format", BT_STR_ARG(word));
	}
	if (!status && vmodule && strcmp(bt_invocation_text(invocation, "logging-format"), "text") != 0) {
		status = bt_invocation_wrong(invocation->command,
			"--vmodule: '%s' is only supported for text log format; see --logging-format",
			vmodule);
	}
	return status;
}

static enum bt_run_version version_of(const struct bt_invocation *invocation)
{
	const char *text = bt_invocation_text(invocation, "version");

	return !text ? BT_RUN_NO_VERSION : strcmp(text, "raw") == 0 ? BT_RUN_VERSION_RAW : BT_RUN_VERSION;
}

static enum bt_sandbox_mode sandbox_of(const char *text)
{
	return strcmp(text, "off") == 0	      ? BT_SANDBOX_OFF
	       : strcmp(text, "require") == 0 ? BT_SANDBOX_REQUIRE
					      : BT_SANDBOX_AUTO;
}

int bt_run_flags_read(const struct bt_invocation *invocation, struct bt_run_flags *out_flags)
{
	struct bt_config config;
	int64_t unused_ns;

	*out_flags = (struct bt_run_flags){
		.invocation = invocation,
		.config = flags_text_of(invocation, "config"),
		.kubeconfig = flags_text_of(invocation, "kubeconfig"),
		.master = flags_text_of(invocation, "master"),
		.write_config_to = flags_text_of(invocation, "write-config-to"),
		.authentication_kubeconfig = flags_text_of(invocation, "authentication-kubeconfig"),
		.authorization_kubeconfig = flags_text_of(invocation, "authorization-kubeconfig"),
		.cpus = flags_text_of(invocation, "cpus"),
		.journal = flags_text_of(invocation, "journal"),
		.log_format = strcmp(bt_invocation_text(invocation, "logging-format"), "json") == 0
				      ? BT_LOG_JSON
				      : BT_LOG_TEXT,
		.verbosity = (int)bt_invocation_number(invocation, "v"),
		.version = version_of(invocation),
		.shadow = bt_invocation_switch(invocation, "shadow"),
		.follow_server = bt_invocation_switch(invocation, "follow-server"),
		.sandbox = sandbox_of(bt_invocation_text(invocation, "sandbox")),
		.workers = (uint32_t)bt_invocation_number(invocation, "workers"),
		.threads = (uint32_t)bt_invocation_number(invocation, "threads"),
		.seed = bt_invocation_number(invocation, "seed"),
		.node_sampling = bt_invocation_text(invocation, "node-sampling"),
		.bindings_in_flight = (uint32_t)bt_invocation_number(invocation, "bindings-in-flight"),
		.connections = (uint32_t)bt_invocation_number(invocation, "connections"),
		.page = (uint32_t)bt_invocation_number(invocation, "page"),
	};
	int status = read_serving(out_flags, invocation, &out_flags->serving);

	if (!status) {
		status = read_metrics(out_flags, invocation, &out_flags->serving.metrics);
	}
	if (!status) {
		status = bt_run_versions_read(invocation, &out_flags->versions);
	}
	if (!status) {
		status = check_log(invocation);
	}
	if (!status) {
		status = read_duration(invocation, "pod-max-in-unschedulable-pods-duration", &unused_ns);
	}
	if (!status) { /* errors that only the configuration shows are found before anything starts */
		bt_config_init(&config, NULL);
		status = bt_run_flags_apply(invocation, &config);
		bt_config_fini(&config);
	}
	return status;
}

int bt_run_flags_settle(struct bt_run_flags *flags, const struct bt_release *binary)
{
	const struct bt_invocation *invocation = flags->invocation;
	const char *hidden = "show-hidden-metrics-for-version";
	struct bt_buf error = {0};
	int status = BT_EXIT_OK;

	if (!bt_run_versions_apply(&flags->versions, binary, &flags->release, &error)) {
		status = bt_invocation_wrong(invocation->command, "%s", error.ptr);
	}
	if (!status) {
		status = bt_configuration_gates_of(invocation, &flags->release, &flags->gates);
	}
	if (!status && !bt_metric_settings_show_hidden(
			       &flags->release, bt_str(flags_text_of(invocation, hidden)), &error)) {
		status = bt_invocation_wrong(invocation->command, "--%s: %s", hidden, error.ptr);
	}
	if (!status) {
		status = check_proxy(invocation, &flags->gates, &flags->serving);
	}
	if (!status) {
		status = check_alpha_options(invocation, &flags->gates);
	}
	bt_buf_fini(&error);
	return status;
}

void bt_run_flags_fini(struct bt_run_flags *flags)
{
	bt_arena_fini(&flags->arena);
}

static void set_text(const struct bt_invocation *invocation, const char *name, struct bt_str *out_text)
{
	if (bt_invocation_has(invocation, name)) {
		*out_text = bt_str(bt_invocation_text(invocation, name));
	}
}

static int set_duration(const struct bt_invocation *invocation, const char *name, int64_t *out_ns)
{
	return bt_invocation_has(invocation, name) ? read_duration(invocation, name, out_ns) : BT_EXIT_OK;
}

static struct bt_config_bool switch_of(const struct bt_invocation *invocation, const char *name)
{
	return (struct bt_config_bool){bt_invocation_switch(invocation, name), true};
}

/* Upstream checks this only for a file: with flags alone it would request a Lease without a name forever. */
static int check_lease(
	const struct bt_invocation *invocation, const struct bt_leader_election_config *election)
{
	static const char *const names[] = {"leader-elect-resource-name", "leader-elect-resource-namespace"};
	int status = BT_EXIT_OK;

	for (size_t i = 0; !status && election->leader_elect.value && i < sizeof(names) / sizeof(*names);
		i++) {
		if (!flags_text_of(invocation, names[i])) {
			status = bt_invocation_wrong(invocation->command,
				"--%s is required where --leader-elect is on, not ''", names[i]);
		}
	}
	return status;
}

static int apply_election(const struct bt_invocation *invocation, struct bt_leader_election_config *election)
{
	if (bt_invocation_has(invocation, "leader-elect")) {
		election->leader_elect = switch_of(invocation, "leader-elect");
	}
	set_text(invocation, "leader-elect-resource-lock", &election->resource_lock);
	set_text(invocation, "leader-elect-resource-name", &election->resource_name);
	set_text(invocation, "leader-elect-resource-namespace", &election->resource_namespace);
	int status = check_lease(invocation, election);

	if (!status) {
		status =
			set_duration(invocation, "leader-elect-lease-duration", &election->lease_duration_ns);
	}
	if (!status) {
		status =
			set_duration(invocation, "leader-elect-renew-deadline", &election->renew_deadline_ns);
	}
	if (!status) {
		status = set_duration(invocation, "leader-elect-retry-period", &election->retry_period_ns);
	}
	return status;
}

static int apply_connection(
	const struct bt_invocation *invocation, struct bt_client_connection_config *connection)
{
	double qps;
	int64_t burst;
	int status = read_real(invocation, "kube-api-qps", 3.4e38, &qps);

	if (!status) {
		status = read_integer(invocation, "kube-api-burst", INT32_MIN, INT32_MAX, &burst);
	}
	if (!status && qps > 0 && burst <= 0) { /* as client-go */
		status = bt_invocation_wrong(invocation->command,
			"--kube-api-burst: burst is required to be greater than 0 when --kube-api-qps is, "
			"not '%s'",
			bt_invocation_text(invocation, "kube-api-burst"));
	}
	if (status) {
		return status;
	}
	set_text(invocation, "kubeconfig", &connection->kubeconfig);
	set_text(invocation, "kube-api-content-type", &connection->content_type);
	if (bt_invocation_has(invocation, "kube-api-qps")) {
		connection->qps = (float)qps;
	}
	if (bt_invocation_has(invocation, "kube-api-burst")) {
		connection->burst = (int32_t)burst;
	}
	return BT_EXIT_OK;
}

struct bt_run_rate bt_run_rate_of(const struct bt_client_connection_config *connection)
{
	return (struct bt_run_rate){.qps = connection->qps == 0 ? 5 : connection->qps,
		.burst = connection->burst > 0 ? (uint32_t)connection->burst : 10};
}

bool bt_run_reads_json(const struct bt_client_connection_config *connection)
{
	struct bt_str types = connection->accept_content_types.len ? connection->accept_content_types
								   : connection->content_type;

	for (size_t i = 0; i < types.len; i++) {
		if (bt_str_starts(bt_str_sub(types, i, types.len), "application/vnd.kubernetes.protobuf")) {
			return false;
		}
	}
	return types.len > 0;
}

int bt_run_flags_apply(const struct bt_invocation *invocation, struct bt_config *config)
{
	int status = apply_election(invocation, &config->leader_election);

	if (!status && !flags_text_of(invocation, "config")) {
		status = apply_connection(invocation, &config->client_connection);
		config->enable_profiling = switch_of(invocation, "profiling");
		config->enable_contention_profiling = switch_of(invocation, "contention-profiling");
	}
	return status;
}

/* As pflag prints it: lists in brackets, booleans as words. */
static void print_value(
	const struct bt_invocation *invocation, const struct bt_option *option, struct bt_buf *out)
{
	bool given = bt_invocation_has(invocation, option->name);
	const char *text = option->repeated && given ? NULL : bt_invocation_text(invocation, option->name);

	bt_buf_clear(out);
	bt_buf_text(out, option->repeated ? "[" : "");
	if (option->type == BT_OPTION_SWITCH) {
		bt_buf_text(out, bt_invocation_switch(invocation, option->name) ? "true" : "false");
	} else {
		bt_buf_text(out, text ? text : "");
	}
	for (size_t i = 0; option->repeated && (text = bt_invocation_item(invocation, option->name, i));
		i++) {
		bt_buf_printf(out, "%s%s", i ? "," : "", text);
	}
	bt_buf_text(out, option->repeated ? "]" : "");
}

static int by_name(const void *a, const void *b)
{
	const struct bt_option *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void bt_run_flags_each(const struct bt_run_flags *flags,
	void (*call)(void *context, const char *name, struct bt_str value), void *context)
{
	const struct bt_command *command = flags->invocation->command;
	const struct bt_option *option, **options = NULL;
	struct bt_buf value = {0};
	size_t n = 0, cap = 0;

	for (size_t i = 0; (option = bt_command_option(command, i)); i++) {
		if (!option->hidden && !option->refused) {
			options = bt_mem_grow(options, n, &cap, sizeof(*options));
			options[n++] = option;
		}
	}
	qsort(options, n, sizeof(*options), by_name);
	for (size_t i = 0; i < n; i++) {
		print_value(flags->invocation, options[i], &value);
		call(context, options[i]->name, bt_buf_view(&value));
	}
	bt_buf_fini(&value);
	bt_mem_free(options);
}

void bt_run_flags_warn(const struct bt_invocation *invocation)
{
	const struct bt_option *option;

	for (size_t i = 0; (option = bt_invocation_ignored(invocation, i)); i++) {
		bt_log(BT_LOG_WARNING, 0, "Flag has no effect",
			bt_log_fields(bt_log_str("flag", bt_str(option->name)),
				bt_log_str("reason", bt_str(option->ignored))));
	}
}

static void warn_of(const char *field, const char *reason)
{
	bt_log(BT_LOG_WARNING, 0, "Configuration has no effect",
		bt_log_fields(bt_log_str("field", bt_str(field)), bt_log_str("reason", bt_str(reason))));
}

void bt_run_config_warn(const struct bt_config *config)
{
	if (config->parallelism.value != DEFAULT_PARALLELISM) {
		warn_of("parallelism", "--workers sets how many threads score nodes");
	}
	if (config->delay_cache_until_active) {
		warn_of("delayCacheUntilActive",
			"a standby keeps its cache current, and schedules as soon as it leads");
	}
	if (config->gates.on[BT_GATE_COORDINATED_LEADER_ELECTION] &&
		config->leader_election.leader_elect.value) {
		warn_of("featureGates.CoordinatedLeaderElection",
			"the first candidate acquires the Lease; no LeaseCandidate is created");
	}
}
