import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { destinationOf, parseServerUrl } from "./server-address.ts";

describe("parseServerUrl", () => {
  test("GW-1 takes the name as first label of the host or as the whole path, and nothing else", () => {
    expect(parseServerUrl("https://{name}.example.com")).toEqual({
      form: "host",
      hostName: ".example.com",
      protocol: "https",
      port: "",
      isLoopback: false,
    });
    expect(parseServerUrl("http://{name}.localhost:8080/")).toMatchObject({ form: "host", isLoopback: true });
    expect(parseServerUrl("http://localhost:8080/{name}")).toEqual({
      form: "path",
      hostName: "localhost",
      protocol: "http",
      port: ":8080",
      isLoopback: true,
    });
    expect(parseServerUrl("https://mcp.example.com/{name}/")).toMatchObject({ form: "path", isLoopback: false });
    for (const bad of [
      "",
      "example.com/{name}",
      "https://example.com",
      "https://a{name}.example.com",
      "https://x.com/a/{name}",
      "ftp://{name}.x.com",
    ]) {
      expect(() => parseServerUrl(bad)).toThrow(/must/);
    }
  });
});

describe("destinationOf", () => {
  const byHost = parseServerUrl("https://{name}.example.com");
  const byPath = parseServerUrl("http://localhost:8080/{name}");

  test("GW-1 by host: production and preview labels, with any port and in any case", () => {
    for (const host of ["brave-otter.example.com", "Brave-Otter.EXAMPLE.com:443", "brave-otter.example.com."]) {
      expect(destinationOf(byHost, host, "/mcp")).toMatchObject({
        kind: "server",
        label: "brave-otter",
        path: "/mcp",
        isMcp: true,
      });
    }
    expect(destinationOf(byHost, "brave-otter-my-branch.example.com", "/mcp/?a")).toMatchObject({
      label: "brave-otter-my-branch",
      path: "/mcp?a",
    });
    // A path belongs to the server, also one that looks like the gateway's own.
    expect(destinationOf(byHost, "brave-otter.example.com", "/-/healthz")).toMatchObject({
      kind: "server",
      path: "/-/healthz",
    });
    expect(destinationOf(byHost, "10.0.0.1:8080", "/-/healthz")).toMatchObject({ kind: "platform" });
    for (const host of [
      "example.com",
      ".example.com",
      "a.b.example.com",
      "-a.example.com",
      "evil-example.com",
      "x.example.com.evil.org",
      undefined,
    ]) {
      expect(destinationOf(byHost, host, "/mcp")).toEqual({ kind: "unknown-host" });
    }
  });

  test("OPS-12 GW-1 a domain of a server never takes a name of the instance's own, such as after it has moved", () => {
    const labelOfDomain = () => "other";
    const labelAt = (address: typeof byHost, host: string) =>
      destinationOf(address, host, "/brave-otter/mcp", labelOfDomain);
    expect(labelAt(byHost, "mcp.acme.com")).toMatchObject({ label: "other", domain: "mcp.acme.com" });
    expect(labelAt(byHost, "brave-otter.example.com")).toMatchObject({ label: "brave-otter", domain: null });
    expect(labelAt(byPath, "mcp.acme.com")).toMatchObject({ label: "other", domain: "mcp.acme.com" });
    expect(labelAt(byPath, "localhost")).toMatchObject({ label: "brave-otter", domain: null });
  });

  test("GW-1 by path on a single host, also for previews", () => {
    expect(destinationOf(byPath, "localhost:8080", "/brave-otter-branch/mcp?x=1")).toEqual({
      kind: "server",
      label: "brave-otter-branch",
      domain: null,
      path: "/mcp?x=1",
      isMcp: true,
      isWellKnown: false,
      otherPath: null,
    });
    expect(destinationOf(byPath, "localhost", "/brave-otter")).toMatchObject({ path: "/", isMcp: false });
    expect(destinationOf(byPath, "localhost", "/brave-otter?q")).toMatchObject({ path: "/?q", isMcp: false });
    expect(destinationOf(byPath, "localhost", "/.well-known/oauth-authorization-server/brave-otter")).toMatchObject({
      label: "brave-otter",
      path: "/.well-known/oauth-authorization-server/brave-otter",
      isWellKnown: true,
      otherPath: "/.well-known/oauth-authorization-server",
    });
    const resource = "/.well-known/oauth-protected-resource/brave-otter/mcp?a";
    expect(destinationOf(byPath, "localhost", resource)).toMatchObject({
      path: resource,
      otherPath: "/.well-known/oauth-protected-resource/mcp?a",
    });
    expect(destinationOf(byPath, "localhost", "/brave-otter/.well-known/openid-configuration")).toMatchObject({
      path: "/.well-known/openid-configuration",
      isWellKnown: true,
      otherPath: null,
    });
    expect(destinationOf(byPath, "localhost", "/")).toMatchObject({ kind: "platform" });
    // The longest and the oddest project names that may exist are no names of the gateway's.
    expect(destinationOf(byPath, "localhost", "/healthz/mcp")).toMatchObject({ kind: "server", label: "healthz" });
  });

  test("GW-9 a dot segment in a query is data", () => {
    expect(destinationOf(byPath, "localhost", "/brave-otter/x?file=../a")).toMatchObject({ kind: "server" });
    expect(destinationOf(byPath, "localhost", "/brave-otter/x/..?a")).toEqual({ kind: "unknown-path" });
  });

  /** A text with any of its bytes escaped, in either case. */
  const escaped = (text: string) =>
    fc
      .tuple(
        ...[...text].map((character) => fc.constantFrom(character, hexOf(character), hexOf(character).toUpperCase())),
      )
      .map((parts) => parts.join(""));
  const hexOf = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

  test("GW-7 GW-9 however its letters are escaped, the MCP endpoint is the MCP endpoint", () => {
    fc.assert(
      fc.property(
        escaped("brave-otter"),
        escaped("mcp"),
        fc.constantFrom("", "/", "?a=%6d", "/?%zz"),
        (name, mcp, end) => {
          const expected = { kind: "server", label: "brave-otter", isMcp: true, path: `/mcp${end.replace(/^\//, "")}` };
          expect(destinationOf(byPath, "localhost", `/${name}/${mcp}${end}`)).toMatchObject(expected);
          expect(destinationOf(byHost, "brave-otter.example.com", `/${mcp}${end}`)).toMatchObject(expected);
        },
      ),
    );
  });

  test("GW-4 an escaped well-known path is a well-known path", () => {
    fc.assert(
      fc.property(escaped(".well-known"), (name) => {
        const target = `/${name}/oauth-protected-resource`;
        expect(destinationOf(byHost, "brave-otter.example.com", target)).toMatchObject({ isWellKnown: true });
      }),
    );
  });

  test("GW-9 the server never decodes a path differently than the gateway", () => {
    const piece = fc.constantFrom(
      ..."/ // . .. %2e %2E%2e %2f %5c \\ %00 # ; % %6 %zz %25 %256d mcp m%63p %6Dcp x %20 %c3%a9 é ~ %7e brave-otter - /-/".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom("", "?", "?q=/../%6d"), (pieces, query) => {
        for (const [address, host, prefix] of [
          [byPath, "localhost", "/brave-otter/"],
          [byHost, "brave-otter.example.com", "/"],
        ] as const) {
          const destination = destinationOf(address, host, `${prefix}${pieces.join("")}${query}`);
          if (destination.kind !== "server") continue;
          const [path = ""] = destination.path.split("?");
          const seen = decodeURIComponent(path);
          expect(/^\/mcp\/*$/.test(seen)).toBe(destination.isMcp);
          expect(seen).not.toMatch(/\/\.{1,2}(\/|$)|^\/\/|\\|\0|#/);
          expect(destination.path.slice(path.length)).toBe(query);
          // Deciding again changes nothing.
          expect(destinationOf(byHost, "brave-otter.example.com", destination.path)).toMatchObject({
            path: destination.path,
            isMcp: destination.isMcp,
          });
        }
      }),
      { numRuns: 3000 },
    );
  });
});
