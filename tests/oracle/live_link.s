// SPDX-License-Identifier: Apache-2.0

// Empty: lets live_link.go declare functions whose bodies are elsewhere.
