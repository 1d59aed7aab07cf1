import type { MiddlewareHandler } from "hono";
import { csrf } from "hono/csrf";
import { secureHeaders } from "hono/secure-headers";
import type { ForgeConfig } from "../config.ts";

const originOf = (url: string) => new URL(url).origin;

/** The forge's own host and the loopback names, with the port. */
function ownHosts(config: ForgeConfig): Set<string> {
  const { host, port } = new URL(config.url);
  const suffix = port === "" ? "" : `:${port}`;
  return new Set([host, ...["localhost", "127.0.0.1", "[::1]"].map((name) => name + suffix)]);
}

/**
 * Refuses requests for other host names: a website whose name resolves to 127.0.0.1 (DNS rebinding) must not get the
 * access of this machine's users.
 */
export function onlyOwnHosts(config: ForgeConfig): MiddlewareHandler {
  const hosts = ownHosts(config);
  return async (c, next) => {
    if (!hosts.has((c.req.header("host") ?? "").toLowerCase())) return c.text("Unknown host\n", 421);
    await next();
  };
}

/**
 * Accepts forms from our own pages only. SameSite cookies aren't enough, because servers on other ports of localhost
 * are same-site.
 */
export function onlyOwnForms(config: ForgeConfig): MiddlewareHandler {
  const { protocol } = new URL(config.url);
  return csrf({ origin: [...ownHosts(config)].map((host) => `${protocol}//${host}`) });
}

/** `form-action` also applies to redirects after a form submission, hence the platform's two URLs. */
export function pageHeaders(config: ForgeConfig): MiddlewareHandler[] {
  const formTargets = [...new Set(["'self'", originOf(config.callbackUrl), originOf(config.setupUrl)])];
  const headers = secureHeaders({
    referrerPolicy: "same-origin",
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'"],
      fontSrc: ["'self'"],
      formAction: formTargets,
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    // The forge is served over http.
    strictTransportSecurity: false,
  });
  return [
    async (c, next) => {
      await headers(c, next);
      c.header("cache-control", "no-store");
      // The dashboard, which has an origin of its own, shows the pictures of accounts.
      if (c.req.path.endsWith("/avatar.svg")) c.header("cross-origin-resource-policy", "cross-origin");
    },
  ];
}
