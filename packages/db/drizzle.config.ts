import { defineConfig } from "drizzle-kit";

// Only used to write a first draft of a migration: `npx drizzle-kit generate`. Migrations are read and finished by hand.
export default defineConfig({
  dialect: "postgresql",
  schema: "./src/schema/index.ts",
  out: "./migrations",
  casing: "snake_case",
});
