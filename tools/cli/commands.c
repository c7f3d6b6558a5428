/* SPDX-License-Identifier: Apache-2.0
 * The one source of berth's command line: every subcommand, option, example, exit status and note, as data.
 */
#include "engine/model/release.h"
#include "tools/cli/bench_text.h"
#include "tools/cli/command.h"
#include "tools/cli/kubectl_text.h"
#include "tools/cli/run_options.h"

/* The default releases of berth compare: an upgrade. */
#define BT_COMPARE_FROM BT_RELEASE_TEXT(BT_RELEASE_COMPARED)
#define BT_COMPARE_TO	BT_RELEASE_TEXT(BT_RELEASE_NEWEST)

#define SEED_HELP "Seed of every random choice. The same input and the same seed give the same output."

/* Rows of several commands; only their texts differ. */
#define FILENAME_OPTION(text)                                                                                \
	{                                                                                                    \
		.name = "filename", .letter = 'f', .type = BT_OPTION_TEXT, .file = BT_FILE_READ,             \
		.argument = "PATH", .repeated = true, .help = text                                           \
	}
#define CONFIG_OPTION(text)                                                                                  \
	{                                                                                                    \
		.name = "config", .type = BT_OPTION_TEXT, .file = BT_FILE_READ, .argument = "FILE",          \
		.help = text                                                                                 \
	}
#define FEATURE_GATES_OPTION(text)                                                                           \
	{                                                                                                    \
		.name = "feature-gates", .type = BT_OPTION_TEXT, .argument = "NAME=BOOL,...",                \
		.repeated = true, .help = text                                                               \
	}
#define SEED_OPTION(text)                                                                                    \
	{                                                                                                    \
		.name = "seed", .type = BT_OPTION_NUMBER, .argument = "N", .default_value = "1",             \
		.max = UINT64_MAX, .help = text                                                              \
	}
#define OUTPUT_OPTION(text)                                                                                  \
	{                                                                                                    \
		.name = "output", .letter = 'o', .type = BT_OPTION_CHOICE, .argument = "FORMAT",             \
		.choices = "table|json|yaml|csv", .default_value = "table", .help = text                     \
	}

#define STRICT_OPTION                                                                                        \
	{                                                                                                    \
		.name = "strict", .help = "The same as --validate=strict."                                   \
	}
/* As kubectl's, and whatever else is wrong in the input. */
#define VALIDATE_OPTION                                                                                      \
	{                                                                                                    \
		.name = "validate", .type = BT_OPTION_CHOICE, .argument = "MODE",                            \
		.choices = "strict|warn|ignore", .default_value = "warn", .bare_value = "strict",            \
		.help = "How objects are checked that no API server has checked (they have no uid): for "    \
			"unknown and duplicate fields, unknown values, and numbers out of range. warn: "     \
			"report and go on. strict: end with status 3 at the first thing wrong in the "       \
			"input, whatever it is. ignore: do not check; only what is lost is reported."        \
	}
#define NO_EXPAND_OPTION                                                                                     \
	{                                                                                                    \
		.name = "no-expand", .help = "Do not make the pods that Deployments, ReplicaSets and the "   \
					     "like still lack."                                              \
	}
#define REPORT_OPTION OUTPUT_OPTION("Format of the report.")
#define GATES_HELP                                                                                           \
	"Feature gates, as kube-scheduler takes them. Without it, the defaults of "                          \
	"--kubernetes-version."
#define PATHS_HELP                                                                                           \
	"File or directory with Kubernetes objects, or - for standard input, as for berth "                  \
	"simulate. May be repeated; the same as giving PATH as an argument."

/* Ends that most commands have in common. */
#define USAGE_EXIT                                                                                           \
	{                                                                                                    \
		BT_EXIT_USAGE, "The command line is wrong."                                                  \
	}
#define WRITING_EXIT                                                                                         \
	{                                                                                                    \
		BT_EXIT_IO, "Writing failed."                                                                \
	}
#define PIPE_EXIT                                                                                            \
	{                                                                                                    \
		BT_EXIT_PIPE, "Output pipe closed."                                                          \
	}

/* A command's inputs: one file, or any number. */
#define ONE_FILE                                                                                             \
	.operands = "FILE|-", .operand_min = 1, .operand_max = 1, .operand_file = BT_FILE_READ,              \
	.reports = true
#define ANY_PATHS                                                                                            \
	.operands = "[PATH...]", .operand_max = SIZE_MAX, .operand_file = BT_FILE_READ, .reports = true

const struct bt_option bt_common_options[] = {
	{.name = "color",
		.type = BT_OPTION_CHOICE,
		.argument = "WHEN",
		.choices = "auto|always|never",
		.default_value = "auto",
		.help = "Colours in text output: auto means on a terminal, unless NO_COLOR is set."},
	{.name = "help", .letter = 'h', .help = "Show this help and exit."},
	{0},
};

static const struct bt_option simulate_options[] = {
	{.name = "filename",
		.alias = "objects",
		.letter = 'f',
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "PATH",
		.repeated = true,
		.help = "File or directory with Kubernetes objects, or - for standard input: JSON or "
			"YAML, several documents, Lists, gzip and zstd. May be repeated; the same as "
			"giving PATH as an argument."},
	CONFIG_OPTION("KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) with profiles, "
		      "plugins, weights and plugin arguments, in YAML or JSON. Without it, the defaults of "
		      "kube-scheduler."),
	{.name = "write-config-to",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_WRITTEN,
		.argument = "FILE",
		.help = "Print the effective configuration, with every default filled in, to FILE or to "
			"standard output when it is -, and exit. The file may be given to --config."},
	{.name = "trace",
		.type = BT_OPTION_CHOICE,
		.argument = "FORMAT",
		.choices = "openb",
		.help = "Read a trace of nodes and of pods that come and go, instead of Kubernetes "
			"objects: openb, Alibaba's GPU cluster of 2023. Needs --nodes and --pods."},
	{.name = "nodes",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "FILE",
		.help = "The trace's nodes."},
	{.name = "pods",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "FILE",
		.help = "The trace's pods."},
	{.name = "no-time",
		.help = "Ignore the trace's creation and deletion times: all pods come at once and none "
			"leaves."},
	{.name = "until",
		.type = BT_OPTION_TEXT,
		.argument = "DURATION|TIME",
		.help = "Go on until then in virtual time and report the cluster as it is then: seconds "
			"or a duration such as 90s, 5m or 1h30m since the beginning (of a trace: since "
			"its second 0), or a time such as 2026-01-01T00:05:00Z. See TIME."},
	{.name = "speed",
		.type = BT_OPTION_TEXT,
		.argument = "FACTOR",
		.default_value = "0",
		.help = "Let FACTOR virtual seconds pass in one second, 1 being real time, and write logs "
			"as things happen. 0: as fast as possible."},
	{.name = "preemption",
		.type = BT_OPTION_CHOICE,
		.argument = "HOW",
		.choices = "overlap|wait",
		.default_value = "overlap",
		.help = "Scheduling while victims terminate: overlap schedules other pods meanwhile, as "
			"kube-scheduler does; wait schedules the preemptor next, so that each line of the "
			"log of decisions follows from the lines before it. Traces need overlap."},
	{.name = "no-expand",
		.help = "Do not make the pods that Deployments, ReplicaSets, ReplicationControllers, "
			"StatefulSets, Jobs, DaemonSets and CronJobs still lack."},
	SEED_OPTION(SEED_HELP " Breaks ties between equal scores."),
	{.name = "workers",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "1",
		.max = 64,
		.help = "Threads that score nodes side by side; 0: from the machine. Decisions are the "
			"same for any number. It pays where every node is scored again for most pods: many "
			"signatures, large clusters."},
	{.name = "threads",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 64,
		.help = "Run the stages in threads: N that prepare objects, N that carry bindings out, "
			"one that puts events in order, one that decides. 0: one after the other, in one "
			"thread. Decisions are the same for any number."},
	{.name = "batch",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "64",
		.min = 1,
		.max = 65536,
		.help = "How many pods workers prepare together. Decisions are the same for any number."},
	{.name = "cpus",
		.type = BT_OPTION_TEXT,
		.argument = "LIST",
		.help = "Threads and workers run on these CPUs only, such as 0-3,8. See berth topology."},
	BT_PLUGIN_OPTION(BT_PLUGIN_HELP),
	BT_KUBERNETES_VERSION_OPTION,
	FEATURE_GATES_OPTION(GATES_HELP),
	{.name = "node-sampling",
		.type = BT_OPTION_CHOICE,
		.argument = "WHICH",
		.choices = "configured|all|upstream",
		.default_value = "configured",
		.help = "Which nodes a decision looks at. all: every node. upstream: as kube-scheduler, "
			"zone by zone from where the last decision stopped, until "
			"percentageOfNodesToScore of the nodes are feasible; without a percentage it "
			"adapts, from 50 % of 100 nodes to 5 % of 5,625 and more, and never fewer than "
			"100. configured: as upstream for a profile with a percentage, every node for "
			"others. Ties go by --seed all the same."},
	REPORT_OPTION,
	{.name = "write-objects",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_WRITTEN,
		.argument = "FILE",
		.help = "Write every object to FILE as it is scheduled: with defaults, priorities, and what "
			"StorageClasses, RuntimeClasses and LimitRanges change, and with the pods and claims "
			"that controllers create. Only the fields that berth reads. JSON, or YAML by the "
			"name; - is standard output."},
	{.name = "enforce-quota",
		.help = "Refuse pods and claims of the input that exceed a ResourceQuota, as the API server "
			"would. Without it, they are placed, with a warning."},
	{.name = "decisions",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_WRITTEN,
		.argument = "FILE",
		.help = "Write every decision to FILE, or to standard output when it is -, one JSON "
			"document a line, in the order in which they were made."},
	{.name = "events",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_WRITTEN,
		.argument = "FILE",
		.help = "Write what a cluster's API server would see to FILE, or to standard output when "
			"it is -, one JSON document a line, in virtual time: events.k8s.io/v1 Events, "
			"patches of pods' status, Bindings and deletions, with kube-scheduler's texts and "
			"order."},
	{.name = "journal",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_WRITTEN,
		.argument = "FILE",
		.help = "Record what the engine is shown and what it decides in FILE, for berth replay."},
	{.name = "explain",
		.type = BT_OPTION_TEXT,
		.argument = "NAMESPACE/POD",
		.repeated = true,
		.help = "Also print what every node has against this pod, or its scores, at each of the "
			"pod's attempts, the chosen node first. Of a pod that is on a node from the "
			"beginning, or evicted, as if it were not there. A name that no pod has ends with "
			"status 3. May be repeated."},
	{.name = "all",
		.help = "Show every row of the report's tables. JSON, YAML and CSV have every row anyway."},
	{.name = "stats",
		.help = "Measure how long each stage takes, and add it to the report: percentiles of "
			"taking an object in, of waiting in the queue (in virtual time), and of deciding. "
			"See LIVE."},
	{.name = "live",
		.help = "Show progress on the whole terminal; where standard error is no terminal, a line "
			"per second. Implies --stats. See LIVE."},
	VALIDATE_OPTION,
	STRICT_OPTION,
	{.name = "fail-on-unplaced",
		.help = "End with status 1 when a pod was not placed or could not be read."},
	{.name = "quiet",
		.letter = 'q',
		.help = "No progress bar, no warnings, and no lines of --live without a terminal."},
	{0},
};

