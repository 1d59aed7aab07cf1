import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// Files take turns: each starts its own versitygw, and one of them an instance.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["s3/**/*.test.ts"], globalSetup: ["../packages/db/src/testing/global-setup.ts"] },
});
