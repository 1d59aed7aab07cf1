import { defineConfig } from "vitest/config";
import shared from "../vitest.config.ts";

// One Gitea and one instance for these files, which take turns.
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ["gitea/**/*.test.ts"], globalSetup: ["./gitea/global-setup.ts"] },
});
