import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { httpSettings, sshSettings } from "./connection.ts";
import { endpointOf, parseEndpoint } from "./endpoint.ts";
import { parseRefs } from "./refs.ts";
import { versionProblem } from "./version.ts";

const settingOf = (settings: readonly (readonly [string, string])[], key: string) =>
  settings.find(([name]) => name === key)?.[1];

test("SRC-2 git is held to the checked addresses, one protocol and no redirect, and the token goes to its origin only", () => {
  const token = { kind: "token", username: "", token: "abc" } as const;
  const settings = httpSettings(parseEndpoint("https://github.com/acme/echo"), ["1.2.3.4", "2606::1"], token);
  expect(settingOf(settings, "http.curloptResolve")).toBe("github.com:443:1.2.3.4,[2606::1]");
  expect(settingOf(settings, "http.followRedirects")).toBe("false");
  expect(settingOf(settings, "protocol.allow")).toBe("never");
  expect(settings.filter(([key]) => /^protocol\..+\.allow$/.test(key))).toEqual([["protocol.https.allow", "always"]]);
  const header = `Authorization: Basic ${Buffer.from("x-access-token:abc").toString("base64")}`;
  expect(settingOf(settings, "http.https://github.com:443/.extraHeader")).toBe(header);
});

test("SRC-2 ssh reads no configuration, asks nothing, and connects to the checked address under the host's name", async () => {
  const key = { kind: "deployKey", privateKey: "k" } as const;
  const endpoint = endpointOf({ url: "https://example.com/acme/echo", credential: key });
  expect(endpoint.url).toBe("ssh://git@example.com/acme/echo");
  const files = { known: "/x y/known", pinned: null };
  const command = settingOf(sshSettings(endpoint, ["1.2.3.4"], files), "core.sshCommand") ?? "";
  expect(command).toMatch(/^ssh -F \/dev\/null -o BatchMode=yes -o IdentitiesOnly=yes /);
  for (const option of ["HostName=1.2.3.4", "HostKeyAlias=example.com", "ProxyCommand=none", "ForwardAgent=no"])
    expect(command).toContain(` -o ${option}`);
  // As parsed by OpenSSH itself.
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command} -G example.com`]);
  const understood = ["hostname 1.2.3.4", "identitiesonly yes", "identityagent ssh/agent", "identityfile ssh/key.pub"];
  expect(stdout.split("\n")).toEqual(
    expect.arrayContaining([...understood, "userknownhostsfile /x y/known", "globalknownhostsfile /dev/null"]),
  );
});

test("SRC-2 invalid names of branches are left out of a host's list", () => {
  const sha = "a".repeat(40);
  const names = ["main", "-x", "a..b", "with space", "..", "ok/name"];
  const text = [
    `ref: refs/heads/main\tHEAD`,
    `${sha}\tHEAD`,
    ...names.map((name) => `${sha}\trefs/heads/${name}`),
  ].join("\n");
  const { defaultBranch, branches } = parseRefs(text);
  expect([defaultBranch, [...branches.keys()]]).toEqual(["main", ["main", "ok/name"]]);
});

test("SRC-2 a git that can't be held to addresses is refused with what to do", () => {
  expect([versionProblem("git version 2.39.5\n"), versionProblem("git version 3.0\n")]).toEqual([null, null]);
  expect(versionProblem("git version 2.34.1")).toMatch(/Git 2\.37 or newer is needed/);
});
