/* SPDX-License-Identifier: Apache-2.0
 * The state besides the cluster that decisions depend on.
 */
#include "engine/flow/cycle/engine_int.h"

struct bt_turn bt_engine_turn(const struct bt_engine *engine)
{
	return (struct bt_turn){engine->counts.cycle_n, bt_node_list_mark(&engine->nodes)};
}

void bt_engine_set_turn(struct bt_engine *engine, struct bt_turn turn)
{
	engine->counts.cycle_n = turn.cycle_n;
	bt_node_list_rewind(&engine->nodes, turn.sample);
}
