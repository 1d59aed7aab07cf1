import type { ProtectionName } from "@towpath/core/operations/host-isolation";

type Words = {
  readonly title: string;
  /** Its guarantee. */
  readonly promise: string;
  /** For a list of missing protections. */
  readonly short: string;
};

export const protectionWords: Readonly<Record<ProtectionName, Words>> = {
  filesystem: {
    title: "Files",
    promise: "A server sees its own code and nothing else on this host.",
    short: "file isolation",
  },
  users: {
    title: "Users",
    promise: "It runs as an unprivileged user and sees no other processes.",
    short: "user isolation",
  },
  network: {
    title: "Network",
    promise: "It can reach the internet, but not this host, private networks or cloud metadata.",
    short: "a network of their own",
  },
  memory: { title: "Memory", promise: "All its processes share one limit.", short: "a memory limit" },
  cpu: { title: "CPU", promise: "It gets no more than its limit.", short: "a CPU limit" },
  processes: {
    title: "Processes",
    promise: "The number of its processes and threads is limited.",
    short: "a process limit",
  },
  disk: { title: "Disk", promise: "Its temporary files have a limit.", short: "a disk limit" },
  data: {
    title: "Lasting data",
    promise: "What a server keeps in /data has a quota.",
    short: "a quota on lasting data",
  },
  "system-calls": {
    title: "System calls",
    promise: "Calls used in kernel attacks are blocked.",
    short: "a system call filter",
  },
};
