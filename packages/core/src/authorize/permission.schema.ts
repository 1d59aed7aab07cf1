import { type Role, roles } from "../context/index.ts";
import { type Permission, permissions, roleMay } from "./permission.policy.ts";

/** What each permission allows, as docs/roles.md and the members page say it. */
const permissionTexts: Readonly<Record<Permission, string>> = {
  "organization.read": "open the organization's pages",
  "organization.manage": "see the instance's state, change the organization's settings",
  "organization.delete": "delete the organization and everything in it",
  "instance.manage": "connect GitHub Apps to this instance, in the instance's own organization only",
  "member.read": "see the members and their roles",
  "member.manage": "invite people, change roles, remove members; only owners add, change or remove owners",
  "audit.read": "read and export the audit log",
  "installation.read": "list GitHub connections and their repositories",
  "installation.manage": "connect GitHub",
  "installation.disconnect": "disconnect a GitHub account",
  "project.read": "see servers, deployments, request logs and statistics",
  "project.create": "deploy a new server",
  "project.update": "change a server's settings",
  "project.delete": "delete a server",
  "repository.continue": "move a repository of this instance to a connected GitHub account",
  "build.read": "see builds, build logs and server logs",
  "build.start":
    "rebuild, cancel a build, deploy a commit, read and change the code, promote a preview, make an earlier deployment live, move a gradual release on or back",
  "build.approve": "approve or decline pull requests from forks, whose code is then built and run without variables",
  "deployment.approve":
    "decide whether deployments to production wait for an approval, approve or reject them; where owners approve, only owners do",
  "server.call": "call servers that have no access policy of their own, also from the inspector",
  "access.read": "see who may call a server, and which of its tools",
  "access.manage": "change who may call a server, and which of its tools",
  "limit.manage": "set how many calls a server takes, below the limits of the instance",
  "secret.read": "see the names of environment variables",
  "secret.manage": "set and delete environment variables",
  "secret.decrypt": "read the value of a variable that is not sensitive; each time is in the audit log",
  "apiKey.read": "list the organization's API keys, never the keys themselves",
  "apiKey.create": "create personal API keys, revoke one's own",
  "apiKey.manage": "create the organization's keys, revoke everyone's",
  "workload.read": "see which workloads may call with tokens of their issuer",
  "workload.manage": "let workloads call with tokens of their issuer, revoke that",
  "signInIssuer.read": "see whose identity assertions let members in",
  "signInIssuer.manage": "let members in by identity assertions of an identity provider, end that",
  "adminJwt.manage": "get a server's admin JWT, revoke all earlier ones",
  "alert.read": "see where alerts are sent, and how sending them went",
  "alert.manage": "choose where alerts are sent, and test that",
  "client.read": "see which clients are connected to a server, and how their sign-ins went",
  "client.network": "see the networks of clients that sign in",
  "client.disconnect": "disconnect clients",
};

/** Each permission with the roles that have it. */
export const roleMatrix: readonly {
  readonly permission: Permission;
  readonly text: string;
  readonly roles: readonly Role[];
}[] = permissions.map((permission) => ({
  permission,
  text: permissionTexts[permission],
  roles: roles.filter((role) => roleMay(role, permission)),
}));
