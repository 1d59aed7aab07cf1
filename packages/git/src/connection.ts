import { mkdir, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { GitCredential, GitRemote } from "@towpath/core/ports";
import { type AddressPolicy, createCheckedFetch, type ResolveName } from "@towpath/egress";
import { authoritiesFile } from "./authorities.ts";
import { checkedAddresses, type Endpoint, endpointOf } from "./endpoint.ts";
import { configEnvironment } from "./git-environment.ts";
import { hostKeys } from "./host-keys.ts";
import { authorizationOf, probe } from "./probe.ts";
import type { Scratch } from "./scratch.ts";
import { startSshAgent } from "./ssh-agent.ts";

export type ConnectionOptions = {
  readonly policy: AddressPolicy;
  readonly resolve?: ResolveName;
  /** For the SSH host keys of hosts that were seen, and for certificate authorities. Processes may share it. */
  readonly directory: string;
  readonly probeTimeoutMs: number;
};

/** A found repository, with git's settings to connect to it and to nothing else. */
export type Connection = {
  readonly endpoint: Endpoint;
  /** Null where the repository has moved to another origin, which must not get it. */
  readonly credential: GitCredential | null;
  readonly env: Readonly<Record<string, string>>;
};

export async function connect(
  remote: GitRemote,
  scratch: Scratch,
  options: ConnectionOptions,
  signal?: AbortSignal,
): Promise<Connection> {
  const asked = endpointOf(remote);
  if (remote.atAnyAddress) return connectToNamed(asked, remote.credential, options);
  const endpoint = asked.protocol === "ssh" ? asked : await found(asked, remote.credential, options, signal);
  const credential = endpoint.origin === asked.origin ? remote.credential : null;
  const addresses = await checkedAddresses(endpoint, options.policy, options.resolve);
  const settings =
    credential?.kind === "deployKey"
      ? sshSettings(endpoint, addresses, await writeSshFiles(endpoint, credential.privateKey, scratch, options))
      : [...httpSettings(endpoint, addresses, credential), ...(await trustSettings(endpoint, options.directory))];
  return { endpoint, credential, env: { GIT_ALLOW_PROTOCOL: endpoint.protocol, ...configEnvironment(settings) } };
}

/** To a host that the environment names. */
async function connectToNamed(
  endpoint: Endpoint,
  credential: GitCredential | null,
  { directory }: ConnectionOptions,
): Promise<Connection> {
  const settings = [...httpSettings(endpoint, [], credential), ...(await trustSettings(endpoint, directory))];
  return { endpoint, credential, env: { GIT_ALLOW_PROTOCOL: endpoint.protocol, ...configEnvironment(settings) } };
}

async function found(
  endpoint: Endpoint,
  credential: GitCredential | null,
  options: ConnectionOptions,
  signal?: AbortSignal,
) {
  const checked = createCheckedFetch(options.policy, options.resolve, { returnsRedirects: true });
  try {
    const token = credential?.kind === "token" ? credential : null;
    return await probe(endpoint, token, checked, { timeoutMs: options.probeTimeoutMs, signal });
  } finally {
    await checked.close();
  }
}

type Settings = readonly (readonly [key: string, value: string])[];

/** Of every git process that connects. */
const commonSettings = (protocol: Endpoint["protocol"]): Settings => [
  ["protocol.allow", "never"],
  [`protocol.${protocol}.allow`, "always"],
  ["core.hooksPath", "/dev/null"],
  ["transfer.fsckObjects", "true"],
  // Common in old repositories, and harmless.
  ["fetch.fsck.zeroPaddedFilemode", "ignore"],
  ["fetch.fsck.badTimezone", "ignore"],
  ["fetch.fsck.missingSpaceBeforeDate", "ignore"],
  // Keep small packs as packs: one file is easier to limit and to remove.
  ["fetch.unpackLimit", "1"],
  ["pack.threads", "1"],
  ["core.bigFileThreshold", "16m"],
  ["submodule.recurse", "false"],
  ["credential.helper", ""],
];

/**
 * Pins curl to the checked addresses, so that the name can't be resolved to another one. Empty for hosts set in the
 * environment, which are not pinned.
 */
export function httpSettings(
  endpoint: Endpoint,
  addresses: readonly string[],
  credential: GitCredential | null,
): Settings {
  const { host, port, protocol, origin } = endpoint;
  const pinned = addresses.map((address) => (isIP(address) === 6 ? `[${address}]` : address)).join(",");
  return [
    ...commonSettings(protocol),
    ["http.followRedirects", "false"],
    ["http.proxy", ""],
    ["http.lowSpeedLimit", "1000"],
    ["http.lowSpeedTime", "30"],
    ...(isIP(host) === 0 && addresses.length > 0
      ? [["http.curloptResolve", `${host}:${port}:${pinned}`] as const]
      : []),
    ...(credential?.kind === "token"
      ? [[`http.${origin}/.extraHeader`, `Authorization: ${authorizationOf(credential, host)}`] as const]
      : []),
  ];
}

/** Git trusts the authorities that Node does; `directory` keeps their list. */
export const trustSettings = async ({ protocol }: Endpoint, directory: string): Promise<Settings> =>
  protocol === "https" ? [["http.sslCAInfo", await authoritiesFile(directory)]] : [];

export type SshFiles = { readonly known: string; readonly pinned: string | null };

/** In the scratch directory, the working directory of git and ssh. */
const sshDirectory = "ssh";

/** The key stays in our agent; ssh connects to the first checked address under the host's name. */
export function sshSettings(endpoint: Endpoint, addresses: readonly string[], files: SshFiles): Settings {
  const options = [
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "PreferredAuthentications=publickey",
    `IdentityAgent=${sshDirectory}/agent`,
    `IdentityFile=${sshDirectory}/key.pub`,
    `HostName=${addresses[0]}`,
    `HostKeyAlias=${hostKeyAlias(endpoint)}`,
    ...(files.pinned === null
      ? ["StrictHostKeyChecking=accept-new", `UserKnownHostsFile="${files.known}"`, "GlobalKnownHostsFile=/dev/null"]
      : ["StrictHostKeyChecking=yes", `UserKnownHostsFile="${files.pinned}"`, "GlobalKnownHostsFile=/dev/null"]),
    "ConnectTimeout=15",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=2",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
    "ProxyCommand=none",
    "ControlPath=none",
    "UpdateHostKeys=no",
  ];
  const argv = ["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])];
  return [...commonSettings("ssh"), ["core.sshCommand", argv.map(quoted).join(" ")], ["ssh.variant", "ssh"]];
}

/** git passes the command to a shell. */
const quoted = (argument: string) =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

const hostKeyAlias = ({ host, port }: Endpoint) => (port === 22 ? host : `[${host}]:${port}`);

async function writeSshFiles(
  endpoint: Endpoint,
  privateKey: string,
  { directory, atEnd }: Scratch,
  options: ConnectionOptions,
): Promise<SshFiles> {
  const ssh = join(directory, sshDirectory);
  // A submodule of the same origin uses the agent of its parent, since it has its key.
  if ((await mkdir(ssh, { mode: 0o700, recursive: true })) !== undefined) {
    const agent = await startSshAgent(privateKey, ssh);
    atEnd(agent.close);
    await writeFile(join(ssh, "key.pub"), agent.publicKey);
  }
  const published = endpoint.port === 22 ? hostKeys[endpoint.host] : undefined;
  const pinned = published === undefined ? null : join(ssh, "pinned");
  if (pinned !== null) await writeFile(pinned, `${endpoint.host} ssh-ed25519 ${published}\n`);
  return { known: join(options.directory, "known_hosts"), pinned };
}
