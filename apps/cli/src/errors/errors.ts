import {
  type ErrorDetail,
  type ErrorSummary,
  errorDetailSchema,
  errorPageSchema,
} from "@towpath/core/operations/error-group/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { bold, dim, green, output, plain, print, red, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const states = { resolve: "resolved", ignore: "ignored", reopen: "open" } as const;
const isChange = (action: string): action is keyof typeof states => Object.hasOwn(states, action);
const actions = ["list", "show", ...Object.keys(states)];

/** `towpath errors NAME [list | show ID | resolve ID … | ignore ID … | reopen ID …]`: failed calls by cause (CAP-6). */
export async function errors(args: string[]): Promise<number> {
  const { values, positionals } = parse("errors", args);
  const [name = "", action = "list", ...ids] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, show, resolve, ignore or reopen.${didYouMean(action, actions)}`);
  if (action === "list" && ids.length > 0)
    throw new UsageError(`${ids[0]} is too much for list. See towpath help errors.`);
  if (action !== "list" && ids.length === 0)
    throw new UsageError(`Name the error by its id: towpath errors NAME ${action} ID. towpath errors NAME lists them.`);
  if (action === "show" && ids.length > 1) throw new UsageError("Name one error: towpath errors NAME show ID");
  const path = `${projectPath(name)}/errors`;
  const api = await connectApi(values);
  if (isChange(action)) return change(api, path, ids, states[action]);
  if (action === "show") {
    const found = await api.call("GET", `${path}/${encodeURIComponent(ids[0] ?? "")}`, errorDetailSchema);
    output(found, () => printDetail(found));
    return 0;
  }
  const { state, tool, search, sort } = values;
  const asked = Object.entries({ state, tool, search, sort }).filter(([, value]) => value !== undefined);
  const page = await api.call("GET", `${path}?${new URLSearchParams(asked as [string, string][])}`, errorPageSchema);
  output(page, () => printList(page.data, page.total, name));
  return 0;
}

async function change(api: Api, path: string, ids: readonly string[], state: string): Promise<number> {
  const answer = await api.call("PATCH", path, z.object({ changed: z.number() }), { body: { ids, state } });
  const what = answer.changed === 1 ? "1 error is" : `${answer.changed} errors are`;
  output(answer, () =>
    print(answer.changed === 0 ? `Nothing changed: what you named is ${state} already.` : `${what} ${state} now.`),
  );
  return 0;
}

function printList(found: readonly ErrorSummary[], total: number, name: string): void {
  if (found.length === 0)
    print(`No errors. ${dim(`towpath errors ${name} --state all lists resolved and ignored ones too.`)}`);
  for (const error of found) {
    print(`${markOf(error)} ${bold(plain(error.title))}`);
    print(`  ${whereOf(error)}${error.count} × since ${ago(error.firstSeen)}, last ${ago(error.lastSeen)}`);
    print(dim(`  ${error.id}`));
  }
  if (found.length < total) print(dim(`${total - found.length} more. Narrow the list by --tool or --search.`));
}

function markOf({ state, isBack }: ErrorSummary): string {
  if (state === "resolved") return green("✓");
  if (state === "ignored") return dim("–");
  return isBack ? `${red("✗")} ${yellow("back again")}` : red("✗");
}

function whereOf({ target, method, frame }: ErrorSummary): string {
  const what = target ?? method;
  const place = frame ? `${frame.file}:${frame.line} in ${frame.name}` : null;
  return [what, place].flatMap((each) => (each === null ? [] : [`${plain(each)}  `])).join("");
}

function printDetail(error: ErrorDetail): void {
  print(`${markOf(error)} ${bold(plain(error.title))}`);
  const shares = (list: ErrorDetail["callers"], hasMore: boolean) =>
    list.map(({ name, count }) => `${plain(name)} (${count})`).join(", ") + (hasMore ? " and others" : "");
  const rows: readonly (readonly [string, string])[] = [
    ["Tool", plain(error.target ?? error.method ?? "the whole server")],
    ["Raised in", error.frame ? plain(`${error.frame.file}:${error.frame.line} in ${error.frame.name}`) : ""],
    ["Failures", `${error.count}, ${error.lastDay.reduce((sum, each) => sum + each, 0)} of them in the last 24 hours`],
    ["First seen", ago(error.firstSeen)],
    ["Last seen", ago(error.lastSeen)],
    ["Callers", shares(error.callers, error.hasMoreCallers)],
    ["Clients", shares(error.clients, error.hasMoreClients)],
    ["Deployment", error.firstDeploymentId ?? ""],
    ["Calls", error.samples.map(({ id }) => id).join("\n            ")],
  ];
  for (const [label, text] of rows) if (text !== "") print(`${label.padEnd(12)}${text}`);
}
