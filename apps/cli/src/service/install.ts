import { existsSync } from "node:fs";
import { chown, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError, print } from "../terminal/terminal.ts";
import { type ServicePlaces, serviceName } from "./installed-service.ts";
import { execute } from "./systemd.ts";
import { type ServiceSettings, unitOf } from "./unit.ts";

type Account = { readonly uid: number; readonly gid: number };

const emptySettings = `# Settings of Towpath, one NAME=value a line: see docs/configuration.md. Then: systemctl restart ${serviceName}
`;

/** Writes unit and settings file, and starts the service. @throws CommandError that says what to do first */
export async function installService(settings: ServiceSettings, { unitFile }: ServicePlaces): Promise<void> {
  requireRoot();
  const account = await accountOf(settings.user);
  await requireMayRun(settings, account);
  await makeDataDirectory(settings, account);
  if (!existsSync(settings.settingsFile)) {
    await mkdir(dirname(settings.settingsFile), { recursive: true });
    await writeFile(settings.settingsFile, emptySettings, { mode: 0o600 });
  }
  const wasInstalled = existsSync(unitFile);
  await writeFile(unitFile, unitOf(settings), { mode: 0o644 });
  await execute("systemctl", "daemon-reload");
  await execute("systemctl", "enable", "--now", serviceName);
  print(`Towpath runs as a service of ${settings.user}, with its data in ${settings.dataDirectory}.`);
  print(`Settings: ${settings.settingsFile}. They count from the next start: systemctl restart ${serviceName}`);
  if (wasInstalled) print(`It was installed before; what changed counts from the next start, too.`);
}

/** Stops it and removes the unit. Data and settings stay. */
export async function uninstallService({ unitFile }: ServicePlaces): Promise<void> {
  requireRoot();
  if (!existsSync(unitFile)) throw new CommandError(`There is no ${unitFile}: nothing is installed.`);
  await execute("systemctl", "disable", "--now", serviceName);
  await rm(unitFile);
  await execute("systemctl", "daemon-reload");
  print(`Towpath is stopped, and starts no more by itself. Its data and its settings are where they were.`);
}

function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new CommandError("Services are for root to change. Run it with sudo; --user names whom Towpath runs as.");
}

async function accountOf(user: string): Promise<Account> {
  try {
    const [uid, gid] = await Promise.all(["-u", "-g"].map((what) => execute("id", what, "--", user)));
    return { uid: Number(uid), gid: Number(gid) };
  } catch {
    throw new CommandError(
      `There is no user ${user}. Make one: useradd --system --create-home --home-dir /home/${user} --shell /usr/sbin/nologin ${user}`,
    );
  }
}

/** A checkout below /root is closed to others. */
async function requireMayRun({ root, user }: ServiceSettings, { uid, gid }: Account): Promise<void> {
  const launcher = join(root, "towpath");
  const as = ["--reuid", String(uid), "--regid", String(gid), "--clear-groups"];
  await execute("setpriv", ...as, "test", "-x", launcher).catch(() => {
    throw new CommandError(`${user} may not run ${launcher}. Move the checkout to where it may, such as /opt/towpath.`);
  });
}

async function makeDataDirectory({ dataDirectory, user }: ServiceSettings, { uid, gid }: Account): Promise<void> {
  const found = await stat(dataDirectory).catch(() => null);
  if (found === null) {
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    await chown(dataDirectory, uid, gid);
    return;
  }
  if (found.uid !== uid)
    throw new CommandError(
      `${dataDirectory} belongs to another user than ${user}. Stop what uses it, then: chown -R ${user}: ${dataDirectory}`,
    );
}
