import { parse } from "../commands/parse.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { commandOf, isRole } from "../up/role-process.ts";
import { ensureWebBuild } from "../up/web-build.ts";

/** `towpath run ROLE`: becomes that process, which reads its settings from the environment alone. */
export async function run(args: string[]): Promise<number> {
  const [name = ""] = parse("run", args).positionals;
  if (!isRole(name)) throw new UsageError(`There is no role ${name}. It is web, gateway, worker or runner.`);
  if (name === "web") await ensureWebBuild();
  const [program, ...rest] = commandOf(name);
  // The same process, so that signals of a supervisor reach it, and its end is what the supervisor sees.
  process.execve?.(program, [program, ...rest], { NODE_ENV: "production", ...process.env });
  throw new CommandError("This system can't replace a process by another one. Towpath runs on Linux.");
}
