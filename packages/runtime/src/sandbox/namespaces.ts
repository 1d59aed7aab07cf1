import { readFileSync } from "node:fs";

/** Switches of the kernel that keep ordinary users from making namespaces, and the value with which they do. */
const switches = [
  { name: "user.max_user_namespaces", forbids: "0", allow: "15000" },
  { name: "user.max_net_namespaces", forbids: "0", allow: "15000" },
  { name: "kernel.unprivileged_userns_clone", forbids: "0", allow: "1" },
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: "1", allow: "0" },
] as const;

function readSwitch(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
  } catch {
    return null;
  }
}

/** Why an ordinary user cannot make namespaces here and what the administrator can do; "" when no switch forbids it. */
export function whyNoNamespaces(read: (name: string) => string | null = readSwitch): string {
  const forbidding = switches.filter(({ name, forbids }) => read(name) === forbids);
  if (forbidding.length === 0) return "";
  const found = forbidding.map(({ name, forbids }) => `${name} is ${forbids}`).join(" and ");
  const remedy = forbidding.map(({ name, allow }) => `sysctl ${name}=${allow}`).join(" and ");
  return `The kernel forbids ordinary users to make namespaces: ${found}. As root: ${remedy}.`;
}
