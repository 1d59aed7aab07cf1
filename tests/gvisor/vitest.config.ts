import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// The runtime's contracts and isolation tests with gVisor, beside the files that they test.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["../packages/runtime/src/**/*.gvisor.ts"], globalSetup: [] },
});
