import { spawn } from "node:child_process";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { output, print } from "../terminal/terminal.ts";
import { projectPath } from "./list.ts";

const projectSchema = z.object({ orgSlug: z.string(), pathName: z.string(), url: z.string() });

/** `towpath open NAME` */
export async function open(args: string[]): Promise<number> {
  const { values, positionals } = parse("open", args);
  const api = await connectApi(values);
  const project = await api.call("GET", projectPath(positionals[0] ?? ""), projectSchema);
  const page = `${api.url}/${project.orgSlug}/${project.pathName}`;
  output({ page, url: project.url }, () => showPage(page));
  return 0;
}

/** Prints an address, and opens it if there is a browser. */
export function showPage(page: string): void {
  print(page);
  if (hasScreen()) openBrowser(page);
}

/** A script or a session without a screen only wants the address. */
const hasScreen = () =>
  process.stdout.isTTY === true &&
  (process.platform === "darwin" || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY));

function openBrowser(page: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const browser = spawn(program, [page], { stdio: "ignore", detached: true });
  // There is none: the address is printed already.
  browser.on("error", () => {});
  browser.unref();
}
