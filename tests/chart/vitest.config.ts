import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["chart/**/*.test.ts"], globalSetup: ["./chart/global-setup.ts"] },
});
