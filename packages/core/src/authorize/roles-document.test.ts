import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { roles } from "../context/index.ts";
import { permissions, roleMay } from "./index.ts";
import { roleMatrix } from "./permission.schema.ts";

const document = readFileSync(join(import.meta.dirname, "../../../../docs/roles.md"), "utf8");

test("AUTH-4 docs/roles.md has the matrix of roles and permissions, as the policy grants them", () => {
  const rows = [...document.matchAll(/^\| `([\w.]+)` \| [^|]+ \|((?: (?:yes|–) \|)+)$/gm)];
  const documented = Object.fromEntries(
    rows.map(([, permission = "", cells = ""]) => [permission, [...cells.matchAll(/yes|–/g)].map(String)]),
  );
  const granted = Object.fromEntries(
    permissions.map((permission) => [permission, roles.map((role) => (roleMay(role, permission) ? "yes" : "–"))]),
  );
  expect(documented).toEqual(granted);
  const texts = [...document.matchAll(/^\| `([\w.]+)` \| ([^|]+) \|/gm)].map(([, permission, text]) => [
    permission,
    text,
  ]);
  expect(Object.fromEntries(texts)).toEqual(
    Object.fromEntries(roleMatrix.map(({ permission, text }) => [permission, text])),
  );
  expect(document).toContain(`| permission | allows | ${roles.join(" | ")} |`);
});
