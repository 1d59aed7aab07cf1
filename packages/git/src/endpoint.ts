import { isIP } from "node:net";
import { TowpathError } from "@towpath/core/errors";
import { type GitCredential, type GitRemote, mayNeedSignIn } from "@towpath/core/ports";
import { type AddressPolicy, checkedLookup, type ResolveName } from "@towpath/egress";
import { publicProblem } from "./problems.ts";

/** Where a repository is, parsed. */
export type Endpoint = {
  readonly url: string;
  readonly protocol: "https" | "http" | "ssh";
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A credential is for one origin. */
  readonly origin: string;
};

const ports = { https: 443, http: 80, ssh: 22 };
/** Narrower than URL parsers allow for ssh, since it becomes an argument of a command. */
const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$/i;

/**
 * @throws TowpathError `invalid_input` for a URL that is none, or has a credential in it
 */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : null;
  const protocol = url?.protocol.slice(0, -1);
  if (!url || (protocol !== "https" && protocol !== "http" && protocol !== "ssh"))
    throw new TowpathError("invalid_input", "Enter a Git URL such as https://example.com/owner/repository.");
  if (url.password || (url.username && protocol !== "ssh"))
    throw new TowpathError("invalid_input", "The URL must have no user name or password. Add a token instead.");
  if (url.search || url.hash)
    throw new TowpathError("invalid_input", "The URL must have no query (?) or fragment (#).");
  const user = protocol === "ssh" ? url.username || "git" : "";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isNamed = isIP(host) !== 0 || hostName.test(host);
  if (!isNamed || !/^[\w.-]*$/.test(user) || user.startsWith("-"))
    throw new TowpathError("invalid_input", "The URL's host can't be a Git host. Check it for typing errors.");
  const port = url.port === "" ? ports[protocol] : Number(url.port);
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  if (path === "")
    throw new TowpathError(
      "invalid_input",
      `Name the repository too, as in ${protocol}://${url.host}/owner/repository.`,
    );
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  const authority = `${user === "" ? "" : `${user}@`}${shown}${url.port === "" ? "" : `:${port}`}`;
  const origin = `${protocol}://${shown}:${port}`;
  return { url: `${protocol}://${authority}${path}`, protocol, host, port, user, origin };
}

/**
 * The URL to use with this credential: a deploy key is for SSH, which the large hosts serve at the same path.
 *
 * @throws TowpathError as `parseEndpoint`, and for a credential that the URL's protocol can't use
 */
export function endpointOf({ url, credential }: GitRemote): Endpoint {
  const endpoint = parseEndpoint(url);
  if (endpoint.protocol === "ssh") {
    if (credential === null)
      throw new TowpathError(
        "not_found",
        `${endpoint.host} is read by SSH here, which needs a deploy key. Add one, or enter the repository's https URL.`,
        { detail: mayNeedSignIn },
      );
    if (credential.kind === "token")
      throw new TowpathError(
        "invalid_input",
        "A token can't be used with an SSH URL. Enter the repository's https URL, or add a deploy key instead.",
      );
    return endpoint;
  }
  if (credential?.kind !== "deployKey") return endpoint;
  const { pathname, hostname } = new URL(endpoint.url);
  return parseEndpoint(`ssh://git@${hostname}${pathname}`);
}

/** The user name that hosts expect with a token, if its owner named none. */
export function userOf({ username }: Extract<GitCredential, { kind: "token" }>, host: string): string {
  if (username !== "") return username;
  if (host === "github.com") return "x-access-token";
  if (host === "bitbucket.org") return "x-token-auth";
  return /(^|\.)gitlab\./.test(host) ? "oauth2" : "git";
}

/**
 * All addresses of the host, checked. Connect to these, and don't resolve the name again.
 *
 * @throws TowpathError
 */
export async function checkedAddresses(
  { host, protocol }: Endpoint,
  policy: AddressPolicy,
  resolve?: ResolveName,
): Promise<readonly string[]> {
  const rule = protocol === "http" ? "http:" : "https:";
  const literal: ResolveName = async (address) => [{ address, family: isIP(address) }];
  const lookup = checkedLookup(policy, rule, isIP(host) ? literal : resolve);
  const found = await new Promise<readonly string[]>((done, fail) => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error) fail(error);
      else done((addresses as unknown as readonly { address: string }[]).map(({ address }) => address));
    });
  }).catch((error: unknown) => {
    throw publicProblem(error, host);
  });
  return found;
}
