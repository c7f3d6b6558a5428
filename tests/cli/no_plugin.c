/* SPDX-License-Identifier: Apache-2.0
 * A shared object that is no plugin.
 */
int no_plugin(void);

int no_plugin(void)
{
	return 0;
}
