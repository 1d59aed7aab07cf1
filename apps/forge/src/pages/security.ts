import type { MiddlewareHandler } from "hono";
import type { ForgeConfig } from "../config.ts";

const originOf = (url: string) => new URL(url).origin;

/** The forge's own address and its loopback names; the port is the one that we listen on. */
function ownHosts(config: ForgeConfig): Set<string> {
  const { host, port } = new URL(config.url);
  const suffix = port === "" ? "" : `:${port}`;
  return new Set([host, ...["localhost", "127.0.0.1", "[::1]"].map((name) => name + suffix)]);
}

/**
 * Only requests for our own names: a page elsewhere whose name was pointed at 127.0.0.1 (DNS rebinding) must not read
 * what any user of this machine may.
 */
export function onlyOwnHosts(config: ForgeConfig): MiddlewareHandler {
  const hosts = ownHosts(config);
  return async (c, next) => {
    if (!hosts.has((c.req.header("host") ?? "").toLowerCase())) return c.text("Unknown host\n", 421);
    await next();
  };
}

/**
 * Forms come from our own pages. SameSite cookies are not enough: servers on other ports of localhost are the same
 * site. Browsers send Origin with every POST; without it the answer is no.
 */
export function onlyOwnForms(config: ForgeConfig): MiddlewareHandler {
  const origins = new Set([...ownHosts(config)].map((host) => `${new URL(config.url).protocol}//${host}`));
  return async (c, next) => {
    const isSafe = c.req.method === "GET" || c.req.method === "HEAD";
    if (!isSafe && !origins.has(c.req.header("origin") ?? ""))
      return c.text("This form was sent from another site.\n", 403);
    await next();
  };
}

/** `form-action` also rules the redirects after a form, hence the platform's two addresses. */
export function pageHeaders(config: ForgeConfig): MiddlewareHandler {
  const formTargets = [...new Set(["'self'", originOf(config.callbackUrl), originOf(config.setupUrl)])].join(" ");
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    `form-action ${formTargets}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return async (c, next) => {
    await next();
    c.header("content-security-policy", policy);
    c.header("x-content-type-options", "nosniff");
    c.header("referrer-policy", "same-origin");
    c.header("cache-control", "no-store");
  };
}
