import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// One file: it builds the image and runs the compose file once.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["image/**/*.test.ts"], globalSetup: [] },
});
