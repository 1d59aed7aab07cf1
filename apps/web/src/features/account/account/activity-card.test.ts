import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { activityText } from "./activity-card.tsx";

test("ORG-7 ORG-10 the activity of an account has a text for every action that no organization's log shows", () => {
  const core = join(import.meta.dirname, "../../../../../../packages/core/src");
  const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const actions = files.flatMap((file) =>
    [...readFileSync(join(core, file), "utf8").matchAll(/organizationId: null,\s*action: "([\w.-]+)"/g)].map(
      ([, action = ""]) => action,
    ),
  );
  expect(actions).toContain("user.connect-github");
  expect(actions.length).toBeGreaterThan(4);
  expect(actions.filter((action) => activityText(action) === action)).toEqual([]);
});
