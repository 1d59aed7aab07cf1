import { parse } from "../commands/parse.ts";
import { orList } from "../terminal/or-list.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { commandOf, isRole, roleNames } from "../up/role-process.ts";
import { builtWeb } from "../up/web-build.ts";

/** `towpath run ROLE`: becomes that process, which reads its settings from the environment only. */
export async function run(args: string[]): Promise<number> {
  const [name = ""] = parse("run", args).positionals;
  if (!isRole(name)) throw new UsageError(`There is no role ${name}. It is ${orList(roleNames)}.`);
  const [program, ...rest] = name === "web" ? commandOf(name, await builtWeb()) : commandOf(name);
  // Replace this process, so that a supervisor's signals reach the role and the supervisor sees its end.
  process.execve?.(program, [program, ...rest], { NODE_ENV: "production", ...process.env });
  throw new CommandError("This system can't replace a process by another one. Towpath runs on Linux.");
}
