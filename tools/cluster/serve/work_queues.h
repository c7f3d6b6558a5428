/* SPDX-License-Identifier: Apache-2.0
 * The server's periodic checks (certificates, CAs), counted as the work queues of kube-scheduler's serving
 * libraries. Each has one item at most: the file or object to check. Source: client-go's
 * util/workqueue/metrics.go, component-base's metrics/prometheus/workqueue, v0.36.3.
 * Context: one thread at a time adds, takes and ends; any thread reads.
 */
#pragma once

#include <stdbool.h>

#include "tools/cluster/serve/exposition.h"

/* By the name of the equivalent controller in k8s.io/apiserver. */
enum bt_work_queue {
	BT_WORK_CLIENT_CA_FILE = 0, /* --client-ca-file */
	BT_WORK_PROXY_CA_FILE,	    /* --requestheader-client-ca-file */
	BT_WORK_SERVING_CERT,	    /* --tls-cert-file and its key, or those in --cert-dir */
	BT_WORK_CLIENT_CA_MAP,	    /* ConfigMap extension-apiserver-authentication */
	BT_WORK_SERVING,	    /* serving with what has changed */
	BT_WORK_QUEUES
};

struct bt_work_queues;

struct bt_work_queues *bt_work_queues_create(void);
void bt_work_queues_destroy(struct bt_work_queues *queues);

/*
 * An item is queued, is being processed, and is done, in that order. now_ns is by the monotonic clock. queues
 * may be NULL: not counted. An end without success makes the next add a retry.
 */
void bt_work_queues_add(struct bt_work_queues *queues, enum bt_work_queue queue, int64_t now_ns);
void bt_work_queues_take(struct bt_work_queues *queues, enum bt_work_queue queue, int64_t now_ns);
void bt_work_queues_end(struct bt_work_queues *queues, enum bt_work_queue queue, bool good, int64_t now_ns);

/* Adds the metrics of queues that have ever had an item. */
void bt_work_queues_expose(const struct bt_work_queues *queues, struct bt_exposition *x, int64_t now_ns);
