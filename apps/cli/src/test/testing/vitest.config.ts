import { defineConfig } from "vitest/config";

// One of each way to fail: `programs.test.ts` runs these files.
export default defineConfig({ test: { root: import.meta.dirname, include: ["*.fixture.ts"] } });
