import { projectNameSchema } from "@towpath/core/project/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { serverNameFrom } from "./server-name-from.ts";

test("VAL-1 a repository's name is proposed when it can be a server's name", () => {
  expect(serverNameFrom("Weather_Server")).toBe("weather-server");
  expect(serverNameFrom("a.very-long_repository.name-that_does.not-fit")).toBe("a-very-long-repository-name-that");
  expect(serverNameFrom("mcp")).toBeNull();
  expect(serverNameFrom("---")).toBeNull();
});

test("VAL-1 property: what is proposed is always valid", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), (repository) => {
      const name = serverNameFrom(repository);
      if (name !== null) expect(projectNameSchema.safeParse(name).success).toBe(true);
    }),
  );
});
