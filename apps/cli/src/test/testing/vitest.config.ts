import { defineConfig } from "vitest/config";

// One file for each way to fail: `programs.test.ts` runs them.
export default defineConfig({ test: { root: import.meta.dirname, include: ["*.fixture.ts"] } });
