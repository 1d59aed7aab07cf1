import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// These files start instances of their own.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["lifecycle/**/*.test.ts"], globalSetup: [] },
});
