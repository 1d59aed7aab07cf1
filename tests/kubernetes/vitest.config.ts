import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// Files take turns: they share the cluster.
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["kubernetes/**/*.test.ts"],
    globalSetup: ["../packages/db/src/testing/global-setup.ts", "./kubernetes/global-setup.ts"],
  },
});
