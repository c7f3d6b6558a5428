/* SPDX-License-Identifier: Apache-2.0
 * The header in C++11, and the library from C++.
 */
#include <berth.h>

#include <cstdio>
#include <cstring>
#include <string>

static enum berth_answer bind_pod(void *context, const berth_decision *decision)
{
	*static_cast<std::string *>(context) = decision->pod.node;
	return BERTH_BOUND;
}

int main()
{
	static const berth_amount room[] = {{"cpu", 2000}, {"pods", 10}};
	static const berth_pair labels[] = {{"zone", "east"}};
	std::string node_name;
	berth_options options;
	berth_node node;
	berth_pod pod;
	berth *berth;

	BERTH_INIT(&options);
	options.bind = bind_pod;
	options.context = &node_name;
	if (berth_create(&options, &berth) != BERTH_OK) {
		return 1;
	}
	BERTH_INIT(&node);
	node.name = "n1";
	node.allocatable = room;
	node.allocatable_n = 2;
	node.labels = labels;
	node.label_n = 1;
	BERTH_INIT(&pod);
	pod.name = "a";
	const std::string text = "{apiVersion: v1, kind: Pod, metadata: {name: b}, "
				 "spec: {containers: [{name: x}]}}";
	if (berth_apply_node(berth, &node) != BERTH_OK || berth_apply_pod(berth, &pod) != BERTH_OK ||
		berth_apply(berth, text.data(), text.size(), 0, nullptr) != BERTH_OK ||
		berth_run(berth, 0, nullptr) != BERTH_OK) {
		std::fprintf(stderr, "%s\n", berth_error(berth));
		return 1;
	}
	berth_destroy(berth);
	std::printf("berth %s: %s\n", berth_version(), node_name.c_str());
	return node_name == "n1" && std::strcmp(berth_version(), BERTH_VERSION) == 0 ? 0 : 1;
}
