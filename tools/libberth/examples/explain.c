/* SPDX-License-Identifier: Apache-2.0
 * Why is a pod pending? explain FILE NAMESPACE NAME
 *   cc explain.c $(pkg-config --cflags --libs berth) -o explain
 */
#include <berth.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char *message = NULL, *table = NULL;
	enum berth_pod_state state;
	const char *node;
	struct berth *berth;
	int status = 1;

	if (argc != 4) {
		fprintf(stderr, "usage: explain FILE NAMESPACE NAME\n");
		return 2;
	}
	if (berth_create(NULL, &berth) != BERTH_OK) {
		fprintf(stderr, "explain: %s\n", berth_error(NULL));
		return 1;
	}
	if (berth_apply_file(berth, argv[1], BERTH_EXPAND, NULL) != BERTH_OK) {
		fprintf(stderr, "explain: %s\n", berth_error(berth));
	}
	berth_run(berth, 0, NULL);

	if (berth_find_pod(berth, argv[2], argv[3], &state, &node) != BERTH_OK) {
		fprintf(stderr, "explain: %s\n", berth_error(berth));
	} else if (state == BERTH_POD_ON_NODE) {
		printf("it is not pending: it is on %s\n", node);
		status = 0;
	} else if (berth_message(berth, argv[2], argv[3], &message) == BERTH_OK &&
		   berth_explain(berth, argv[2], argv[3], BERTH_TEXT, &table) == BERTH_OK) {
		/* The message that kubectl describe shows, and more details. */
		printf("%s\n\n%s", message, table);
		status = 0;
	}
	berth_free(message);
	berth_free(table);
	berth_destroy(berth);
	return status;
}
