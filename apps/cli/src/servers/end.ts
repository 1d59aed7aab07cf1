import { namedVersion } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { ask } from "../terminal/input.ts";
import { CommandError, output, print, UsageError } from "../terminal/terminal.ts";
import { buildOf, listBuilds } from "./builds.ts";
import { projectPath } from "./list.ts";

const canceledSchema = z.object({ build: z.object({ id: z.string(), status: z.string() }) });
const running = new Set(["queued", "building"]);

/** `towpath cancel NAME [BUILD]` */
export async function cancel(args: string[]): Promise<number> {
  const { values, positionals } = parse("cancel", args);
  const [name = "", chosen] = positionals;
  const api = await connectApi(values);
  const builds = await listBuilds(api, name);
  const found = chosen ? buildOf(chosen, builds) : builds.find((each) => running.has(each.status));
  if (!found) throw new CommandError(`No build of ${name} is queued or running.`);
  const { build } = await api.call("POST", `/api/v1/builds/${found.id}/cancel`, canceledSchema);
  output({ build: { id: build.id, status: build.status } }, () =>
    print(`The build of ${namedVersion(found)} is ${build.status}.`),
  );
  return 0;
}

/** `towpath delete NAME` */
export async function remove(args: string[]): Promise<number> {
  const { values, positionals } = parse("delete", args);
  const [name = ""] = positionals;
  const api = await connectApi(values);
  // Fails for an unknown server before asking.
  const project = await api.call("GET", projectPath(name), z.object({ id: z.string(), name: z.string() }));
  if (values.yes === undefined && !process.stdin.isTTY) throw new UsageError(`Repeat the name: --yes ${project.name}`);
  const typed =
    values.yes ?? (await ask(`You can't undo this. Type ${project.name} to delete it with all its data: `)).trim();
  if (typed !== project.name)
    throw new CommandError(`${typed || "Nothing"} is not ${project.name}. Nothing was deleted.`);
  await api.call("DELETE", projectPath(project.name), z.looseObject({}));
  output({ deleted: project.name }, () => print(`Deleted ${project.name}.`));
  return 0;
}
