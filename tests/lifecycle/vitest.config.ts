import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// These files start instances of their own, so they run at the same time as those that share one.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["lifecycle/**/*.test.ts"], globalSetup: [] },
});
