/* SPDX-License-Identifier: Apache-2.0
 * Metrics of every process, and of every component of Kubernetes. Source: client_golang's process collector;
 * k8s.io/component-base/metrics, v0.36.3.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "metrics_int.h"

/* The fields of /proc/self/stat that are exposed. */
struct process {
	unsigned long long start_ticks, virtual_bytes;
	long thread_n, resident_pages;
};

static bool read_stat(struct process *out)
{
	char text[2048];
	FILE *file = fopen("/proc/self/stat", "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file) {
		fclose(file);
	}
	text[n] = 0;
	const char *rest = strrchr(text, ')'); /* the name may contain any character */

	/* From the third field, the state: threads are the 20th, the start the 22nd, then sizes. */
	return rest &&
	       sscanf(rest + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d "
		       "%llu %llu %ld",
		       &out->thread_n, &out->start_ticks, &out->virtual_bytes, &out->resident_pages) == 4;
}

/* When the machine was started, in seconds since the epoch; 0: unknown. */
static double boot_seconds(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long seconds = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "btime %llu", &seconds) == 1) {
			break;
		}
	}
	if (file) {
		fclose(file);
	}
	return (double)seconds;
}

/* Sums of the machine's network, in the process' network namespace. Source: procfs' Netstat. */
static bool read_network(unsigned long long *out_received, unsigned long long *out_sent)
{
	FILE *file = fopen("/proc/self/net/netstat", "r");
	char names[4096], values[4096];
	int found = 0;

	while (file && fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file)) {
		char *rest_of_names = NULL, *rest_of_values = NULL;
		const char *name = strtok_r(names, " \n", &rest_of_names);
		const char *value = strtok_r(values, " \n", &rest_of_values);

		for (bool ours = name && strcmp(name, "IpExt:") == 0; ours && name && value;) {
			if (strcmp(name, "InOctets") == 0) {
				*out_received = strtoull(value, NULL, 10);
				found++;
			} else if (strcmp(name, "OutOctets") == 0) {
				*out_sent = strtoull(value, NULL, 10);
				found++;
			}
			name = strtok_r(NULL, " \n", &rest_of_names);
			value = strtok_r(NULL, " \n", &rest_of_values);
		}
	}
	if (file) {
		fclose(file);
	}
	return found == 2;
}

static uint64_t open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (!directory) {
		return 0;
	}
	for (const struct dirent *entry; (entry = readdir(directory));) {
		n += entry->d_name[0] != '.';
	}
	closedir(directory);
	return n ? n - 1 : 0; /* the directory itself */
}

double bt_process_start_seconds(void)
{
	struct process process;

	return read_stat(&process)
		       ? boot_seconds() + (double)process.start_ticks / (double)sysconf(_SC_CLK_TCK)
		       : 0;
}

void bt_metrics_start_time(struct bt_exposition *x, const char *help)
{
	double start_s = bt_process_start_seconds();

	if (start_s > 0) {
		bt_expose_gauge(x, "process_start_time_seconds", help, start_s);
	}
}

static void add_process(struct bt_exposition *x)
{
	struct process process;
	struct rusage usage;
	struct rlimit files, memory;
	unsigned long long received = 0, sent = 0;

	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		double micros = (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);

		bt_expose(x, "process_cpu_seconds_total", BT_METRIC_COUNTER,
			"Total user and system CPU time spent in seconds.");
		bt_expose_real(x, (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + micros / 1e6);
	}
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		bt_expose_gauge(x, "process_max_fds", "Maximum number of open file descriptors.",
			(double)files.rlim_cur);
	}
	bt_expose_gauge(x, "process_open_fds", "Number of open file descriptors.", (double)open_files());
	if (read_stat(&process)) {
		bt_expose_gauge(x, "process_resident_memory_bytes", "Resident memory size in bytes.",
			(double)process.resident_pages * (double)sysconf(_SC_PAGESIZE));
		bt_expose_gauge(x, "process_virtual_memory_bytes", "Virtual memory size in bytes.",
			(double)process.virtual_bytes);
		/* Metrics of Go's runtime that dashboards draw, and that any process can provide. */
		bt_expose_gauge(x, "go_threads", "Number of OS threads created.", (double)process.thread_n);
		bt_expose_gauge(x, "go_goroutines",
			"Number of goroutines that currently exist: here threads, there is nothing lighter.",
			(double)process.thread_n);
	}
	bt_metrics_start_time(x, "Start time of the process since unix epoch in seconds.");
	if (getrlimit(RLIMIT_AS, &memory) == 0) {
		bt_expose_gauge(x, "process_virtual_memory_max_bytes",
			"Maximum amount of virtual memory available in bytes.", (double)memory.rlim_cur);
	}
	if (read_network(&received, &sent)) {
		bt_expose_counter(x, "process_network_receive_bytes_total",
			"Number of bytes received by the process over the network.", received);
		bt_expose_counter(x, "process_network_transmit_bytes_total",
			"Number of bytes sent by the process over the network.", sent);
	}
}

static void add_gates(struct bt_exposition *x, const struct bt_gates *gates)
{
	static const char *const stages[] = {"ALPHA", "BETA", "", "DEPRECATED"};

	bt_expose(x, "kubernetes_feature_enabled", BT_METRIC_GAUGE,
		"[BETA] This metric records the data about the stage and enablement of a k8s feature.");
	for (int i = 0; i < BT_GATE_N; i++) {
		const struct bt_gate_spec *spec = bt_gate_spec((enum bt_gate)i, gates->release);

		if (spec->stage == BT_GATE_ABSENT) {
			continue;
		}
		bt_expose_label(x, "name", bt_str(bt_gate_name((enum bt_gate)i)));
		bt_expose_label(x, "stage", bt_str(stages[spec->stage]));
		bt_expose_count(x, gates->on[i]);
	}
}

void bt_metrics_of_process(const struct bt_serve_sources *sources, struct bt_exposition *x)
{
	const struct bt_release *release = bt_served_release(sources), *binary = bt_release_binary(release);
	char compatible[16];

	snprintf(compatible, sizeof(compatible), "1.%u", release->compatible);
	add_process(x);
	if (sources->config) {
		add_gates(x, &sources->config->gates);
	}
	bt_expose(x, "kubernetes_build_info", BT_METRIC_GAUGE,
		"[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, "
		"git tree state, build date, Go version, and compiler from which Kubernetes was built, and "
		"platform on which it is running.");
	const char *const labels[][2] = {{"build_date", ""}, {"compiler", ""}, {"git_commit", ""},
		{"git_tree_state", ""}, {"git_version", binary->version}, {"go_version", ""}, {"major", "1"},
		{"minor", binary->minor_text}, {"platform", "linux"}};

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		bt_expose_label(x, labels[i][0], bt_str(labels[i][1]));
	}
	bt_expose_count(x, 1);
	bt_expose(x, "version_info", BT_METRIC_GAUGE,
		"[ALPHA] Provides the compatibility version info of the component. The component label is "
		"the "
		"name of the component, usually kube, but is relevant for aggregated-apiservers.");
	bt_expose_label(x, "binary", bt_str(binary->number));
	bt_expose_label(x, "component", bt_str("kube"));
	bt_expose_label(x, "emulation", bt_str(release->name));
	bt_expose_label(x, "min_compat", bt_str(compatible));
	bt_expose_count(x, 1);
	bt_expose(x, "berth_build_info", BT_METRIC_GAUGE, "1, by berth's version.");
	bt_expose_label(x, "version", bt_str(sources->version ? sources->version : ""));
	bt_expose_count(x, 1);
}
