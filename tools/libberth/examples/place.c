/* SPDX-License-Identifier: Apache-2.0
 * Places the pending pods of a file: place FILE. Every binding goes through a callback, which refuses the
 * first one. cc place.c $(pkg-config --cflags --libs berth) -o place
 */
#include <berth.h>
#include <stdio.h>

/* The program's state, passed to each callback. */
struct program {
	int bound, refused, bindings;
};

/* Here a scheduler would call the API server. */
static enum berth_answer bind_pod(void *context, const struct berth_decision *decision)
{
	struct program *program = context;

	if (program->bindings++ == 0) {
		printf("%s/%s: binding to %s fails, to be tried again\n", decision->pod.pod_namespace,
			decision->pod.name, decision->pod.node);
		return BERTH_BIND_FAILED;
	}
	printf("%s/%s: on %s\n", decision->pod.pod_namespace, decision->pod.name, decision->pod.node);
	program->bound++;
	return BERTH_BOUND;
}

static void decided(void *context, const struct berth_decision *decision)
{
	struct program *program = context;

	if (decision->outcome != BERTH_PLACED) {
		printf("%s/%s: %s\n", decision->pod.pod_namespace, decision->pod.name, decision->message);
		program->refused++;
	}
}

static void log_text(void *context, enum berth_level level, const char *text)
{
	(void)context;
	(void)level;
	fprintf(stderr, "place: %s\n", text);
}

int main(int argc, char **argv)
{
	struct program program = {0, 0, 0};
	struct berth_options options;
	struct berth *berth;
	uint64_t decisions = 1;

	if (argc != 2) {
		fprintf(stderr, "usage: place FILE\n");
		return 2;
	}
	BERTH_INIT(&options);
	options.bind = bind_pod;
	options.decided = decided;
	options.log = log_text;
	options.context = &program;
	if (berth_create(&options, &berth) != BERTH_OK) {
		fprintf(stderr, "place: %s\n", berth_error(NULL));
		return 1;
	}
	/* Problems with single objects were logged; the others are applied. */
	if (berth_apply_file(berth, argv[1], BERTH_EXPAND, NULL) != BERTH_OK) {
		fprintf(stderr, "place: going on without these\n");
	}
	/* Each call retries pods whose backoff it ends. */
	while (decisions > 0 && berth_run(berth, 0, &decisions) == BERTH_OK) {
	}
	printf("%d placed, %d refused\n", program.bound, program.refused);
	berth_destroy(berth);
	return 0;
}
