import { parseArgs } from "node:util";
import { signInWarning } from "@towpath/core/build/contract";
import { authModeSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { bold, CommandError, dim, print } from "../terminal/terminal.ts";
import { printWarning } from "../terminal/warning.ts";
import { authModeOf, authModeOptions, callers } from "./auth-mode.ts";

const projectSchema = z.object({
  name: z.string(),
  url: z.string(),
  authMode: authModeSchema,
  entrypoint: z.string(),
  requirements: z.string().nullable(),
  rootDirectory: z.string().nullable(),
  ownSignIn: z.boolean().nullable(),
});

/** `towpath settings NAME`: prints a server's settings, after changing those that are passed. */
export async function settings(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...authModeOptions,
      entrypoint: { type: "string" },
      requirements: { type: "string" },
      "root-directory": { type: "string" },
      "data-dir": { type: "string" },
    },
  });
  const [name, ...more] = positionals;
  if (!name || more.length > 0) throw new CommandError("Name one server: ./towpath settings NAME");
  const { entrypoint, requirements, "root-directory": rootDirectory } = values;
  const files = { entrypoint, requirements, rootDirectory };
  const changes = { authMode: authModeOf(values), ...files };
  const isChange = Object.values(changes).some((value) => value !== undefined);
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const path = `/api/v1/projects/${encodeURIComponent(name)}`;
  const project = isChange
    ? await api.call("PATCH", path, projectSchema, { body: changes })
    : await api.call("GET", path, projectSchema);
  printSettings(project);
  if (Object.values(files).some((value) => value !== undefined)) {
    print(dim("\nEntrypoint, requirements and root directory take effect with the next build."));
  }
  return 0;
}

function printSettings(project: z.infer<typeof projectSchema>): void {
  print(bold(project.name));
  const lines = {
    address: project.url,
    "can be called by": `${callers[project.authMode]} ${dim(`(${project.authMode})`)}`,
    entrypoint: project.entrypoint,
    requirements: project.requirements ?? dim("found in the repository"),
    "root directory": project.rootDirectory ?? dim("the repository's"),
  };
  for (const [label, value] of Object.entries(lines)) print(`  ${label.padEnd(18)}${value}`);
  const warning = signInWarning(project.ownSignIn, project.authMode);
  if (warning !== null) printWarning(warning);
}
