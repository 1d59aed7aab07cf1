import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// Files take turns: each starts an instance of its own.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["https/**/*.test.ts"], globalSetup: [] },
});
