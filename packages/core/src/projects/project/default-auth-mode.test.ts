import { project } from "@towpath/db/schema";
import { expect, test } from "vitest";
import { deployPackageSchema } from "../../sources/package/package.schema.ts";
import { deployFilesSchema, deployRepositorySchema } from "../../sources/repository/repository.schema.ts";
import { deployGitUrlSchema } from "../../sources/source/git-source.schema.ts";
import { createExternalServerSchema } from "../external-server/external-server.schema.ts";
import { createPortalSchema } from "../portal/portal.schema.ts";
import { defaultAuthMode, deployProjectSchema } from "./project.schema.ts";

test("SRC-4 PRJ-12 every way to a server has one default of who may call it: members", () => {
  const schemas = {
    deployProjectSchema,
    deployGitUrlSchema,
    deployPackageSchema,
    deployRepositorySchema,
    deployFilesSchema,
    createExternalServerSchema,
    createPortalSchema,
  };
  for (const [name, schema] of Object.entries(schemas))
    expect([name, schema.shape.authMode.parse(undefined)]).toEqual([name, "towpath-cloud"]);
  // And a row without one, as an earlier version writes it.
  expect([defaultAuthMode, project.authMode.default]).toEqual(["towpath-cloud", "towpath-cloud"]);
});
