/* SPDX-License-Identifier: Apache-2.0
 * Prints the offsets of the members of libberth's structures, to compare with
 * tools/libberth/examples/berth.py.
 */
#include <berth.h>
#include <stdio.h>

#define SIZE(type)	     printf("%s %zu\n", #type, sizeof(struct type))
#define MEMBER(type, member) printf("%s.%s %zu\n", #type, #member, offsetof(struct type, member))

int main(void)
{
	SIZE(berth_options);
	MEMBER(berth_options, size);
	MEMBER(berth_options, config);
	MEMBER(berth_options, feature_gates);
	MEMBER(berth_options, threads);
	MEMBER(berth_options, bind_threads);
	MEMBER(berth_options, seed);
	MEMBER(berth_options, clock);
	MEMBER(berth_options, start_ns);
	MEMBER(berth_options, sampling);
	MEMBER(berth_options, binding);
	MEMBER(berth_options, eviction);
	MEMBER(berth_options, no_messages);
	MEMBER(berth_options, node_max);
	MEMBER(berth_options, pod_max);
	MEMBER(berth_options, text_bytes_max);
	MEMBER(berth_options, plan_bytes_max);
	MEMBER(berth_options, decision_max);
	MEMBER(berth_options, binding_max);
	MEMBER(berth_options, bind);
	MEMBER(berth_options, evict);
	MEMBER(berth_options, decided);
	MEMBER(berth_options, log);
	MEMBER(berth_options, context);
	MEMBER(berth_options, memory_bytes_max);
	MEMBER(berth_options, workers);
	MEMBER(berth_options, kubernetes_version);
	SIZE(berth_decision);
	MEMBER(berth_decision, number);
	MEMBER(berth_decision, ticket);
	MEMBER(berth_decision, outcome);
	MEMBER(berth_decision, priority);
	MEMBER(berth_decision, attempts);
	MEMBER(berth_decision, time_ns);
	MEMBER(berth_decision, pod);
	MEMBER(berth_decision, node_user);
	MEMBER(berth_decision, nominated);
	MEMBER(berth_decision, message);
	MEMBER(berth_decision, evicted);
	MEMBER(berth_decision, evicted_n);
	SIZE(berth_pod_ref);
	MEMBER(berth_pod_ref, pod_namespace);
	MEMBER(berth_pod_ref, name);
	MEMBER(berth_pod_ref, uid);
	MEMBER(berth_pod_ref, node);
	MEMBER(berth_pod_ref, user);
	return 0;
}
