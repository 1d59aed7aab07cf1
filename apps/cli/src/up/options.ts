import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "../commands/parse.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { UsageError } from "../terminal/terminal.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** All settings from flags and environment, resolved once: to check, print and pass to the processes. */
export type UpOptions = {
  readonly dataDirectory: string;
  /** Short enough for unix sockets below it (sun_path holds 107 bytes). */
  readonly runDirectory: string;
  /** Of the dashboard. */
  readonly host: string;
  readonly port: number;
  readonly gatewayHost: string;
  readonly gatewayPort: number;
  /** Address of the dashboard. */
  readonly url: string;
  /** Address of servers with `{name}` as the operator set it; null: `up` chooses (server-url.ts). */
  readonly serverUrl: string | null;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** Bypasses a pooler; null: `databaseUrl` itself. */
  readonly directDatabaseUrl: string | null;
};

/** The value of a flag, else a variable, else the default, with its name for errors. */
type Given = { readonly name: string; readonly value: string };

function port({ name, value }: Given): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > 65535) {
    throw new UsageError(`${name} must be a port between 1 and 65535, not ${value}.`);
  }
  return number;
}

function address({ name, value }: Given): string {
  const marked = value.replace("{name}", "name");
  if (URL.canParse(marked) && /^https?:$/.test(new URL(marked).protocol)) return value.replace(/\/+$/, "");
  throw new UsageError(`${name} must be an http or https URL, not ${value}.`);
}

function serverUrlOf(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!value.includes("{name}")) throw new UsageError(`TOWPATH_SERVER_URL must contain {name}, not ${value}.`);
  return address({ name: "TOWPATH_SERVER_URL", value });
}

/** Sockets live in the data directory, or below the temporary directory when its path is too long for them. */
function runDirectoryOf(dataDirectory: string): string {
  const inside = join(dataDirectory, "run");
  const maxSocketPathBytes = "/i/0123456789ab/status.json.tmp".length;
  if (Buffer.byteLength(inside) + maxSocketPathBytes <= 100) return inside;
  const name = createHash("sha256").update(dataDirectory).digest("hex").slice(0, 12);
  return join(tmpdir(), `towpath-${process.getuid?.() ?? 0}-${name}`);
}

/** Flags win over the environment. @throws CommandError naming the flag or variable that is wrong. */
export const parseUpOptions = (args: string[], environment: Environment): UpOptions =>
  upOptionsOf(parse("up", args).values, environment);

export type Flags = { readonly [Name in "data-dir" | "port" | "gateway-port"]?: string | undefined };

/** The same for parsed flags. */
export function upOptionsOf(values: Flags, environment: Environment): UpOptions {
  // An empty variable counts as absent, as in the processes.
  const variable = (name: string) => environment[name] || undefined;
  const given = (flagName: keyof Flags, variableName: string, byDefault: string): Given => {
    const value = values[flagName];
    if (value !== undefined) return { name: `--${flagName}`, value };
    return { name: variableName, value: variable(variableName) ?? byDefault };
  };
  const dataDirectory = resolveDataDirectory(values["data-dir"]);
  const ports = {
    port: port(given("port", "TOWPATH_PORT", "3000")),
    gatewayPort: port(given("gateway-port", "TOWPATH_GATEWAY_PORT", "8080")),
  };
  if (ports.port === ports.gatewayPort) throw new UsageError("Dashboard and gateway each need their own port.");
  const url = variable("TOWPATH_URL") ?? `http://localhost:${ports.port}`;
  return {
    dataDirectory,
    runDirectory: runDirectoryOf(dataDirectory),
    ...ports,
    host: variable("TOWPATH_HOST") ?? "127.0.0.1",
    gatewayHost: variable("TOWPATH_GATEWAY_HOST") ?? "127.0.0.1",
    url: address({ name: "TOWPATH_URL", value: url }),
    serverUrl: serverUrlOf(variable("TOWPATH_SERVER_URL")),
    databaseUrl: variable("DATABASE_URL") ?? null,
    directDatabaseUrl: variable("DATABASE_DIRECT_URL") ?? null,
  };
}
