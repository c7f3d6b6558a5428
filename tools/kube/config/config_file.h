/* SPDX-License-Identifier: Apache-2.0
 * The scheduler's configuration that a command line requests: --feature-gates, --plugin and --config. Errors
 * are reported on standard error, with the remedy.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "engine/flow/cycle/sample.h"
#include "tools/cli/invocation.h"

/* The release of --kubernetes-version. Returns: enum bt_exit. */
int bt_configuration_release(const struct bt_invocation *invocation, const struct bt_release **out_release);

/* The release of an option of that name. Returns: enum bt_exit. */
int bt_configuration_release_of(
	const struct bt_invocation *invocation, const char *option, const struct bt_release **out_release);

/* The release's gates as the option of that name (feature-gates) sets them. Returns: false with upstream's
 * text in out_error. */
bool bt_configuration_try_gates(const struct bt_invocation *invocation, const char *option,
	const struct bt_release *release, struct bt_gates *out_gates, struct bt_buf *out_error);

/* The release's gates as --feature-gates sets them; the release is the one of --kubernetes-version, or the
 * caller's. Returns: enum bt_exit. */
int bt_configuration_gates(const struct bt_invocation *invocation, struct bt_gates *out_gates);
int bt_configuration_gates_of(
	const struct bt_invocation *invocation, const struct bt_release *release, struct bt_gates *out_gates);

/* Loads the plugins of --plugin, if the command has that. Returns: enum bt_exit. */
int bt_configuration_plugins(const struct bt_invocation *invocation);

/* The configuration of --config, or the defaults; with the plugins of --plugin. Returns: enum bt_exit.
 * Owns: bt_config_fini, in any case. */
int bt_configuration_read(
	const struct bt_invocation *invocation, const struct bt_gates *gates, struct bt_config *out_config);

/* The same once more, when the plugins have been loaded. */
int bt_configuration_read_again(
	const struct bt_invocation *invocation, const struct bt_gates *gates, struct bt_config *out_config);

/* The text of --config; empty without one. Returns: enum bt_exit. */
int bt_configuration_text(const struct bt_invocation *invocation, struct bt_buf *out_text);

/* The configuration of such a text, or the defaults where it is NULL. Errors are appended to out_error.
 * Returns: enum bt_exit. Owns: bt_config_fini, in any case. */
int bt_configuration_decode(const struct bt_invocation *invocation, const struct bt_gates *gates,
	const struct bt_buf *text, struct bt_config *out_config, struct bt_buf *out_error);

/* The same; reports errors. */
int bt_configuration_read_text(const struct bt_invocation *invocation, const struct bt_gates *gates,
	const struct bt_buf *text, struct bt_config *out_config);

/* Reports why a configuration is unusable, and frees it. Returns: BT_EXIT_INPUT. */
int bt_configuration_refused(const struct bt_invocation *invocation, struct bt_config_errors *errors);

/* Writes the effective configuration to a file, or to standard output when path is "-".
 * Returns: enum bt_exit. */
int bt_configuration_write(const struct bt_config *config, const char *path);

/* The value of --node-sampling: all, upstream, or configured. */
enum bt_node_sampling bt_configuration_sampling(const char *word);
