/* SPDX-License-Identifier: Apache-2.0
 * How many more pods of a size fit? what_if FILE MILLICORES MEBIBYTES
 *   cc what_if.c $(pkg-config --cflags --libs berth) -o what_if
 */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>

/* Pods as structures: nothing is parsed, whatever their number. */
static enum berth_status request_one_more(struct berth *berth, int number, const struct berth_amount *wish)
{
	struct berth_pod pod;
	char name[32];

	snprintf(name, sizeof(name), "what-if-%d", number);
	BERTH_INIT(&pod);
	pod.pod_namespace = "what-if";
	pod.name = name;
	pod.requests = wish;
	pod.request_n = 2;
	return berth_apply_pod(berth, &pod);
}

int main(int argc, char **argv)
{
	const struct berth_decision *decision;
	struct berth *berth;
	int fit = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: what_if FILE MILLICORES MEBIBYTES\n");
		return 2;
	}
	const struct berth_amount wish[] = {
		{"cpu", atoll(argv[2])},
		{"memory", atoll(argv[3]) * 1024 * 1024},
	};

	/* NULL: kube-scheduler's own configuration, and every binding succeeds at once. */
	if (berth_create(NULL, &berth) != BERTH_OK) {
		fprintf(stderr, "what_if: %s\n", berth_error(NULL));
		return 1;
	}
	if (berth_apply_file(berth, argv[1], BERTH_EXPAND, NULL) != BERTH_OK) {
		fprintf(stderr, "what_if: %s\n", berth_error(berth));
	}
	/* The cluster's own pending pods come first. */
	berth_run(berth, 0, NULL);

	for (;;) {
		if (request_one_more(berth, fit, wish) != BERTH_OK ||
			berth_next_decision(berth, 0, &decision) != BERTH_OK) {
			fprintf(stderr, "what_if: %s\n", berth_error(berth));
			break;
		}
		if (decision->outcome != BERTH_PLACED) {
			printf("%d more fit, the next one does not: %s\n", fit, decision->message);
			break;
		}
		printf("%s: on %s\n", decision->pod.name, decision->pod.node);
		fit++;
	}
	/* Destroys all state; to keep using the handle, berth_delete the pods instead. */
	berth_destroy(berth);
	return 0;
}
