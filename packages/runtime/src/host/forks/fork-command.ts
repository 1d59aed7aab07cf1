import { runtimeDirectory, serverHome } from "../../harness-command.ts";
import type { ForkSource, Mount, SandboxSpec } from "../engine.ts";
import { checkSpec, homeDirectories, type SandboxCommand, systemFiles } from "../sandbox/arguments.ts";
import { encodedFilter, forkPackage, forkUsers } from "./enter-users.ts";

/**
 * Starts a fork, in place of bubblewrap (python/towpath_fork/launch.py). Pure.
 *
 * @param fork.firstUid the first user of its parent's namespace, on the host
 * @param fork.uid its own
 * @param fork.members files of its control groups
 */
export function forkCommand(
  spec: SandboxSpec,
  { socket, python, parent }: ForkSource,
  architecture: string,
  fork: { readonly firstUid: number; readonly uid: number; readonly members: readonly string[] },
): SandboxCommand {
  checkSpec(spec);
  const { limits, scratch = [], workingDirectory } = spec;
  const uid = fork.uid - fork.firstUid;
  const files = systemFiles({ uid, gid: uid }, "none", "");
  const isOfParent = (mount: Mount) =>
    parent.mounts.some(({ host, inside }) => host === mount.host && inside === mount.inside);
  const options = [
    ["socket", socket],
    ["users", fork.firstUid, forkUsers],
    ["uid", uid],
    ["filter", encodedFilter(architecture)],
    ["directory", workingDirectory],
    ["place", runtimeDirectory],
    ...fork.members.map((path) => ["group", path]),
    ...["/dev/shm", "/tmp", serverHome, ...scratch].map((path) => ["scratch", path, limits.tmpBytes]),
    ...homeDirectories.map((path) => ["open", path]),
    ...["/etc/passwd", "/etc/group"].map((path) => ["file", path, files[path] ?? ""]),
    ...spec.mounts
      .filter((mount) => !isOfParent(mount))
      .map(({ host, inside, writable }) => ["mount", host, inside, writable ? "rw" : "ro"]),
  ];
  return {
    file: python,
    argv: ["-I", "-S", `${forkPackage}/launch.py`],
    options: options.flat().map(String),
    data: [],
  };
}
