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
      "data-dir": { type: "string" },
    },
  });
  const [name, ...more] = positionals;
  if (!name || more.length > 0) throw new CommandError("Name one server: ./towpath settings NAME");
  const { entrypoint, requirements } = values;
  const changes = { authMode: authModeOf(values), entrypoint, requirements };
  const isChange = Object.values(changes).some((value) => value !== undefined);
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const path = `/api/v1/projects/${encodeURIComponent(name)}`;
  const project = isChange
    ? await api.call("PATCH", path, projectSchema, { body: changes })
    : await api.call("GET", path, projectSchema);
  printSettings(project);
  if (entrypoint !== undefined || requirements !== undefined) {
    print(dim("\nEntrypoint and requirements take effect with the next build."));
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
  };
  for (const [label, value] of Object.entries(lines)) print(`  ${label.padEnd(18)}${value}`);
  const warning = signInWarning(project.ownSignIn, project.authMode);
  if (warning !== null) printWarning(warning);
}
