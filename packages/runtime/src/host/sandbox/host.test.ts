import { expect, test } from "vitest";
import { whyNoNamespaces } from "./host.ts";

test("RUN-1 a kernel that forbids namespaces to ordinary users is reported with the responsible switch", () => {
  const kernel = (values: Record<string, string>) => whyNoNamespaces((name) => values[name] ?? null);
  expect(kernel({ "user.max_user_namespaces": "96310", "kernel.unprivileged_userns_clone": "1" })).toBe("");
  expect(kernel({})).toBe("");
  expect(kernel({ "kernel.unprivileged_userns_clone": "0" })).toBe(
    "The kernel forbids ordinary users to create namespaces: kernel.unprivileged_userns_clone is 0. " +
      "As root: sysctl kernel.unprivileged_userns_clone=1.",
  );
  expect(kernel({ "kernel.apparmor_restrict_unprivileged_userns": "1", "user.max_user_namespaces": "0" })).toMatch(
    /max_user_namespaces is 0 and kernel.apparmor_restrict_unprivileged_userns is 1/,
  );
});
