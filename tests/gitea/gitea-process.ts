import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { freePorts } from "@towpath/role/testing";
import { repositoryRoot } from "../instance/towpath-process.ts";

const execute = promisify(execFile);

/** As the launcher has built it: the program, and its module with templates and locales. */
const built = join(repositoryRoot, ".toolchain/gitea");

export type Gitea = {
  readonly url: string;
  readonly sshPort: number;
  /** Its first account, an administrator. */
  readonly owner: { readonly name: string; readonly password: string };
  stop(): Promise<void>;
};

/** On loopback, without an installation page. It delivers webhooks to loopback addresses only. */
const settings = (directory: string, web: number, ssh: number) => `
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = ${directory}

[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${web}
ROOT_URL = http://127.0.0.1:${web}/
STATIC_ROOT_PATH = ${built}/module
OFFLINE_MODE = true
START_SSH_SERVER = true
SSH_DOMAIN = 127.0.0.1
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = ${ssh}
SSH_PORT = ${ssh}
LFS_START_SERVER = true

[database]
DB_TYPE = postgres
HOST = ${directory}/s
NAME = towpath
USER = towpath
SSL_MODE = disable

[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v1

[webhook]
ALLOWED_HOST_LIST = loopback

[log]
MODE = console
LEVEL = warn

[cron.update_checker]
ENABLED = false

[actions]
ENABLED = false

[indexer]
ISSUE_INDEXER_TYPE = db
`;

/** Starts a Gitea in a directory of its own, and resolves once it answers. */
export async function startGitea(directory: string): Promise<Gitea> {
  const [web = 0, ssh = 0] = await freePorts(2);
  const owner = { name: "ada", password: "correct horse battery staple" };
  const config = join(directory, "app.ini");
  await mkdir(directory, { recursive: true });
  await writeFile(config, settings(directory, web, ssh));
  const places = { dataDirectory: join(directory, "postgres"), socketDirectory: join(directory, "s") };
  const postgres = await startEmbeddedPostgres({ ...places, durable: false });
  // Its hooks find git's own settings in a home of their own.
  const env = { ...process.env, HOME: directory, GITEA_WORK_DIR: directory };
  const program = join(built, "gitea");
  await execute(program, ["migrate", "--config", config], { env });
  const admin = ["admin", "user", "create", "--config", config, "--admin", "--must-change-password=false"];
  const account = ["--username", owner.name, "--password", owner.password, "--email", "ada@example.test"];
  await execute(program, [...admin, ...account], { env });
  const child = spawn(program, ["web", "--config", config], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    });
  const url = `http://127.0.0.1:${web}`;
  while ((await fetch(`${url}/api/healthz`).catch(() => null))?.status !== 200) {
    if (child.exitCode !== null) throw new Error(`Gitea ended with status ${child.exitCode}:\n${output}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  return {
    url,
    sshPort: ssh,
    owner,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, "close");
        child.kill("SIGTERM");
        await closed;
      }
      await postgres.stop();
    },
  };
}
