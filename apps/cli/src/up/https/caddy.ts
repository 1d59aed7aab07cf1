import { promises as dns, type LookupAddress } from "node:dns";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { CommandError } from "../../terminal/terminal.ts";
import type { Environment, UpOptions } from "../options.ts";
import { findProgram, tryToBind } from "../preflight.ts";
import { inherited, type Role } from "../roles.ts";
import { caddyfileOf } from "./caddyfile.ts";
import type { HttpsConfig } from "./https-config.ts";

/** @throws CommandError with the command that installs it, or what keeps it from listening */
export async function requireCaddy({ host, httpPort, httpsPort }: HttpsConfig): Promise<void> {
  if (!findProgram("caddy")) throw new CommandError("caddy is missing. Install it: apt-get install caddy");
  for (const port of [httpPort, httpsPort]) {
    const problem = await portProblem(host, port);
    if (problem !== null) throw new CommandError(problem);
  }
}

/** Why HTTPS can't use a port and what to do; null if it can. `host`: null for all addresses. */
export async function portProblem(host: string | null, port: number): Promise<string | null> {
  const socket = await tryToBind(host, port);
  if (socket instanceof Error) return remedyFor(socket, port);
  socket.close();
  return null;
}

/** For the operator: how a port that HTTPS needs becomes free. */
export function remedyFor({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === "EADDRINUSE")
    return (
      `Port ${port} is in use, and HTTPS needs it. Stop what uses it: ss -ltnp 'sport = :${port}' names it. ` +
      "Debian's package caddy starts a Caddy of its own: systemctl disable --now caddy"
    );
  if (code === "EACCES")
    return (
      // No capability of the process: sandboxes refuse to start with one.
      `This user may not listen on port ${port}, which HTTPS needs. Allow it: sysctl -w ` +
      `net.ipv4.ip_unprivileged_port_start=${port}. Or ` +
      "set TOWPATH_HTTP_PORT and TOWPATH_HTTPS_PORT to ports above 1023, and forward 80 and 443 to them."
    );
  return `Nothing can listen on port ${port}, which HTTPS needs: ${message}`;
}

/** Where a process that listens on `host` is reached from this machine. */
function addressOf(host: string, port: number): string {
  if (host === "0.0.0.0") return `127.0.0.1:${port}`;
  if (host === "::") return `[::1]:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Writes Caddy's configuration to the run directory, and returns how to run it. It gets none of the instance's secrets.
 * Certificates and the account's key are below `caddy/` in the data directory.
 */
export async function caddyRole(options: UpOptions, https: HttpsConfig, environment: Environment): Promise<Role> {
  const { runDirectory, dataDirectory } = options;
  const config = join(runDirectory, "Caddyfile");
  const caddyfile = caddyfileOf(https, {
    web: addressOf(options.host, options.port),
    gateway: addressOf(options.gatewayHost, options.gatewayPort),
    adminSocket: join(runDirectory, "caddy.sock"),
  });
  await writeFile(config, caddyfile, { mode: 0o600 });
  const given = inherited.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    name: "caddy",
    command: ["caddy", "run", "--adapter", "caddyfile", "--config", config],
    env: { ...Object.fromEntries(given), XDG_DATA_HOME: dataDirectory, XDG_CONFIG_HOME: runDirectory },
    stopSignal: "SIGTERM",
    socket: null,
    runsAlone: true,
    serves: () => accepts(https.httpsPort, https.host ?? "127.0.0.1"),
  };
}

function accepts(port: number, host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host, timeout: 1000 });
  for (const event of ["connect", "error", "timeout"] as const)
    socket.once(event, () => {
      resolve(event === "connect");
      socket.destroy();
    });
  return promise;
}

type Lookup = (name: string, options: { all: true }) => Promise<LookupAddress[]>;

/** What to do when names don't resolve here, without which no certificate can be fetched; null if they do. */
export async function namesNotice(
  { domain }: HttpsConfig,
  serverUrl: string,
  lookup: Lookup = dns.lookup,
): Promise<string | null> {
  const servers = new URL(serverUrl.replace("{name}", "any-server")).hostname;
  const resolves = (name: string) =>
    lookup(name, { all: true }).then(
      (found) => found.length > 0,
      () => false,
    );
  const [dashboard, anyServer] = await Promise.all([resolves(domain), resolves(servers)]);
  const missing = [...(dashboard ? [] : [domain]), ...(anyServer ? [] : [servers.replace(/^any-server\./, "*.")])];
  if (missing.length === 0) return null;
  const names = missing.join(" and ");
  return `No address was found for ${names}, so there is no certificate either. Make A and AAAA records with this machine's public addresses.`;
}
