#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the lint over the project, with what the build in folder $1 compiles and tests.
set -eu
ctest --test-dir "$1" --show-only=json-v1 >"$1/tests.json"
"$(dirname "$0")/../../tools/check/lint" --lengths --commands "$1/compile_commands.json" --tests "$1/tests.json"
