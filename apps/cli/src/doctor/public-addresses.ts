import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Facts } from "./facts.ts";

/** An address that people or clients open. */
export type PublicAddress = {
  readonly of: "dashboard" | "servers";
  /** Of servers with a name that no server has. */
  readonly url: URL;
  /** Whether each server has a host name of its own. */
  readonly isWildcard: boolean;
};

/** Without the name of a server: it takes a wildcard record or certificate. */
export function publicAddresses({ options, serverUrl }: Facts): readonly PublicAddress[] {
  const isWildcard =
    new URL(serverUrl.replace("{name}", "name")).hostname !== new URL(serverUrl.replace("{name}", "other")).hostname;
  const name = `towpath-${randomBytes(6).toString("hex")}`;
  return [
    { of: "dashboard", url: new URL(options.url), isWildcard: false },
    { of: "servers", url: new URL(serverUrl.replace("{name}", name)), isWildcard },
  ];
}

/** Without the brackets of an IPv6 address. */
export const plainHost = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "");

export const isAddressLiteral = (url: URL): boolean => isIP(plainHost(url)) !== 0;
export const isLocalhost = ({ hostname }: URL): boolean => hostname === "localhost" || hostname.endsWith(".localhost");
/** Only this machine can open it. */
export const isLoopback = (url: URL): boolean => isLocalhost(url) || /^(127\.|::1$)/.test(plainHost(url));

/** As people write it: `*.example.com`. */
export const shownHost = ({ url, isWildcard }: PublicAddress): string =>
  isWildcard ? url.hostname.replace(/^[^.]+/, "*") : url.hostname;
