import { defineConfig } from "drizzle-kit";

// Only for `npx drizzle-kit generate`, which drafts a migration. Review and finish it by hand.
export default defineConfig({
  dialect: "postgresql",
  schema: "./src/schema/index.ts",
  out: "./migrations",
  casing: "snake_case",
});
