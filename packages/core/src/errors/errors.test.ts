import { project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { asTowpathError } from "./index.ts";

const database = openTestDatabase();

test("OPS-4 a text with NUL is its caller's mistake, any other failed query one of ours", async () => {
  const nul = "a\0b";
  const failed = async (query: Promise<unknown>) => asTowpathError(await query.catch((error: unknown) => error)).code;
  const { db } = database;
  expect(await failed(db.select().from(project).where(eq(project.name, nul)).execute())).toBe("invalid_input");
  expect(await failed(db.execute(sql`SELECT ${JSON.stringify({ nul })}::jsonb`))).toBe("invalid_input");
  expect(await failed(db.execute(sql`SELECT 1 / 0`))).toBe("internal");
});
