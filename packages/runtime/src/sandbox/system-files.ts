import type { NetworkPlan } from "./arguments.ts";

/** The user's folder in every sandbox: private, in memory, gone with the sandbox. */
export const sandboxHome = "/home/towpath";
const sandboxUserName = "towpath";

/** slirp4netns answers DNS at this address and asks the host's resolver. */
const slirpNameserver = "10.0.2.3";

/** The files below /etc that we write ourselves, so that nothing about the host or its users is revealed. */
export function systemFiles(
  identity: { readonly uid: number; readonly gid: number },
  network: NetworkPlan,
  hostResolver: string,
): Readonly<Record<string, string>> {
  const { uid, gid } = identity;
  const resolver = {
    none: "",
    slirp: `nameserver ${slirpNameserver}\noptions timeout:5 attempts:2\n`,
    host: hostResolver,
  }[typeof network === "object" ? "slirp" : network];
  return {
    "/etc/passwd": `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n${sandboxUserName}:x:${uid}:${gid}::${sandboxHome}:/bin/sh\n`,
    "/etc/group": `root:x:0:\n${sandboxUserName}:x:${gid}:\n`,
    "/etc/hosts": "127.0.0.1 localhost towpath\n::1 localhost ip6-localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "/etc/resolv.conf": resolver,
  };
}