static const struct bt_example simulate_examples[] = {
	{"berth simulate", "A synthetic cluster of 5,000 nodes and 100,000 pods."},
	{"berth simulate tools/samples", "The small cluster that comes with berth."},
	{BT_KUBECTL_GET " | berth simulate -", "The cluster that kubectl talks to."},
	{"berth simulate -f cluster.yaml --explain default/web-1",
		"Why the pod went where it did, or why it cannot run."},
	{"berth simulate --trace openb --nodes nodes.csv --pods pods.csv -o json",
		"Replay a trace in virtual time."},
	{"berth simulate --live --trace openb --nodes nodes.csv --pods pods.csv --speed 100000",
		"Watch it, a day in a second."},
	{0},
};

static const struct bt_exit_text simulate_exits[] = {
	{BT_EXIT_OK, "The report was written, whether or not every pod was placed."},
	{BT_EXIT_NO, "With --fail-on-unplaced: some pod was not placed, or could not be read, or "
		     "something could not be read in which pods may be."},
	USAGE_EXIT,
	{BT_EXIT_INPUT,
		"A path cannot be opened or read, --explain names a pod that is not there, or the "
		"input or the configuration holds nothing usable; with --strict, anything is wrong in it."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; the report covers what was done until then."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note simulate_notes[] = {
	{"INPUT", "Objects may be as kubectl writes them. Unknown fields are ignored, other kinds are "
		  "counted. An error in an object is reported with file, place and remedy; the object is "
		  "skipped and reading continues. Pods of a scheduler that the configuration does not have, "
		  "completed pods and terminating pods are ignored and counted. A path that cannot be "
		  "opened or read ends the run with status 3. A compressed file may unfold to 64 MiB, or to "
		  "200 times what has been read of it; BERTH_UNPACKED_MAX in the environment, such as 4Gi, "
		  "replaces both."},
	{"KUBECTL", "Everything of a cluster that a scheduler looks at: " BT_KUBECTL_GET
		    ". For a cluster of another release than the default one, give berth kinds its "
		    "--kubernetes-version."},
	{"FILES", "No output may be an input or another output, by whatever names. Files are written "
		  "beside the old ones and take their places when they are complete; a run that fails or is "
		  "killed leaves the old ones. Pipes, devices and, with --speed, all files are written in "
		  "place, where readers follow them. With a log on standard output the report goes to "
		  "standard error."},
	{"DECISIONS",
		"Each pod goes where kube-scheduler of --kubernetes-version would put it if it scored "
		"every node. Where several nodes have the same highest score, kube-scheduler picks any; "
		"berth picks by --seed."},
	{"TIME", "Time is virtual. It begins at the latest creation time in the input (where there is none, "
		 "at "
		 "the latest request of a deletion), or with a trace's first event, stands still while pods "
		 "can be decided, and then moves to the next thing "
		 "that happens: the end of a backoff, the end of a pod that is being deleted (preempted "
		 "pods take their grace period), a pod of a trace that comes or leaves. Pods that have "
		 "waited for more than five minutes are tried again at the next full 30 s, when something "
		 "else is still to come and the cluster has changed since they were refused, or with "
		 "--until. When nothing more can happen, or at --until, it ends."},
	{"LIVE", "--live shows progress and the time that is left; pods scheduled and rejected per "
		 "second; the queue by place; assumed and scheduled pods; percentiles of each stage; "
		 "errors by kind; memory that waits for readers; and each thread's work and share of a "
		 "CPU. Rates are over the last one or two seconds. The terminal is restored at the end, "
		 "when interrupted, and while stopped (Ctrl-Z). Measuring reads the clock a few times for "
		 "each pod; without --live and --stats nothing is measured."},
	{0},
};

static const struct bt_option bench_options[] = {
	{.name = "label-filter",
		.type = BT_OPTION_TEXT,
		.argument = "LABELS",
		.help = "Run the workloads with these labels: names separated by commas, each with + or "
			"nothing before it (must be there) or - (must not). Default: performance; without "
			"PATH performance,short; with --run all. all: whatever the labels."},
	{.name = "run",
		.type = BT_OPTION_TEXT,
		.argument = "REGEX",
		.help = "Run the workloads whose TESTCASE/WORKLOAD the extended regular expression "
			"matches somewhere."},
	{.name = "list",
		.alias = "check",
		.help = "Run nothing: read every file that the workloads need, and list them with labels, "
			"parameters and thresholds, and why berth cannot run one."},
	{.name = "runs",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 100000,
		.help = "Run each workload N times. 0: until one second has been measured, or ten have "
			"passed."},
	{.name = "speed",
		.type = BT_OPTION_TEXT,
		.argument = "FACTOR",
		.default_value = "1000",
		.help = "Let what goes by the clock in a workload go FACTOR times as fast as its file "
			"says. 1: as upstream."},
	{.name = "timeout",
		.type = BT_OPTION_TEXT,
		.argument = "SECONDS",
		.default_value = "600",
		.help = "How long an operation may wait for its pods."},
	BT_KUBERNETES_VERSION_OPTION,
	SEED_OPTION("Breaks ties between equal scores."),
	OUTPUT_OPTION("Format of the report. json has upstream's dataItems."),
	{.name = "quiet", .letter = 'q', .help = "No progress bar."},
	{0},
};

static const struct bt_example bench_examples[] = {
	{"berth bench", "A short set of berth's own workloads."},
	{"berth bench perf/workloads/affinity", "All of one family."},
	{"berth bench --list --label-filter all ~/kubernetes/test/integration/scheduler_perf",
		"What upstream's workloads are, and whether berth can run them."},
	{"berth bench ~/kubernetes/test/integration/scheduler_perf -o json", "Upstream's suite."},
	{"berth bench --run 'SchedulingBasic/5000Nodes_10000Pods$' misc/performance-config.yaml",
		"One workload."},
	{0},
};

static const struct bt_exit_text bench_exits[] = {
	{BT_EXIT_OK, "Every workload ran, all its pods were bound, and no threshold was missed."},
	{BT_EXIT_NO, "A workload failed, is not supported, or missed its threshold; the report names it."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "A file is missing or wrong, or no workload was chosen."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; the report covers what was done until then."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note bench_notes[] = {
	{"FILES", "PATH is a file as kube-scheduler's scheduler_perf has them, or a folder: every "
		  "performance-config.yaml below it. All of its opcodes are known: allocResourceClaims, "
		  "churn, createAny, createNamespaces, createNodes, createPodSets, createPods, "
		  "createResourceClaims, createResourceDriver, deletePods, updateAny, barrier, sleep, "
		  "startCollectingMetrics and stopCollectingMetrics. Paths in a file are relative to it. "
		  "Templates know {{.Index}}, {{.Count}} and upstream's functions. Unknown fields and "
		  "opcodes, parameters that are missing or not used, and malformed files are errors, as "
		  "upstream. schedulerConfigPath and feature gates count; metricsCollectorConfig is left "
		  "alone. Thresholds by topic go by the name of the file's folder."},
	{"WHAT IS CHECKED",
		"Each operation that waits has to get all its pods bound. After each run the "
		"ledger has to hold exactly the pods that were bound and not deleted, and nothing "
		"assumed."},
	{"DIFFERENCES FROM UPSTREAM", BT_BENCH_DIFFERENCES},
	{0},
};

static const struct bt_option quality_options[] = {
	FILENAME_OPTION(PATHS_HELP),
	CONFIG_OPTION("KubeSchedulerConfiguration to begin with. NodeResourcesFit's scoring strategy and "
		      "percentageOfNodesToScore are replaced in every profile."),
	BT_PLUGIN_OPTION(BT_PLUGIN_HELP),
	BT_KUBERNETES_VERSION_OPTION,
	FEATURE_GATES_OPTION(GATES_HELP),
	{.name = "percentage",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "10",
		.max = 100,
		.help = "The sample: kube-scheduler's percentageOfNodesToScore. 0: as it adapts it to the "
			"number of nodes, from 50 % of 100 to 5 % of 5,625 and more. Never fewer than 100 "
			"nodes."},
	NO_EXPAND_OPTION,
	SEED_OPTION(SEED_HELP " Breaks ties between equal scores."),
	REPORT_OPTION,
	VALIDATE_OPTION,
	STRICT_OPTION,
	{.name = "quiet", .letter = 'q', .help = "No progress bar and no warnings."},
	{0},
};

static const struct bt_example quality_examples[] = {
	{BT_KUBECTL_GET " | berth quality -",
		"The cluster that kubectl talks to, with the pods that wait there."},
	{"berth generate --nodes 1000 --pods 20000 --profile basic,spread | berth quality -",
		"A synthetic cluster, filled to nine tenths."},
	{"berth quality tools/samples --percentage 0 -o json",
		"With kube-scheduler's default sample of nodes."},
	{0},
};

static const struct bt_exit_text quality_exits[] = {
	{BT_EXIT_OK, "The report was written."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "A path cannot be opened or read, or the input or the configuration holds nothing "
			"usable; with --strict, anything is wrong in it."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note quality_notes[] = {
	{"ROWS", "LeastAllocated, kube-scheduler's default, and MostAllocated, which packs; each by "
		 "looking at every node, and by looking at a sample as kube-scheduler does. The same "
		 "objects go to all four, and each runs in virtual time as berth simulate would run it: "
		 "preempted pods take their grace period, and pods that wait are tried again."},
	{"COLUMNS",
		"unplaced: pods that wait at the end, and their share of all pods. nodes used: by a "
		"pod at least. stranded: free, and no use: what is left on a node when it has been filled "
		"up with average pods until cpu, memory or the number of pods gives out; room: how many "
		"average pods that would be, in all. The average is over all pods of the input. spread "
		"violated: topology spread constraints, hard and soft, counted once for all pods with the "
		"same specification, whose fullest domain has more than maxSkew pods above the emptiest "
		"one; mean excess over maxSkew: on average over all constraints."},
	{0},
};

/* The options of a command that loads a cluster, places its pods, and reports. */
#define PLACING_OPTIONS(config_help, seed_help)                                                              \
	CONFIG_OPTION(config_help), BT_PLUGIN_OPTION(BT_PLUGIN_HELP), BT_KUBERNETES_VERSION_OPTION,          \
		FEATURE_GATES_OPTION(GATES_HELP), NO_EXPAND_OPTION, SEED_OPTION(seed_help), REPORT_OPTION,   \
		VALIDATE_OPTION, STRICT_OPTION,                                                              \
	{                                                                                                    \
		.name = "quiet", .letter = 'q', .help = "No progress bar and no warnings."                   \
	}

static const struct bt_option capacity_options[] = {
	FILENAME_OPTION(
		"File or directory with the cluster, or - for standard input, as for berth simulate. May be "
		"repeated; the same as giving PATH as an argument."),
	{.name = "cluster",
		.type = BT_OPTION_TEXT,
		.argument = "NAME=PATH",
		.repeated = true,
		.help = "One of several clusters, instead of PATH; may be repeated, with the same name for "
			"several files of a cluster. Ranks the clusters by the copies that fit. See "
			"CLUSTERS."},
	{.name = "pod",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "FILE",
		.repeated = true,
		.help = "File with pods and workloads to add copies of; may be repeated. Each pod, one pod "
			"of each workload, and all pods of each PodGroup are a template. Its other objects "
			"join the cluster."},
	{.name = "together",
		.help = "All pods of a FILE, with all replicas, are one template: a copy fits when all of "
			"them "
			"do."},
	{.name = "mix",
		.type = BT_OPTION_TEXT,
		.argument = "N:M...",
		.help = "One more template: so many copies of each of the others, together."},
	{.name = "by",
		.type = BT_OPTION_TEXT,
		.argument = "WHAT",
		.repeated = true,
		.help = "Also count where copies are: by node, by zone, or by a label of nodes. May be "
			"repeated."},
	{.name = "limit",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "100000",
		.max = 10000000,
		.help = "Stop at so many copies of a template."},
	{.name = "at-least",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 10000000,
		.help = "End with status 1 when fewer copies of a template fit."},
	{.name = "ignore-pending", .help = "Do not place the cluster's pending pods first."},
	PLACING_OPTIONS("KubeSchedulerConfiguration to place pods by.",
		SEED_HELP " Breaks ties between equal scores."),
	{0},
};

static const struct bt_example capacity_examples[] = {
	{"berth capacity cluster.yaml --pod web.yaml",
		"How many more pods of the Deployment in web.yaml fit."},
	{"berth capacity cluster.yaml --pod web.yaml --pod worker.yaml --mix 3:1 --by zone",
		"Each alone, and three of one with one of the other; by zone."},
	{"berth capacity cluster.yaml --pod job.yaml --together --at-least 2",
		"Does the whole job fit twice? For scripts: status 1 if not."},
	{"berth capacity cluster.yaml --pod gang.yaml --feature-gates GenericWorkload=true --by zone",
		"How many more gangs fit: PodGroups with all of their pods."},
	{"berth capacity --cluster east=east.json --cluster west=west.json --pod job.yaml --together",
		"Which cluster takes the job? Status 1 if none does."},
	{0},
};

static const struct bt_exit_text capacity_exits[] = {
	{BT_EXIT_OK, "The report was written, and --at-least copies of every template fit; with --cluster, "
		     "on some cluster."},
	{BT_EXIT_NO, "The report was written; fewer copies than --at-least fit; with --cluster, on every "
		     "cluster."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "A path cannot be opened or read, or the input, a FILE or the configuration holds "
			"nothing usable; with --strict, anything is wrong in it."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note capacity_notes[] = {
	{"HOW IT COUNTS",
		"The cluster's pending pods are placed first, as berth simulate places them. Then copies of "
		"a "
		"template are added, one after the other, until one does not fit, and are removed again "
		"before "
		"the next template. Every copy is placed by a full scheduling cycle, so all plugins count. A "
		"copy takes no running pod's place: it does not preempt."},
	{"PODGROUPS",
		"With the feature gate GenericWorkload all pods of a PodGroup, or of a tree of groups with "
		"CompositePodGroup, are one template. Each copy is a group of its own and is placed by the "
		"cycle of a group; with TopologyAwareWorkloadScheduling in one rack, zone, and so on. A copy "
		"fits when all of its pods do, not just minCount of them. Where each pod alone has a node, "
		"the refusal is that of the group."},
	{"CLUSTERS",
		"With --cluster the clusters are loaded one after the other, so that memory is needed for "
		"the largest one. A row for each template and cluster, the cluster with the most copies "
		"first; where as many fit, the first one given. A cluster takes a template when --at-least "
		"copies fit, by default one. A cluster that cannot be read ends with status 3, and none is "
		"ranked. --by is for one cluster."},
	{"SECTIONS", "capacity: copies that fit. refusals: why the next one does not; the nodes of a "
		     "template sum to "
		     "all nodes, and nearest node is the one that lacks least. places: with --by. stranded: "
		     "what is "
		     "free with the copies in place, and no further copy can use."},
	{0},
};

static const struct bt_option check_options[] = {
	FILENAME_OPTION("File or directory with the application's manifests, or - for standard input. May be "
			"repeated. Its pods and workloads are judged; its other objects join the cluster."),
	{.name = "no-preemption",
		.help = "End with status 1 also when the application fits only by preemption of other pods."},
	{.name = "ignore-kind",
		.type = BT_OPTION_TEXT,
		.argument = "KIND",
		.repeated = true,
		.help = "Leave out objects of this kind, which is unknown to berth and makes no pods. May be "
			"repeated."},
	{.name = "ignore-pending", .help = "Leave the cluster's pending pods out."},
	CONFIG_OPTION("KubeSchedulerConfiguration to place pods by."),
	BT_PLUGIN_OPTION(BT_PLUGIN_HELP),
	BT_KUBERNETES_VERSION_OPTION,
	FEATURE_GATES_OPTION(GATES_HELP),
	NO_EXPAND_OPTION,
	SEED_OPTION(SEED_HELP " Breaks ties between equal scores."),
	{.name = "output",
		.letter = 'o',
		.type = BT_OPTION_CHOICE,
		.argument = "FORMAT",
		.choices = "table|json|yaml|csv|sarif|junit",
		.default_value = "table",
		.help = "Format of the report. sarif: SARIF 2.1.0 with the places of workloads in the "
			"manifests, for code reviews. junit: XML with a test case for each workload, for CI "
			"systems."},
	VALIDATE_OPTION,
	STRICT_OPTION,
	{.name = "quiet", .letter = 'q', .help = "No progress bar and no warnings."},
	{0},
};

static const struct bt_example check_examples[] = {
	{BT_KUBECTL_GET " | berth check - -f app/", "Does the application fit on the cluster as it is now?"},
	{"helm template app | berth check cluster.json -f - --no-preemption",
		"Without taking the place of other pods?"},
	{"berth check cluster.json -f app/ -o sarif >check.sarif", "For a code review of the manifests."},
	{0},
};

static const struct bt_exit_text check_exits[] = {
	{BT_EXIT_OK, "The application fits: each of its pods has a place."},
	{BT_EXIT_NO, "It does not fit, or, with --no-preemption, only by preemption."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "It was not judged: something is missing or wrong in the cluster, the application or "
			"the configuration. See NEVER GREEN."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note check_notes[] = {
	{"HOW IT JUDGES",
		"The cluster's pending pods are placed first, as berth simulate places them; whether they "
		"find a place does not matter. Then the application is applied. A pod that the cluster has "
		"counts for its workload when it is as the manifest would make it; the others of that "
		"workload are replaced. The new pods are placed by full scheduling cycles, with preemption. "
		"What counts is the state after the rollout: the pods of a surge need no room. A manifest "
		"without replicas keeps those of the cluster, and one run of a CronJob has to fit."},
	{"NEVER GREEN",
		"Status 3, with the reason: a path cannot be read; the application has no pod and no "
		"workload, an object twice, a Node, a kind that is unknown and may make pods, an object that "
		"is invalid or names a PriorityClass that is missing, a schedulerName of no profile, or a "
		"spec.nodeName; its pods refer to claims, classes or other objects that are missing; the "
		"cluster has no nodes, or lost pods with what is wrong in it. Status 1: a pod waits for a "
		"scheduling gate; a DaemonSet's pods are for no node."},
	{"SECTIONS", "check: a row for each workload: its pods; those of the cluster that count (running), "
		     "those that get a place and those that do not; old pods that are replaced; preempted "
		     "pods. refusals: why the first pod without a place has none; its nodes sum to all "
		     "nodes. victims: preempted pods, and the PodDisruptionBudgets that this violates."},
	{0},
};

static const struct bt_option explain_options[] = {
	FILENAME_OPTION(
		"File or directory with the cluster, or - for standard input, as for berth simulate. May be "
		"repeated; the same as giving PATH as an argument."),
	{.name = "attempt",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.min = 1,
		.max = 1000000,
		.help = "Explain the pod's N-th attempt, with the cluster as it was then, instead of the "
			"last."},
	{.name = "ignore-pending",
		.help = "Do not place the cluster's pending pods first: explain the pod in the cluster of "
			"the input, with its terminating pods."},
	PLACING_OPTIONS("KubeSchedulerConfiguration to place pods by.",
		SEED_HELP " Breaks ties between equal scores."),
	{0},
};

static const struct bt_example explain_examples[] = {
	{"berth explain cluster.yaml shop/web-7", "Why a pod is pending, or on its node."},
	{"berth explain cluster.yaml web-7 -o json | jq -r '.fixes[0].patch'",
		"The cheapest change of the pod as a JSON patch. Without a namespace: default."},
	{BT_KUBECTL_GET " | berth explain - web-7 --ignore-pending", "In the cluster as it is."},
	{0},
};

static const struct bt_exit_text explain_exits[] = {
	{BT_EXIT_OK, "The report was written; the pod is placed."},
	{BT_EXIT_NO, "The report was written; the pod is pending, gone, or ignored."},
	USAGE_EXIT,
	{BT_EXIT_INPUT,
		"A path cannot be opened or read, the input or the configuration holds nothing usable, "
		"or there is no such pod or attempt; with --strict, anything is wrong in the input."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note explain_notes[] = {
	{"WHAT IS EXPLAINED",
		"The cluster's pending pods are placed first, as berth simulate places them. A pod that was "
		"placed then is explained at the attempt that placed it, a pending one in the cluster at the "
		"end. A pod that the input has bound is explained in the cluster of the input, as if it was "
		"to be placed anew."},
	{"FIXES",
		"Every fix has been tried by the engine: with it the pod is placed. From cheap to dear: wait "
		"for terminating pods; tolerate a taint; lower a request to the largest that fits; raise "
		"maxSkew; drop a nodeSelector, node affinity, pod affinity, pod anti-affinity or host port; "
		"uncordon a node; evict pods of lower priority; add a node like one of the cluster, empty; "
		"evict against a disruption budget. One change comes before several. patch is a JSON patch "
		"(RFC 6902) for the pod, or for the pod template of its workload below /spec/template."},
	{"SECTIONS",
		"explain: the scores of feasible nodes, weighted, the chosen one first; of a pod that fits "
		"nowhere its nodes by verdict, which sum to all nodes. nearest: the nodes that lack the "
		"least, with all that the pod lacks there. fixes: as above."},
	{0},
};

static const struct bt_option timeline_options[] = {
	FILENAME_OPTION("File or directory with the cluster, or - for standard input, as for berth "
			"simulate; or a journal of berth simulate or berth run. May be repeated; the same "
			"as giving PATH as an argument."),
	{.name = "taint-eviction",
		.help = "Let NoExecute taints evict pods in virtual time, as the taint eviction controller "
			"does: at once, or after tolerationSeconds. A journal has its own evictions."},
	PLACING_OPTIONS("KubeSchedulerConfiguration to place pods by. A journal has its own.",
		SEED_HELP " Breaks ties between equal scores."),
	{0},
};

static const struct bt_example timeline_examples[] = {
	{"berth timeline cluster.yaml shop/web-7", "What happens to a pod when the cluster is simulated."},
	{"berth timeline run.journal web-7", "The same from a journal. Without a namespace: default."},
	{"berth timeline cluster.yaml web-7 -o json | jq '.changes[]'", "How its object changes."},
	{0},
};

static const struct bt_exit_text timeline_exits[] = {
	{BT_EXIT_OK, "The report was written; the pod is on a node."},
	{BT_EXIT_NO, "The report was written; the pod is pending, gone, or ignored."},
	USAGE_EXIT,
	{BT_EXIT_INPUT,
		"A path cannot be opened or read, the input or the configuration holds nothing usable, a "
		"journal is damaged or decides differently now, or there is no such pod; with --strict, "
		"anything is wrong in the input."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note timeline_notes[] = {
	{"SECTIONS",
		"timeline: one row for each thing that happens, in virtual time (of a journal: in its own "
		"time). created, updated, deleted: the API server shows the pod. queue: it moves to a place "
		"of the scheduling queue, after an event with upstream's label. hint: a plugin's queueing "
		"hint. attempt: a scheduling cycle begins. waits: at Permit. event, patch, bind: calls to "
		"the API server for it. evicts: it preempts this pod. evicted: it is preempted, or evicted "
		"by a taint. changes: the fields that a step changes, as the API server would store them."},
	{0},
};

static const struct bt_option recommend_options[] = {
	FILENAME_OPTION(
		"File or directory with the cluster, or - for standard input, as for berth simulate. May be "
		"repeated; the same as giving PATH as an argument."),
	{.name = "node-types",
		.type = BT_OPTION_TEXT,
		.argument = "FILE",
		.file = BT_FILE_READ,
		.repeated = true,
		.help = "Types of nodes that can be bought: Nodes as templates. The annotation "
			"berth.dev/price is the price of one, berth.dev/limit their number. May be "
			"repeated."},
	{.name = "remove",
		.help = "Also find nodes that could go: drained one after the other, their pods fit "
			"elsewhere, and no PodDisruptionBudget forbids it."},
	{.name = "recreate-all",
		.help = "With --remove, pods without a controller move, too, as if somebody created them "
			"again."},
	{.name = "trials",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "2000",
		.max = 10000000,
		.help = "How many choices of nodes to replay in search of a lower price."},
	PLACING_OPTIONS("KubeSchedulerConfiguration to place pods by.",
		SEED_HELP " Breaks ties between equal scores."),
	{0},
};

static const struct bt_example recommend_examples[] = {
	{"berth recommend cluster.yaml --node-types tools/node-types/aws.yaml",
		"Which nodes to add so that every pending pod fits."},
	{"berth recommend cluster.yaml --remove", "Which nodes could go."},
	{"berth recommend cluster.yaml --node-types types.yaml -o json | jq '.recommend[]'",
		"The nodes to add, as JSON."},
	{0},
};

static const struct bt_exit_text recommend_exits[] = {
	{BT_EXIT_OK, "The report was written; every pod has a place with the recommended nodes."},
	{BT_EXIT_NO, "The report was written; some pods fit on no node of these types."},
	USAGE_EXIT,
	{BT_EXIT_INPUT,
		"A path cannot be opened or read, or the input, the types or the configuration hold nothing "
		"usable; with --strict, anything is wrong in the input."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note recommend_notes[] = {
	{"HOW", "The cluster's pending pods are placed first, as berth simulate places them. For those that "
		"are left, nodes are chosen that take the most for their price, then exchanged for fewer or "
		"cheaper ones. Each choice is replayed: its nodes join the cluster, and the pods are placed "
		"in the queue's order. The report shows a choice that the replay has confirmed."},
	{"BOUND", "The least price at which nodes of these types offer the sum of what the placed pods "
		  "request, if nodes could be bought in parts: pods that fit on a few types only need these. "
		  "The true minimum lies between bound and price. Pods with affinity, spread constraints, "
		  "volumes or claims do not count for it, as new nodes may help them onto old ones."},
	{0},
};

static const struct bt_option whatif_options[] = {
	FILENAME_OPTION(
		"File or directory with the cluster, or - for standard input, as for berth simulate. May be "
		"repeated; the same as giving PATH as an argument."),
	{.name = "drain",
		.type = BT_OPTION_TEXT,
		.argument = "NODE|SELECTOR",
		.repeated = true,
		.help = "Drain this node, or the nodes with these labels: they are cordoned, and their pods "
			"evicted. A selector is KEY=VALUE, KEY!=VALUE or !KEY, several joined by commas."},
	{.name = "lose",
		.type = BT_OPTION_TEXT,
		.argument = "NODE|SELECTOR",
		.repeated = true,
		.help = "These nodes fail, and are deleted: no budget is asked, and pods without a "
			"controller are lost."},
	{.name = "add",
		.type = BT_OPTION_TEXT,
		.argument = "TEMPLATE*N",
		.repeated = true,
		.help = "Add N nodes (without *N: one) like TEMPLATE: a node of the cluster, or a file with "
			"a Node. They are NAME-1, NAME-2 and so on, healthy and without pods but those of "
			"the input's DaemonSets."},
	{.name = "scale",
		.type = BT_OPTION_TEXT,
		.argument = "[NAMESPACE/]KIND/NAME=N",
		.repeated = true,
		.help = "Give a Deployment, ReplicaSet, StatefulSet or ReplicationController N replicas, as "
			"kubectl scale does. Its controller chooses the pods that leave."},
	{.name = "apply",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "FILE",
		.repeated = true,
		.help = "Add the objects of a file or folder to the cluster, or replace those of the same "
			"name. A workload with another pod template replaces its pods."},
	{.name = "delete",
		.type = BT_OPTION_TEXT,
		.argument = "KIND/[NAMESPACE/]NAME",
		.repeated = true,
		.help = "Delete an object: a workload with its pods; a pod, which its controller makes "
			"again; a node, as --lose; or any other kind that berth reads. KIND is as for "
			"kubectl: deployment, deploy, pods, pdb."},
	{.name = "set",
		.type = BT_OPTION_TEXT,
		.argument = "NODE|SELECTOR:CHANGE",
		.repeated = true,
		.help = "Change nodes: label/KEY=VALUE, label/KEY-, taint/KEY=VALUE:EFFECT, "
			"taint/KEY:EFFECT-, allocatable/RESOURCE=QUANTITY, unschedulable=true. A NoExecute "
			"taint evicts pods that do not tolerate it."},
	{.name = "each",
		.type = BT_OPTION_TEXT,
		.argument = "node|zone|LABEL",
		.help = "Drain each node, the nodes of each zone, or those of each value of a label: one "
			"question for each, of the cluster as the other options leave it."},
	{.name = "pairs",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.min = 1,
		.max = 10000000,
		.help = "Lose N different pairs of nodes, drawn by --seed, or all pairs when there are no "
			"more: one question for each."},
	{.name = "jobs",
		.letter = 'j',
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.min = 1,
		.max = 1024,
		.help = "Answer questions by N processes. The report is the same for any number. The default "
			"is the number of CPUs that berth may use."},
	{.name = "recreate-all",
		.help = "Place pods without a controller again, too, as if somebody made them anew."},
	{.name = "ignore-pending", .help = "Do not place the cluster's pending pods first, nor later."},
	{.name = "no-preemption",
		.help = "Pods of a question do not preempt, as if their preemptionPolicy was Never."},
	PLACING_OPTIONS("KubeSchedulerConfiguration to place pods by.",
		SEED_HELP " Breaks ties between equal scores, and draws the pairs."),
	{0},
};

static const struct bt_example whatif_examples[] = {
	{"berth whatif cluster.yaml --drain node-7", "Where the pods of a node would go."},
	{"berth whatif cluster.yaml --each zone", "Does the cluster survive the drain of any zone?"},
	{"berth whatif cluster.yaml --each node -o json",
		"Every node, one after the other: which one cannot be drained, and why."},
	{"berth whatif cluster.yaml --pairs 1000", "A thousand losses of two nodes at once."},
	{"berth whatif cluster.yaml --add 'node-7*3'",
		"Which pending pods fit on three more nodes like node-7."},
	{"berth whatif cluster.yaml --scale shop/deployment/web=50 --each zone",
		"With fifty replicas, can every zone be drained?"},
	{"berth whatif cluster.yaml --set 'pool=gpu:taint/dedicated=ml:NoExecute'",
		"Which pods a taint on the nodes of a pool evicts, and where they go."},
	{0},
};

static const struct bt_exit_text whatif_exits[] = {
	{BT_EXIT_OK, "The report was written; every displaced, preempted and new pod is placed, and no "
		     "budget forbids it."},
	{BT_EXIT_NO, "The report was written; some pod is not placed, not recreated, lost, or may not be "
		     "evicted, or a preemption violates a budget."},
	USAGE_EXIT,
	{BT_EXIT_INPUT,
		"A path cannot be opened or read, the input or the configuration holds nothing usable, or "
		"no node or object is selected; with --strict, anything is wrong in the input."},
	{BT_EXIT_IO, "Writing failed, or a process of --jobs could not be started or has died."},
	{BT_EXIT_INTERRUPTED, "Interrupted; there is no report."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note whatif_notes[] = {
	{"QUESTIONS",
		"The cluster's pending pods are placed first, as berth simulate places them. All changes of "
		"a command line together are one question, and are made in their order; --each and --pairs "
		"ask many, each after those changes. After each question everything is as before. After each "
		"change the pods that wait are placed as new ones, the most important first, then the "
		"oldest, by a full scheduling cycle each. Pods that were pending before are tried as well, "
		"unless nodes are only drained or lost."},
	{"PREEMPTION",
		"A pod that fits nowhere evicts pods of lower priority as kube-scheduler does, with the "
		"fewest violations of PodDisruptionBudgets, and takes their place once they are gone. The "
		"controller of a preempted pod makes another one, which waits behind the pods of its "
		"priority. Preempted pods are listed with the pod that evicts them, and with a budget whose "
		"allowed disruptions, after all evictions so far, are used up."},
	{"PODS",
		"For each displaced pod with a controller a new one is placed. Pods of DaemonSets and static "
		"pods end with their node, and are not counted. Pods without a controller are not recreated. "
		"A pod that fits nowhere is listed with its reasons, each with the number of nodes and, for "
		"resources, the least that is missing and where."},
	{"BUDGETS", "forbidden: displaced pods whose eviction a PodDisruptionBudget forbids, by the "
		    "disruptions that its status allows, if all pods of the question are evicted at once. "
		    "Only drains ask budgets. violated: preempted pods of which a budget allows no "
		    "disruption."},
	{"UTILIZATION",
		"Requests in percent of what the nodes can give, before and after, without nodes that the "
		"question drains or loses."},
	{0},
};

static const struct bt_option compare_options[] = {
	{.name = "from",
		.type = BT_OPTION_TEXT,
		.argument = "1.MINOR",
		.default_value = BT_COMPARE_FROM,
		.help = "The release to compare with; of a journal, the one by which it was written."},
	{.name = "to",
		.type = BT_OPTION_TEXT,
		.argument = "1.MINOR",
		.default_value = BT_COMPARE_TO,
		.help = "The release that is compared."},
	FILENAME_OPTION(PATHS_HELP),
	{.name = "journal",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "FILE",
		.help = "Take the decisions of a journal (berth simulate --journal, berth run --journal) "
			"instead of placing a cluster's pods."},
	{.name = "reschedule",
		.help = "Place all pods, also those that are on nodes, in order of priority and creation."},
	NO_EXPAND_OPTION,
	CONFIG_OPTION("KubeSchedulerConfiguration, read by both releases. What the newer one does not "
		      "accept is reported."),
	BT_PLUGIN_OPTION(BT_PLUGIN_HELP),
	FEATURE_GATES_OPTION("Feature gates of both, as kube-scheduler takes them. Others have each "
			     "release's own defaults."),
	{.name = "to-feature-gates",
		.type = BT_OPTION_TEXT,
		.argument = "NAME=BOOL,...",
		.repeated = true,
		.help = "Feature gates of --to, in place of --feature-gates: for gates that only one release "
			"knows, and to compare gates of one release."},
	SEED_OPTION(SEED_HELP " Breaks ties between equal scores."),
	{.name = "all",
		.help = "List every difference in the table, too, and the metrics and texts that change in "
			"any cluster."},
	REPORT_OPTION,
	VALIDATE_OPTION,
	STRICT_OPTION,
	{.name = "quiet", .letter = 'q', .help = "No progress, and no warnings about the input."},
	{0},
};

static const struct bt_example compare_examples[] = {
	{"berth compare cluster.yaml --from " BT_COMPARE_FROM " --to " BT_COMPARE_TO,
		"What an upgrade changes for the pending pods."},
	{"berth compare cluster.yaml --reschedule -o json", "For all pods, as JSON."},
	{"berth compare gangs.yaml --feature-gates GenericWorkload=true", "For PodGroups."},
	{"berth compare --journal run.journal --to " BT_COMPARE_TO, "For each decision of a journal."},
	{0},
};

static const struct bt_exit_text compare_exits[] = {
	{BT_EXIT_OK, "Nothing differs."},
	{BT_EXIT_NO, "Something differs, or the newer release refuses a flag or the configuration."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "A path or the configuration could not be read, or there are no nodes."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note compare_notes[] = {
	{"WHAT IS COMPARED",
		"The pods are placed by --from. At each decision --to decides as well, in the same "
		"cluster, and then what --from has decided is carried out, so that one difference does "
		"not lead to others. A pod that --to may place on the same node, because no score is "
		"higher, does not differ. When a pod is tried is --from's; the queues of the two are not "
		"compared."},
	{"CAUSES", "The cause of a difference is found by deciding again under --to with one point turned "
		   "back to --from: a rule, the texts of events, a default plugin, a feature "
		   "gate. If none alone makes the difference go, each is turned on alone under --from. A "
		   "difference that needs several of them names them, \"together\"."},
	{"PODGROUPS",
		"With the gate GenericWorkload pods of a PodGroup are decided together. If --to decides a "
		"group whose pods --from has decided in one cycle, it decides them in one cycle, too, "
		"in the same order, each pod beside the nodes that it gives to those before; then what "
		"--from has decided "
		"for them is carried out. A pod that --to does not let into the cycle, as its PodGroup is "
		"unknown, is \"gated\"."},
	{"LIMITS", "Extenders are refused, as their answers are not known."},
	{0},
};

static const struct bt_option verdict_options[] = {
	BT_KUBERNETES_VERSION_OPTION,
	SEED_OPTION(SEED_HELP),
	{0},
};

static const struct bt_example verdict_examples[] = {
	{"berth verdict scenarios.jsonl > verdicts.jsonl", "Judge every scenario of the file."},
	{"zcat scenarios.jsonl.gz | berth verdict -", "The same from standard input."},
	{0},
};

static const struct bt_exit_text verdict_exits[] = {
	{BT_EXIT_OK, "Every scenario was answered."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "The file or a scenario could not be read; the others were answered."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; complete answers were written."},
	PIPE_EXIT,
	{0},
};

static const struct bt_option replay_options[] = {
	BT_PLUGIN_OPTION("Shared object with a plugin (berth_plugin(3)) by which the journal was written. "
			 "May be repeated."),
	{.name = "workers",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "1",
		.min = 1,
		.max = 64,
		.help = "Decide with N worker threads. Decisions do not depend on it."},
	REPORT_OPTION,
	{0},
};

static const struct bt_example replay_examples[] = {
	{"berth simulate tools/samples --journal run.journal", "Records a simulation."},
	{"berth replay run.journal", "Plays it again and compares every decision."},
	{0},
};

static const struct bt_exit_text replay_exits[] = {
	{BT_EXIT_OK, "All decisions match the journal."},
	{BT_EXIT_NO, "A decision differs; the first one is printed, with the journal's."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "The journal cannot be read, is cut off or damaged; the part before was replayed."},
	{BT_EXIT_IO, "Writing failed, or no worker could be started."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note replay_notes[] = {
	{"JOURNALS",
		"A journal holds the configuration, every object that the engine was shown, every reading "
		"of the clock, every answer of the binder, and every decision, in the order of the "
		"scheduling thread. Nothing else affects decisions: not the number of threads, nor "
		"how fast they were. FILE may be compressed with gzip or zstd."},
	{0},
};

static const struct bt_option history_options[] = {
	BT_KUBERNETES_VERSION_OPTION,
	{.name = "elapsed",
		.help = "Say of each whole cycle how many seconds it took (elapsed; cpu: of the thread), "
			"without what the API did meanwhile, and how many pods were placed and "
			"preempted; nothing of the queue. Ties go to any of the best nodes."},
	{0},
};

static const struct bt_example history_examples[] = {
	{"berth history histories.jsonl > answers.jsonl", "Play every history of the file."},
	{0},
};

static const struct bt_exit_text history_exits[] = {
	{BT_EXIT_OK, "Every history was played."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "The file or a history could not be read; the others were played."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; complete answers were written."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note history_notes[] = {
	{"FORMAT", "A line is {\"id\", \"note\", \"config\", \"featureGates\", \"objects\": [...], "
		   "\"steps\": [...]}; the configuration, the gates (\"A=true,B=false\") and both names may "
		   "be left out. The answer has one element for each step: what the cycle did, and then the "
		   "pods that are active, in backoff (with the seconds left), unschedulable and gated (with "
		   "the plugins that refuse them), in flight, and nominated."},
	{"STEPS", "A step creates, updates or deletes an object, lets seconds pass (advance), or runs a "
		  "cycle: whole (cycle), or in two halves between which other things happen (cycleBegin, "
		  "cycleEnd). A cycle takes the pinned node when it is feasible, otherwise the first by "
		  "name of the best; failBind lets the API refuse the binding. delete needs kind, name, and "
		  "namespace; update or delete of a missing object does nothing and reports it (missing)."},
	{"TIME", "Time begins at 2026-01-01T00:00:00Z and stands still but for advance and a millisecond "
		 "before each object and step. Backoffs end at whole seconds; what waits for more than "
		 "five minutes is requeued every 30 s."},
	{0},
};

static const struct bt_option generate_options[] = {
	{.name = "nodes",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "N|FILE",
		.default_value = "5000",
		.help = "Number of nodes, up to 1000000. With --trace: the trace's file of nodes."},
	{.name = "pods",
		.type = BT_OPTION_TEXT,
		.file = BT_FILE_READ,
		.argument = "N|FILE",
		.default_value = "100000",
		.help = "Number of pods, up to 100000000. With --trace: the trace's file of pods."},
	{.name = "zones",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "5",
		.min = 1,
		.max = 1000,
		.help = "Number of zones; nodes are spread over them in turn."},
	{.name = "signatures",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "1000",
		.min = 1,
		.max = 1000000,
		.help = "Number of different signatures (labels and spec) that pods are drawn from, the "
			"first ones more often. They share a few dozen sizes of requests."},
	{.name = "distinct-requests",
		.help = "Give every signature requests of its own. That is rare in clusters and hard for "
			"berth, which shares work between pods that request the same."},
	{.name = "profile",
		.type = BT_OPTION_TEXT,
		.argument = "NAME,...",
		.default_value = "everyday",
		.repeated = true,
		.help = "Features that nodes and pods use; see PROFILES. May be repeated."},
	{.name = "bound",
		.type = BT_OPTION_FRACTION,
		.argument = "FRACTION",
		.default_value = "0",
		.help = "Share of the pods that are on a node already, from 0 to 1. No node gets more "
			"than it can take. Pods with requirements on other pods or disks stay pending, "
			"and so does a pod for which no node is found."},
	{.name = "load",
		.type = BT_OPTION_FRACTION,
		.argument = "FRACTION",
		.default_value = "0.88",
		.help = "Share of the cluster's CPU that all pods together request, from 0 to 1, and of "
			"its memory a tenth less; see SIZE."},
	{.name = "gang-size",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 100000,
		.help = "With profile gangs or topology: put every pod in a PodGroup, of N pods each; the "
			"last one of a signature has those that are left. 0: some pods, 2 to 64 a group."},
	{.name = "kubernetes-version",
		.type = BT_OPTION_TEXT,
		.argument = "1.MINOR",
		.default_value = BT_RELEASE_DEFAULT_TEXT,
		.help = "With profile gangs: the version whose objects gangs are. A PodGroup each, which "
			"pods "
			"name in spec.schedulingGroup; where that version has none, a Workload each, which "
			"they name in spec.workloadRef."},
	SEED_OPTION(SEED_HELP),
	{.name = "output",
		.letter = 'o',
		.type = BT_OPTION_CHOICE,
		.argument = "FORMAT",
		.choices = "json|yaml",
		.default_value = "json",
		.help = "json is one List with one object a line; yaml is one document an object."},
	{.name = "trace",
		.type = BT_OPTION_CHOICE,
		.argument = "FORMAT",
		.choices = "openb",
		.help = "Write the nodes and pods of a trace as Kubernetes objects instead."},
	{.name = "strict",
		.help = "With --trace: exit with status 3 at the first wrong row, instead of skipping it."},
	{0},
};

static const struct bt_example generate_examples[] = {
	{"berth generate | berth simulate -", "What berth simulate does without arguments."},
	{"berth generate --nodes 100 --pods 2000 --profile basic,taints -o yaml > cluster.yaml",
		"A small cluster to read."},
	{"berth generate --profile mixed --bound 0.8 --seed 7",
		"A cluster that is mostly full, every plugin in use."},
	{"berth generate --trace openb --nodes nodes.csv --pods pods.csv", "A trace as Kubernetes objects."},
	{0},
};

static const struct bt_exit_text generate_exits[] = {
	{BT_EXIT_OK, "Everything was written."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "The trace cannot be read or holds nothing usable, or anything wrong with --strict."},
	WRITING_EXIT,
	{BT_EXIT_INTERRUPTED, "Interrupted; the output ends after a whole object."},
	PIPE_EXIT,
	{0},
};

static const struct bt_note generate_notes[] = {
	{"PROFILES",
		"basic: CPU and memory requests of a few dozen shapes on seven machine types.\nfit: "
		"also GPUs, ephemeral storage, init containers, sidecars, limits without requests, "
		"overhead.\naffinity: node selectors, required and preferred node affinity over zones, "
		"machine types and disks.\ntaints: tainted and cordoned nodes; pods that tolerate the "
		"taints, or would rather avoid them.\nports: pods with host ports, on one address or "
		"all.\nimages: nodes that hold images; pods that use them.\ngates: pods that wait for a "
		"scheduling gate.\npriority: pods of several priority classes.\nspread: topology spread "
		"constraints over zones and hosts.\ninterpod: affinity and anti-affinity between pods, "
		"over zones and hosts.\nvolumes: disks named in the pod itself, shared for reading or "
		"held by one pod.\npreemption: low priority for what is bound, high priority for some "
		"that waits, disruption budgets.\nchurn: pods that have ended or are being deleted among "
		"those that are bound.\neveryday: basic, fit, affinity, taints, images and "
		"priority.\nmixed: every profile so far at once.\ndevices: GPUs in ResourceSlices; pods with "
		"a ResourceClaim each.\ngangs: pods in PodGroups of 2 to 64, all of which are placed or "
		"none; they need the feature gate GenericWorkload. With preemption they have "
		"priorities, may be bound, and leave as one.\nracks: racks of 16 nodes with 8 GPUs "
		"each, tainted; pods that request 4 or 8 and prefer to stay in one rack.\nresize: with "
		"--bound, pods whose spec has been raised while their kubelet still grants them half.\n"
		"topology: gangs that want all their pods in one rack of 16 nodes, or some of them in one "
		"zone; they need the feature gate TopologyAwareWorkloadScheduling, too."},
	{"SIZE", "Requests are scaled so that all pods together request about nine tenths of the "
		 "cluster's CPU and eight tenths of its memory, or the share of --load. A container never "
		 "requests "
		 "for more than 4 "
		 "CPUs and 16 GiB, so that few pods leave a cluster empty. A node takes 110 pods."},
	{0},
};

static const struct bt_option topology_options[] = {
	{.name = "workers",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 64,
		.help = "Workers that share the nodes; the scheduling thread is the first. 0: from the "
			"machine."},
	{.name = "ingestion",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 1024,
		.help = "Ingestion threads. 0: from the machine."},
	{.name = "binders",
		.type = BT_OPTION_NUMBER,
		.argument = "N",
		.default_value = "0",
		.max = 1024,
		.help = "Binder threads. 0: from the machine."},
	{.name = "cpus",
		.type = BT_OPTION_TEXT,
		.argument = "LIST",
		.help = "Use these CPUs only, such as 0-3,8, numbered as the kernel does. Without it, all "
			"that the process may use."},
	REPORT_OPTION,
	{0},
};

static const struct bt_option kinds_options[] = {
	BT_KUBERNETES_VERSION_OPTION,
	FEATURE_GATES_OPTION(GATES_HELP),
	{.name = "workloads",
		.help = "Also Deployments, DaemonSets, Jobs and CronJobs: berth makes the pods that they "
			"lack. In a running cluster their controllers have made them."},
	{.name = "output",
		.letter = 'o',
		.type = BT_OPTION_CHOICE,
		.argument = "FORMAT",
		.choices = "list|table|json|yaml|csv",
		.default_value = "list",
		.help = "list: on one line, separated by commas, for kubectl get."},
	{0},
};

static const struct bt_example kinds_examples[] = {
	{BT_KUBECTL_GET " >cluster.json", "Everything of a cluster that berth reads."},
	{"kubectl get $(berth kinds --kubernetes-version " BT_COMPARE_FROM ") -A -o json >cluster.json",
		"From an API server of that release."},
	{"berth kinds -o table", "With kinds and versions."},
	{0},
};

static const struct bt_note kinds_notes[] = {
	{"WHICH", "kubectl get fails as a whole when the server lacks one of the kinds. So the list is that "
		  "of --kubernetes-version, with the kinds of those feature gates that are on."},
	{0},
};

static const struct bt_example topology_examples[] = {
	{"berth topology", "What berth would do here."},
	{"berth topology --cpus 0-7 --workers 6", "With six workers on the first eight CPUs."},
	{"HWLOC_SYNTHETIC='pack:2 [numa] core:16 pu:2' berth topology -o json",
		"On a machine with two sockets of 16 cores."},
	{0},
};

static const struct bt_exit_text topology_exits[] = {
	{BT_EXIT_OK, "The report was written."},
	{BT_EXIT_USAGE, "The command line is wrong, or names CPUs that are not there or not allowed."},
	{BT_EXIT_INPUT, "The machine's topology, or the one that a variable describes, cannot be read."},
	WRITING_EXIT,
	PIPE_EXIT,
	{0},
};

static const struct bt_note topology_notes[] = {
	{"PLACES", "The scheduling thread and the workers get cores of their own: fast cores before slow "
		   "ones, one memory node after the other, beginning with the one with the most usable "
		   "cores. SMT siblings are used when there are no more cores. The publisher, ingestion and "
		   "binder threads share the CPUs that are left. A thread without a CPU runs wherever the "
		   "process may. On one core, or with --workers 1 and no option for the other threads, "
		   "one thread runs everything."},
	{"ENVIRONMENT",
		"The process's own limits count: taskset, and the cpuset and the CPU quota of its control "
		"groups. HWLOC_SYNTHETIC and HWLOC_XMLFILE describe another machine, as hwloc(7) has it; "
		"the plan is made for that one."},
	{0},
};

static const struct bt_example help_examples[] = {
	{"berth help simulate", "The same as berth simulate --help."},
	{0},
};

static const struct bt_option help_options[] = {
	{.name = "man", .hidden = true, .help = "Write the man page instead."},
	{0},
};

static const struct bt_exit_text plain_exits[] = {
	{BT_EXIT_OK, "Done."},
	USAGE_EXIT,
	WRITING_EXIT,
	{0},
};

static const struct bt_example run_examples[] = {
	{"berth run --config=/etc/kubernetes/scheduler-config.yaml",
		"In place of kube-scheduler, with its file."},
	{"berth run --kubeconfig ~/.kube/config --shadow",
		"Decide beside kube-scheduler, and write nothing."},
	{"berth run --config=f.yaml --write-config-to=-", "Print the effective configuration."},
	{0},
};

static const struct bt_exit_text run_exits[] = {
	{BT_EXIT_OK, "Terminated by SIGTERM or SIGINT after a clean shutdown."},
	{BT_EXIT_NO, "The lease was lost, or a part that it needs failed: the message names it."},
	USAGE_EXIT,
	{BT_EXIT_INPUT, "The configuration, the kubeconfig or a certificate cannot be used."},
	{BT_EXIT_IO, "No thread could be started, or no port could be opened."},
	{0},
};

static const struct bt_note run_notes[] = {
	{"RELEASES", "Decisions, feature gates and the configuration are those of kube-scheduler of the "
		     "API server's minor version, unless --kubernetes-version sets another one. A server "
		     "that is newer than the newest release that is known gets that one, with a warning; "
		     "one that is older than the oldest is refused. Upgrade API servers first. A newer "
		     "server counts when all its answers in 20 seconds said so: from the next start on, or "
		     "at once with --follow-server. Older ones are never followed. Replicas of different "
		     "releases share one Lease safely."},
	{"FLAGS", "Flags are kube-scheduler's, with its defaults but for --bind-address; true and false as "
		  "Go writes them. A flag that is taken and changes nothing is named in the log. Flags that "
		  "a configuration file overrides are overridden as kube-scheduler's are."},
	{"SERVING", "/healthz, /livez and /readyz (?verbose, ?exclude=NAME, /readyz/NAME), /metrics, "
		    "/configz, /version, and /debug/: queue, cache, compare, explain?pod=NAMESPACE/NAME. All "
		    "but --authorization-always-allow-paths authenticates (TokenReview, client certificates) "
		    "and authorizes (SubjectAccessReview) requests."},
	{0},
};

const struct bt_command bt_commands[] = {
	{.name = "run",
		.summary = "schedule the pods of a cluster, in place of kube-scheduler",
		.operands = "",
		.description = "Watches a cluster through its API server, finds a node for each pending pod "
			       "and binds "
			       "it. Takes kube-scheduler's flags and configuration file.",
		.options = bt_run_options,
		.examples = run_examples,
		.exits = run_exits,
		.notes = run_notes},
	{.name = "simulate",
		.summary = "place the pending pods of a cluster and report",
		ANY_PATHS,
		.description =
			"Reads a cluster and its pending pods, places every pod exactly as "
			"kube-scheduler would if it scored every node, and reports what was placed, what "
			"was not and why, and how full the nodes are. Without input it makes a synthetic "
			"cluster of 5,000 nodes and 100,000 pods.",
		.options = simulate_options,
		.examples = simulate_examples,
		.exits = simulate_exits,
		.notes = simulate_notes},
	{.name = "bench",
		.summary = "run workloads of scheduler_perf and measure pods a second",
		ANY_PATHS,
		.description =
			"Runs workload files of kube-scheduler's benchmark, scheduler_perf, in the "
			"engine: nodes and pods are created, pods are decided and bound by the real "
			"clock, and the throughput is reported beside upstream's threshold. Without PATH "
			"it runs a short set of workloads of its own.",
		.options = bench_options,
		.examples = bench_examples,
		.exits = bench_exits,
		.notes = bench_notes},
	{.name = "verdict",
		.summary = "answer scenarios: the verdict of every plugin for every node",
		ONE_FILE,
		.description =
			"Reads scenarios, one JSON document a line, and writes for each pending "
			"pod which nodes are rejected by which plugin and why, the score of each plugin "
			"on the others, and the best nodes. Each pod is judged alone against the same "
			"cluster.",
		.options = verdict_options,
		.examples = verdict_examples,
		.exits = verdict_exits},
	{.name = "capacity",
		.summary = "count how many more copies of a pod or workload fit",
		ANY_PATHS,
		.description = "Reads a cluster and adds copies of pods and workloads, exactly as "
			       "kube-scheduler would "
			       "place them, until the next one does not fit. Reports how many fit, where, "
			       "what stops "
			       "the next one, and what stays free.",
		.options = capacity_options,
		.examples = capacity_examples,
		.exits = capacity_exits,
		.notes = capacity_notes},
	{.name = "check",
		.summary = "judge whether an application still fits, for pull requests",
		.operands = "CLUSTER...",
		.operand_max = SIZE_MAX,
		.operand_file = BT_FILE_READ,
		.reports = true,
		.description = "Reads a cluster and an application's manifests, and judges whether each pod "
			       "of the application gets a place, exactly as kube-scheduler would place it: "
			       "how many do, what refuses the others, and which pods are preempted.",
		.options = check_options,
		.examples = check_examples,
		.exits = check_exits,
		.notes = check_notes},
	{.name = "explain",
		.summary = "tell why a pod is pending and what would help",
		.operands = "[PATH...] POD",
		.operand_max = SIZE_MAX,
		.operand_file = BT_FILE_READ,
		.reports = true,
		.description =
			"Reads a cluster and tells why a pod is pending: every node's verdict with numbers, "
			"the nearest nodes with all that the pod lacks there, and the cheapest changes with "
			"which it is placed, each tried by the engine. Of a placed pod it shows the scores, "
			"the best other node, and by what that lost.",
		.options = explain_options,
		.examples = explain_examples,
		.exits = explain_exits,
		.notes = explain_notes},
	{.name = "timeline",
		.summary = "show what happens to a pod, step by step",
		.operands = "[PATH...] POD",
		.operand_max = SIZE_MAX,
		.operand_file = BT_FILE_READ,
		.reports = true,
		.description =
			"Simulates a cluster, or replays a journal, and shows what happens to one pod: its "
			"places in the scheduling queue and why it moved, its attempts, nominations, "
			"victims, binding and eviction, and every change of its object.",
		.options = timeline_options,
		.examples = timeline_examples,
		.exits = timeline_exits,
		.notes = timeline_notes},
	{.name = "whatif",
		.summary = "show what changes of the cluster do to its pods",
		ANY_PATHS,
		.description =
			"Reads a cluster, changes it (drained, lost, added or changed nodes, scaled, applied "
			"or deleted workloads), and places pods as kube-scheduler would: which pods are "
			"displaced, where each one lands, which fit nowhere and why, which pending pods fit "
			"then, and which PodDisruptionBudgets forbid it.",
		.options = whatif_options,
		.examples = whatif_examples,
		.exits = whatif_exits,
		.notes = whatif_notes},
	{.name = "recommend",
		.summary = "find the nodes to buy for pending pods, and those that could go",
		ANY_PATHS,
		.description =
			"Reads a cluster and finds which nodes to add so that its pending pods fit, at the "
			"lowest price, and which nodes could go. Each answer is proved by a replay.",
		.options = recommend_options,
		.examples = recommend_examples,
		.exits = recommend_exits,
		.notes = recommend_notes},
	{.name = "quality",
		.summary = "place the pods in four ways and compare the results",
		ANY_PATHS,
		.description =
			"Places the same pods by looking at every node and at a sample of them, with each "
			"of kube-scheduler's two scoring strategies, and reports how well: nodes used, "
			"cpu and memory that no average pod can use, pods without a node, spread "
			"constraints that do not hold.",
		.options = quality_options,
		.examples = quality_examples,
		.exits = quality_exits,
		.notes = quality_notes},
	{.name = "compare",
		.summary = "show what two Kubernetes releases decide differently, and why",
		ANY_PATHS,
		.description = "Places a cluster's pods, or plays a journal, as kube-scheduler of two "
			       "releases would, and lists by cause which decisions and messages differ, for "
			       "which pods, and what the newer release refuses of the configuration and of "
			       "flags.",
		.options = compare_options,
		.examples = compare_examples,
		.exits = compare_exits,
		.notes = compare_notes},
	{.name = "replay",
		.summary = "play a journal again and compare every decision",
		ONE_FILE,
		.description =
			"Plays a journal (berth simulate --journal) in one thread and compares what is "
			"decided with what was decided then, up to the first difference.",
		.options = replay_options,
		.examples = replay_examples,
		.exits = replay_exits,
		.notes = replay_notes},
	{.name = "history",
		.summary = "play histories: what the scheduling queue holds after every step",
		ONE_FILE,
		.description =
			"Reads histories, one JSON document a line: a cluster, and what happens in "
			"it step by step. Writes for each step which pod was popped and what became of "
			"it, and which pods are active, in backoff, unschedulable and gated after it, and "
			"because of which plugins.",
		.options = history_options,
		.examples = history_examples,
		.exits = history_exits,
		.notes = history_notes},
	{.name = "generate",
		.summary = "write a synthetic cluster, or a trace, as Kubernetes objects",
		.operands = "",
		.reports = true,
		.description = "Writes nodes and pods to standard output as Kubernetes objects, one after "
			       "the other, so that a reader can start before the end.",
		.options = generate_options,
		.examples = generate_examples,
		.exits = generate_exits,
		.notes = generate_notes},
	{.name = "kinds",
		.summary = "list the kinds that berth reads, for kubectl get",
		.operands = "",
		.reports = true,
		.description = "Prints the kinds of objects that berth reads, as kubectl get takes them.",
		.options = kinds_options,
		.examples = kinds_examples,
		.exits = plain_exits,
		.notes = kinds_notes},
	{.name = "topology",
		.summary = "show the machine, and which thread would run where",
		.operands = "",
		.reports = true,
		.description = "Prints the cores and memory nodes that this process may use, and the CPU "
			       "that each thread of the engine would get. Nothing is started.",
		.options = topology_options,
		.examples = topology_examples,
		.exits = topology_exits,
		.notes = topology_notes},
	{.name = "help",
		.summary = "explain a command",
		.operands = "[COMMAND]",
		.operand_max = 1,
		.description = "Without COMMAND, lists the commands.",
		.options = help_options,
		.examples = help_examples,
		.exits = plain_exits},
	{.name = "version",
		.summary = "print the version",
		.operands = "",
		.description = "Prints berth's version and the Kubernetes version whose decisions it makes.",
		.exits = plain_exits},
	{0},
};
