import { expect, test } from "vitest";
import { prohibitPolicies, slirpArguments } from "./network.ts";

test("RUN-2 policies block every private range and the host, except for allowed ranges", () => {
  const lines = prohibitPolicies(["203.0.113.7"], ["10.0.0.0/8"], true).trim().split("\n");
  for (const closed of ["224.0.0.0/4", "169.254.0.0/16", "ff00::/8", "203.0.113.7/32"])
    expect(lines).toContain(`xfrm policy update dir out dst ${closed} action block priority 2`);
  const closing = lines.indexOf("xfrm policy update dir out dst 10.0.0.0/8 action block priority 2");
  const opening = lines.indexOf("xfrm policy update dir out dst 10.0.0.0/8 action allow priority 1");
  expect(closing).toBeGreaterThanOrEqual(0);
  expect(opening).toBeGreaterThan(closing);
  expect(prohibitPolicies([], [], false)).not.toContain("::");
});

test("RUN-2 slirp4netns joins the user namespace that owns the network, and confines itself", () => {
  const root = slirpArguments({ pid: 7, user: false });
  expect(root.slice(-3)).toEqual(["--netns-type=path", "/proc/7/ns/net", "tap0"]);
  const user = slirpArguments({ pid: 7, user: true });
  expect(user.slice(-2)).toEqual(["7", "tap0"]);
  for (const each of [root, user])
    expect(each).toEqual(
      expect.arrayContaining(["--disable-host-loopback", "--enable-sandbox", "--enable-seccomp", "--exit-fd=4"]),
    );
});
