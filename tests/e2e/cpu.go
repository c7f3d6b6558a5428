// SPDX-License-Identifier: Apache-2.0

// CPU time by process. On a small shared machine it is more meaningful than elapsed time; the part
// of other processes shows how much they disturbed a measurement.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux port of Go.

// cpuMeter holds the counters at its start: the machine's, this process's, and those of named processes.
type cpuMeter struct {
	began time.Time
	busy  time.Duration
	self  time.Duration
	pids  map[string]int
	spent map[string]time.Duration
}

// startCPU reads names and process ids from the file "pids" beside the kubeconfig, and from extra (name=pid,…).
func startCPU(kubeconfig, extra string) *cpuMeter {
	m := &cpuMeter{began: time.Now(), busy: machineBusy(), pids: map[string]int{}, spent: map[string]time.Duration{}}
	m.self, _ = spent()
	data, _ := os.ReadFile(filepath.Join(filepath.Dir(kubeconfig), "pids"))
	for _, word := range append(strings.Fields(string(data)), strings.Split(extra, ",")...) {
		name, number, _ := strings.Cut(word, "=")
		if pid, err := strconv.Atoi(number); err == nil {
			m.pids[name] = pid
			m.spent[name] = processSpent(pid)
		}
	}
	return m
}

// report returns CPU seconds since the start; "other" is everything else on the machine.
func (m *cpuMeter) report() map[string]float64 {
	self, _ := spent()
	busy := machineBusy() - m.busy
	out := map[string]float64{"self": round((self - m.self).Seconds()), "wall": round(time.Since(m.began).Seconds())}
	other := busy - (self - m.self)
	for name, pid := range m.pids {
		used := processSpent(pid) - m.spent[name]
		out[name] = round(used.Seconds())
		other -= used
	}
	out["other"] = round(max(other, 0).Seconds())
	return out
}

// processSpent is user and system time of all threads, including ended ones; 0 after the process has ended.
func processSpent(pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	return ticks(f[11]) + ticks(f[12])
}

// machineBusy is the time of all CPUs that was neither idle nor I/O wait nor stolen.
func machineBusy() time.Duration {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	f := bytes.Fields(line)
	return ticks(f[1]) + ticks(f[2]) + ticks(f[3]) + ticks(f[6]) + ticks(f[7])
}

func ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * tick
}

// spent is the processor time of this process.
func spent() (time.Duration, int64) {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), r.Maxrss
}
