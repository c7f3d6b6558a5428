/* SPDX-License-Identifier: Apache-2.0
 * How many CPUs the control groups of this process grant at a time (Kubernetes' limits.cpu, docker --cpus).
 */
#pragma once

#include <stdint.h>

/*
 * The least quota of the process's control group and those above it, in CPUs rounded up; 0: no quota. Reads
 * both versions of control groups. root is the prefix of /proc and /sys; "" is this machine.
 * Context: any thread; reads small files.
 */
uint32_t bt_cpu_quota_n(const char *root);
