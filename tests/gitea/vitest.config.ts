import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// These files share one Gitea and one instance, and take turns.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["gitea/**/*.test.ts"], globalSetup: ["./gitea/global-setup.ts"] },
});
