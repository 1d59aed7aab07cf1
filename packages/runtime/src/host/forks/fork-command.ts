import { runtimeDirectory, serverHome } from "../../harness-command.ts";
import type { ForkSource, Mount, SandboxSpec } from "../engine.ts";
import { homeDirectories, type SandboxCommand, systemFiles } from "../sandbox/arguments.ts";
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
  const { limits, scratch = [], workingDirectory } = spec;
  const uid = fork.uid - fork.firstUid;
  const files = systemFiles({ uid, gid: uid }, "none", "");
  const isOfParent = (mount: Mount) =>
    parent.mounts.some(({ host, inside }) => host === mount.host && inside === mount.inside);
  const options = {
    socket,
    firstUid: fork.firstUid,
    users: forkUsers,
    uid,
    filter: encodedFilter(architecture),
    workingDirectory,
    runtimeDirectory,
    groups: fork.members,
    scratch: ["/dev/shm", "/tmp", serverHome, ...scratch].map((path) => [path, limits.tmpBytes]),
    directories: homeDirectories.map((path) => [path, 0o777]),
    files: ["/etc/passwd", "/etc/group"].map((path) => [path, files[path]]),
    mounts: spec.mounts.filter((mount) => !isOfParent(mount)),
  };
  return { file: python, argv: ["-I", "-S", `${forkPackage}/launch.py`], options: [JSON.stringify(options)], data: [] };
}
