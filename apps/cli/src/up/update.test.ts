import { expect, test } from "vitest";
import { describeUpdate } from "./up.ts";

test("OPS-3 after an update one line names both releases, the migrations and the rebuilt parts", () => {
  const migrated = { from: "0.1.0 (commit a)", to: "0.2.0 (commit b)", applied: 3 };
  expect(describeUpdate(migrated, 0)).toBe("Updated from 0.1.0 (commit a) to 0.2.0 (commit b), 3 migrations.");
  expect(describeUpdate({ ...migrated, applied: 1 }, 3)).toBe(
    "Updated from 0.1.0 (commit a) to 0.2.0 (commit b), 1 migration; 3 servers are being built again.",
  );
  expect(describeUpdate({ ...migrated, applied: 0 }, 1)).toContain(", no migrations; 1 server is being built again.");
  expect(describeUpdate({ ...migrated, from: migrated.to }, 0)).toBeNull();
  expect(describeUpdate({ ...migrated, from: null }, 0)).toBeNull();
  expect(describeUpdate({ ...migrated, from: migrated.to }, 2)).toBe(
    "2 servers are being built again: the results of their builds are lost.",
  );
});
