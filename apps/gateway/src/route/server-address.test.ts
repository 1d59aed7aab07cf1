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

  test("GW-1 by host: production and preview labels, whatever the port and the case", () => {
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

  test("GW-1 by path on a single host, also for previews", () => {
    expect(destinationOf(byPath, "localhost:8080", "/brave-otter-branch/mcp?x=1")).toEqual({
      kind: "server",
      label: "brave-otter-branch",
      path: "/mcp?x=1",
      isMcp: true,
      isWellKnown: false,
    });
    expect(destinationOf(byPath, "localhost", "/brave-otter")).toMatchObject({ path: "/", isMcp: false });
    expect(destinationOf(byPath, "localhost", "/brave-otter?q")).toMatchObject({ path: "/?q", isMcp: false });
    expect(destinationOf(byPath, "localhost", "/.well-known/oauth-authorization-server/brave-otter")).toMatchObject({
      label: "brave-otter",
      path: "/.well-known/oauth-authorization-server/brave-otter",
      isWellKnown: true,
    });
    expect(destinationOf(byPath, "localhost", "/")).toMatchObject({ kind: "platform" });
    // The longest and the oddest project names that may exist are no names of the gateway's.
    expect(destinationOf(byPath, "localhost", "/healthz/mcp")).toMatchObject({ kind: "server", label: "healthz" });
  });

  test("GW-9 a dot segment in a query is data", () => {
    expect(destinationOf(byPath, "localhost", "/brave-otter/x?file=../a")).toMatchObject({ kind: "server" });
    expect(destinationOf(byPath, "localhost", "/brave-otter/x/..?a")).toEqual({ kind: "unknown-path" });
  });
});
