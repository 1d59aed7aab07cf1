import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { emptyDirectory } from "../doctor/testing/facts-of.ts";
import { UsageError } from "../terminal/terminal.ts";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { installService, uninstallService } from "./install.ts";
import { serviceEnvironment } from "./installed-service.ts";
import { service } from "./service.ts";
import { requireSystemd } from "./systemd.ts";
import { type ServiceSettings, unitOf } from "./unit.ts";

const isRoot = process.getuid?.() === 0;
const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).status === 0;

let directory = "";
let printed: Printed;
beforeEach(async () => {
  directory = await emptyDirectory();
  printed = collectPrinted();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const settings = (): ServiceSettings => ({
  root: join(directory, "check out 100%"),
  user: "daemon",
  dataDirectory: join(directory, 'data "of" $HOME 5%'),
  settingsFile: join(directory, "etc", "towpath 1%.env"),
});
const places = () => ({ unitFile: join(directory, "towpath.service"), settingsFile: settings().settingsFile });

test.runIf(hasAnalyze)(
  "OPS-9 the unit passes systemd-analyze verify, also with unusual characters in its paths",
  async () => {
    const { root, settingsFile } = settings();
    await mkdir(root);
    await mkdir(join(directory, "etc"));
    await writeFile(settingsFile, "");
    await writeFile(join(root, "towpath"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(places().unitFile, unitOf(settings()));
    const { stdout, stderr } = await promisify(execFile)("systemd-analyze", [
      "verify",
      "--man=no",
      "--recursive-errors=no",
      places().unitFile,
    ]);
    expect([stdout, stderr]).toEqual(["", ""]);
    // It does find what is wrong.
    await writeFile(
      places().unitFile,
      unitOf({ ...settings(), root: "/nonexistent" }).replace("KillMode=mixed", "KillMode=mixd"),
    );
    const wrong = await promisify(execFile)("systemd-analyze", [
      "verify",
      "--man=no",
      "--recursive-errors=no",
      places().unitFile,
    ]).catch((error: { stderr: string }) => error);
    expect(wrong.stderr).toMatch(/mixd|nonexistent/);
  },
);

test("OPS-9 the unit gives servers control groups, and ends, restarts and limits the service as up needs it", () => {
  const unit = unitOf({
    root: "/opt/towpath",
    user: "towpath",
    dataDirectory: "/srv/towpath",
    settingsFile: "/etc/t.env",
  });
  for (const line of [
    "User=towpath",
    'Environment="TOWPATH_DATA_DIR=/srv/towpath"',
    "EnvironmentFile=/etc/t.env",
    'ExecStart="/opt/towpath/towpath" up',
    "KillMode=mixed",
    "Delegate=yes",
    "OOMPolicy=continue",
    "Restart=on-failure",
    "NoNewPrivileges=yes",
  ])
    expect(unit.split("\n")).toContain(line);
});

/** Programs of systemd that write down how they were called. */
async function standIns(): Promise<() => Promise<readonly string[]>> {
  const log = join(directory, "calls");
  const bin = join(directory, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "systemctl"), `#!/bin/sh\necho "$*" >>'${log}'\n`);
  await chmod(join(bin, "systemctl"), 0o755);
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  return async () => (await readFile(log, "utf8").catch(() => "")).split("\n").filter(Boolean);
}

test.runIf(isRoot)(
  "OPS-9 install makes data directory, settings file and unit, and starts it; uninstall keeps the data",
  async () => {
    const calls = await standIns();
    await chmod(directory, 0o755);
    await mkdir(settings().root, { mode: 0o755 });
    await writeFile(join(settings().root, "towpath"), "#!/bin/sh\n", { mode: 0o755 });
    await installService(settings(), places());
    const daemon = Number((await promisify(execFile)("id", ["-u", "daemon"])).stdout);
    expect((await stat(settings().dataDirectory)).uid).toBe(daemon);
    expect((await stat(settings().settingsFile)).mode & 0o777).toBe(0o600);
    expect(await readFile(places().unitFile, "utf8")).toBe(unitOf(settings()));
    expect(await calls()).toEqual(["daemon-reload", "enable --now towpath.service"]);
    expect(printed.text).toContain("Towpath runs as a service of daemon");

    // Settings stay, and are what doctor reads.
    await writeFile(settings().settingsFile, "TOWPATH_URL=https://towpath.example.com # ours\nTOWPATH_PORT='3100'\n");
    await installService(settings(), places());
    expect(serviceEnvironment(places())).toEqual({
      TOWPATH_DATA_DIR: settings().dataDirectory,
      TOWPATH_URL: "https://towpath.example.com",
      TOWPATH_PORT: "3100",
    });
    await uninstallService(places());
    expect((await calls()).slice(4)).toEqual(["disable --now towpath.service", "daemon-reload"]);
    expect((await stat(settings().dataDirectory)).isDirectory()).toBe(true);
    await expect(uninstallService(places())).rejects.toThrow("nothing is installed");
    expect(serviceEnvironment(places())).toEqual({});
  },
);

test.runIf(isRoot)(
  "OPS-9 install refuses unknown users, closed checkouts and data of somebody else, with what to do",
  async () => {
    const calls = await standIns();
    const refused = (change: Partial<ServiceSettings>) => installService({ ...settings(), ...change }, places());
    await expect(refused({ user: "no-such-user" })).rejects.toThrow("useradd --system");
    await mkdir(settings().root, { mode: 0o700 });
    await writeFile(join(settings().root, "towpath"), "#!/bin/sh\n", { mode: 0o755 });
    await expect(refused({})).rejects.toThrow("Move the checkout");
    await mkdir(settings().dataDirectory);
    await chmod(directory, 0o755);
    await chmod(settings().root, 0o755);
    await expect(refused({})).rejects.toThrow("chown -R daemon:");
    expect(await calls()).toEqual([]);
  },
);

test("OPS-9 without systemd the commands say what to do; install --print shows the unit anyway", async () => {
  expect(() => requireSystemd(join(directory, "nothing"))).toThrow(
    "systemd doesn't run here, as in most containers. Have",
  );
  requireSystemd(directory);
  expect(await service(["install", "--print", "--user", "towpath", "--data-dir", "/srv/towpath"])).toBe(0);
  expect(printed.text).toContain("User=towpath\n");
  await expect(service(["start"])).rejects.toThrow(UsageError);
  await expect(service(["status", "--user", "x"])).rejects.toThrow("--user is for install only.");
});
