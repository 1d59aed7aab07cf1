import { type Command, commandOf, type RoleName } from "./role-process.ts";
import { builtWeb } from "./web-build.ts";

/** The commands of all roles of this checkout. Builds the site first if its sources changed. */
export const roleCommands = async (): Promise<Record<RoleName, Command>> => ({
  web: commandOf("web", await builtWeb()),
  gateway: commandOf("gateway"),
  worker: commandOf("worker"),
  runner: commandOf("runner"),
});
