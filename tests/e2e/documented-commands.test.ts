import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorPost, operatorToken, pushBranch } from "../instance/operator.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { documentedCommands, documentedPython, withEveryOption } from "./documented-commands.ts";

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const serversUrl = inject("serversUrl");
const { pool: database } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
/** Commands run here, as if it were the directory of Towpath with a project beside it. */
let directory: string;
let environment: Record<string, string>;
/** Values of placeholders in synopses. */
const values: Record<string, string> = {
  DIR: "./my-server",
  NAME: "my-server-one",
  OBJECT: "mcp",
  QUERY: "tool:forecast",
  N: "5",
  "FILE.py": "server.py",
  FILE: "requirements.txt",
  BRANCH: "feature",
  EMAIL: inject("ownerEmail"),
};

/** Commands that no test runs here, and why. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^(systemd-run .*)?\.\/towpath up/, "starts an instance: the one of these tests, and those of tests/lifecycle"],
  [/^\.\/towpath test/, "is what runs this test"],
  [/^\.\/towpath rotate-secrets/, "ends the sessions of all tests: rotate-secrets.test.ts runs it"],
  [/^\.\/towpath (backup|restore)\b/, "takes an instance apart: tests/lifecycle/backup.test.ts runs it"],
  [/^\.\/towpath upgrade/, "replaces the processes of these tests: upgrade.test.ts of tests/lifecycle runs it"],
  [/^\.\/towpath (migrate|run)\b/, "needs an instance's settings: external-database.test.ts runs it"],
  [/^\.\/towpath service\b/, "changes this machine: service.test.ts runs it"],
  [/^(cp deploy\/|docker )/, "builds and runs containers: tests/image does so by Podman"],
  [/^(helm|kubectl) /, "needs a cluster: tests/chart renders the chart"],
  [/^(claude|codex|gemini) mcp /, "programs that need an account of their maker"],
  [/^(pip install|apt-get install) /, "changes this machine"],
  [/^uv (add NAME|lock)$/, "changes the reader's own project"],
  [/^openssl rand /, "is not ours"],
  [/^\.\/towpath approve \S+ \S+ /, "needs a pull request from a fork: fork-pull-requests.test.ts runs it"],
  [/^\.\/towpath git-credential /, "changes git's settings of whoever runs the tests: git-credential.test.ts runs it"],
  [/^\.\/towpath github (rotate|remove) /, "needs an App of the dashboard: github-apps.browser.test.ts runs it"],
  [/^\.\/towpath (build-states NAME set|settings NAME --branch) /, "needs a Git URL: git-urls.test.ts runs it"],
  [/^\.\/towpath (export|import)\b/, "makes files and another server: export-import.test.ts runs it"],
  [/^\.\/towpath alerts\b/, "needs a receiver: alerts.test.ts of apps/cli runs it"],
  [/^\.\/towpath sign-in-issuers\b/, "needs an identity provider: sign-in-issuers.test.ts of apps/cli runs it"],
  [/^\.\/towpath workloads\b/, "needs an issuer: workloads.test.ts of apps/cli runs it"],
  [/^\.\/towpath domains\b/, "needs DNS records: domains.test.ts of apps/cli runs it"],
  [/^\.\/towpath errors \S+ (show|resolve) /, "needs an error: errors.test.ts runs it"],
  [/^\.\/towpath (release\b|promote .*--gradually)/, "needs a release that runs: release.test.ts of apps/cli runs it"],
  [/^\.\/towpath replay\b/, "needs a preview with sampled calls: replay.test.ts of apps/cli runs it"],
  [/^\.\/towpath log(in|out)\b/, "changes who is logged in on this machine: terminal-anywhere.test.ts runs it"],
];

/** Commands in the order in which they run, with the end of their output. */
const steps: readonly (readonly [command: string, printed: RegExp, before?: () => Promise<unknown>])[] = [
  ["./towpath deploy ./my-server --name my-server-one --public", /Live: http/],
  ["./towpath deploy ./my-server --name my-server-one", /Nothing changed[\s\S]*Live: http/, pushBranches],
  ["./towpath deploy python/samples/echo --name my-echo-server --public", /Live: http/],
  [
    "npx @modelcontextprotocol/inspector --cli http://my-echo-server.localhost:8080/mcp --transport http --method tools/list",
    /"name": "echo"/,
  ],
  ["./towpath settings my-server-one", /entrypoint\s+server\.py \(found automatically\)/],
  ["./towpath settings NAME --auth passthrough", /can be called by {2}anyone whom the server itself lets in/],
  [curl("/mcp"), /"serverInfo"/, letKeysIn],
  [curl("Idempotency-Key"), /Sunny in Oslo\./],
  ["./towpath logs my-server-one kept:unknown", /^(?![\s\S]*forecast)/],
  [
    "./towpath settings NAME [--public | --private | --auth passthrough] [--entrypoint FILE.py[:OBJECT]] [--requirements FILE] [--root-directory DIR]",
    /anyone[\s\S]*server\.py:mcp[\s\S]*requirements\.txt|server\.py:mcp[\s\S]*requirements\.txt[\s\S]*anyone/,
  ],
  ["./towpath logs my-server-one --json", /"method":"initialize"/],
  ["./towpath logs my-server-one --json --limit 1000", /"method":"initialize"/],
  ["./towpath logs my-server-one --errors", /^(?![\s\S]*initialize)/],
  ["./towpath logs NAME [QUERY] [--limit N] [--errors]", /^(?![\s\S]*initialize)/],
  ["./towpath logs NAME QUERY", /^(?![\s\S]*initialize)/],
  [curl("/oauth/register"), /"client_secret"/],
  [curl("/secrets"), /"keyName":"API_KEY"/],
  [curl("/portals"), /"name":"team-portal"/],
  ["./towpath errors my-server-one", /No errors\./],
  ["./towpath errors NAME", /No errors\./],
  ["./towpath deploy DIR --name NAME", /Nothing changed[\s\S]*Live: http/],
  ["./towpath deploy pypi:mcp-server-time --name my-time-server", /Live: http/],
  ["./towpath deploy pypi:PACKAGE[==VERSION] --name NAME [--follow]", /Nothing changed[\s\S]*Live: http/],
  ["./towpath approve my-server-one", /No pull request from a fork is open/],
  ["./towpath approve NAME", /No pull request from a fork is open/],
  ["./towpath promote my-server-one new-tool", /Live: /, previewsAreLive],
  ["./towpath promote my-server-one feature", /Live: /],
  ["./towpath rollback my-server-one", /Live: /],
  ["./towpath rollback NAME [--to COMMIT] [--branch BRANCH]", /Live: /, chooseFirstCommit],
  ["./towpath reset-password EMAIL", /http\S+\/provider\//],
  ["./towpath reset-password EMAIL [--remove-two-factor]", /http\S+\/provider\//],
  [
    "curl --unix-socket {run directory}/worker-metrics.sock http://localhost/-/metrics",
    /(?=[\s\S]*towpath_disk_bytes)[\s\S]*towpath_data_bytes/,
  ],
  ["./towpath list", /^my-server-one +live +http/m],
  ["./towpath status NAME", /newest build +succeeded/],
  ["./towpath open NAME", /^http\S+\/my-server-one$/m],
  ["./towpath env NAME set KEY=VALUE", /^KEY +production, preview$/m],
  ["./towpath env NAME", /^KEY /m],
  ["./towpath env NAME remove KEY", /^(?![\s\S]*(?:^|\n)KEY )/],
  ["./towpath build-states NAME", /The repository is one of this instance/],
  ["./towpath build-states NAME remove", /The repository is one of this instance/],
  ["./towpath github", /set by the environment|has no GitHub App/],
  ["./towpath github connect", /^http\S+\/settings\/github$/m],
  ["./towpath inspect NAME", /Tools[\s\S]*forecast\(city: string\)/],
  ["./towpath call NAME forecast city=Oslo", /^Sunny in Oslo\.$/m],
  ["./towpath deploy NAME [--rebuild]", /Live: http/],
  ['./towpath deploy ./my-server --name my-server-one --message "Release 1.4" --json', /"event":"end".*"succeeded"/],
  ["./towpath cancel NAME", /No build of my-server-one is queued or running/],
  ["./towpath delete NAME [--yes NAME]", /Deleted my-server-one/],
  ["./towpath completion bash", /complete .*_towpath/],
  ["./towpath doctor", /\d+ checked, (nothing|\d+) to fix/],
  ["./towpath version", /^\d+\.\d+\.\d+ \(commit [0-9a-f]+, schema \d{4}_\w+\)$/m],
  ["./towpath help deploy", /--preview BRANCH/],
  ["./towpath deploy --help", /--preview BRANCH/],
  ["./towpath help", /reset-password EMAIL/],
];

/** `./towpath test commands` runs them, which takes a dozen builds. */
const timeoutMs = 900_000;

/** The first curl command that has this. */
function curl(part: string): string {
  return `curl … ${part}`;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-documented-"));
  const project = join(directory, "my-server");
  await mkdir(project);
  await writeFile(join(project, "server.py"), await documentedPython("deploy"));
  const echo = join(repositoryRoot, "python/samples/echo");
  await cp(join(echo, "requirements.txt"), join(project, "requirements.txt"));
  await cp(echo, join(directory, "python/samples/echo"), { recursive: true });
  environment = { ...(process.env as Record<string, string>), NO_COLOR: "1", TOKEN: await operatorToken(instance) };
});
afterAll(async () => {
  await database.end();
  await rm(directory, { recursive: true, force: true });
});

function data(): string[] {
  return ["--data-dir", instance.dataDirectory];
}

async function pushBranches(): Promise<void> {
  for (const branch of ["new-tool", "feature"])
    values.COMMIT = await pushBranch(instance, { name: "my-server-one", branch, message: `From ${branch}` });
}

/** Restricts the server to members again, and makes a key. */
async function letKeysIn(): Promise<void> {
  await towpath("settings", "my-server-one", "--private", ...data());
  const { slug } = await organization();
  const created = await operatorPost(instance, `organizations/${slug}/api-keys`, { name: "documented" });
  environment.TOWPATH_API_KEY = String(created.key);
}

async function organization(): Promise<{ slug: string }> {
  const sql = "SELECT slug FROM organization JOIN project ON organization_id = organization.id WHERE project.name = $1";
  return (await database.query(sql, ["my-server-one"])).rows[0];
}

async function previewsAreLive(): Promise<void> {
  const live = "SELECT count(*)::int AS n FROM route JOIN project ON project.id = project_id WHERE project.name = $1";
  await expect.poll(async () => (await database.query(live, ["my-server-one"])).rows[0].n, { timeout: 90_000 }).toBe(3);
}

async function chooseFirstCommit(): Promise<void> {
  const first = `SELECT commit_sha FROM build JOIN project ON project.id = project_id WHERE project.name = $1
    ORDER BY sequence LIMIT 1`;
  values.COMMIT = (await database.query(first, ["my-server-one"])).rows[0].commit_sha;
  values.BRANCH = "main";
}

/** The command with this instance's addresses and names instead of the placeholders. */
async function fill(command: string): Promise<string> {
  const isOurs = command.startsWith("./towpath ");
  const placeholder = /\b(DIR|NAME|OBJECT|QUERY|N|FILE\.py|FILE|COMMIT|BRANCH|EMAIL)\b(?!")/g;
  const inRoot = command.replace("--root-directory DIR", "--root-directory .");
  const named = isOurs ? withEveryOption(inRoot).replaceAll(placeholder, (name) => values[name] ?? name) : inRoot;
  const inspector = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
  const { bin } = createRequire(import.meta.url)(inspector) as { bin: Record<string, string> };
  return named
    .replace(/http:\/\/localhost:3000\b/, instance.url)
    .replace(
      /^\.\/towpath (.*)$/,
      `'${repositoryRoot}towpath' $1 ${/^\.\/towpath (help|version|completion)\b/.test(command) ? "" : data().join(" ")}`,
    )
    .replace("npx @modelcontextprotocol/inspector", `node '${join(dirname(inspector), Object.values(bin)[0] ?? "")}'`)
    .replace("http://my-echo-server.localhost:8080", `${serversUrl}/my-echo-server`)
    .replace("https://my-server-one.example.com", `${serversUrl}/my-server-one`)
    .replace(/pypi:PACKAGE==VERSION --name \S+/, "pypi:mcp-server-time --name my-time-server")
    .replace("{run directory}", join(instance.dataDirectory, "run"))
    .replace("{name}", "my-server-one")
    .replace("{slug}", (await organization())?.slug ?? "")
    .replace("weather-api", "my-server-one")
    .replace("wiki-server", "my-echo-server")
    .replace('"search"', '"echo"');
}

/** The shell's output of a command. */
const printedBy = (command: string) =>
  new Promise<string>((resolve) => {
    execFile("bash", ["-euc", command], { cwd: directory, env: environment }, (_, out, err) => resolve(`${out}${err}`));
  });

test(
  "OPS-7 each command of the documentation and the README is known here, and runs and works in the stage `commands`",
  async () => {
    const documented = [...(await documentedCommands()).keys()];
    const left = new Set(documented.filter((command) => !elsewhere.some(([pattern]) => pattern.test(command))));
    expect(elsewhere.filter(([pattern]) => !documented.some((command) => pattern.test(command)))).toEqual([]);
    const wrong: unknown[] = [];
    for (const [known, printed, before] of steps) {
      const part = /^curl … (.*)$/.exec(known)?.[1];
      const command = part ? documented.find((each) => each.startsWith("curl ") && each.includes(part)) : known;
      expect([known, left.delete(command ?? "")]).toEqual([known, true]);
      if (!isThorough) continue;
      await before?.();
      const filled = await fill(command ?? "");
      let output = await printedBy(filled);
      // The gateway gets new rules and keys a moment later.
      if (/\/mcp|Idempotency/.test(part ?? ""))
        await expect
          .poll(async () => (output = await printedBy(filled)))
          .toMatch(printed)
          .catch(() => {});
      if (!printed.test(output)) wrong.push([filled, printed, output]);
    }
    expect(wrong).toEqual([]);
    expect([...left]).toEqual([]);
  },
  timeoutMs,
);

test.runIf(isThorough)("OPS-7 the client in Python on the clients page lists the server's tools", async () => {
  const script = (await documentedPython("clients")).replace(
    "https://my-server-one.example.com",
    `${serversUrl}/my-echo-server`,
  );
  await writeFile(join(directory, "client.py"), script);
  expect(await printedBy("uv run --no-project --with fastmcp==4.1.2 python client.py")).toContain("name='echo'");
});
