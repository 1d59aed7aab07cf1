import type { ProtectionName } from "@towpath/core/host-isolation";

type Words = {
  readonly title: string;
  /** What holds when it is in force. */
  readonly promise: string;
  /** In a list of what is missing. */
  readonly short: string;
};

export const protectionWords: Readonly<Record<ProtectionName, Words>> = {
  filesystem: {
    title: "Files",
    promise: "A server sees its own code and nothing else of this host.",
    short: "separate files",
  },
  users: {
    title: "Users",
    promise: "It runs as a user without rights and sees no other process.",
    short: "separate users",
  },
  network: {
    title: "Network",
    promise: "It reaches the internet, but neither this host, private ranges nor cloud metadata.",
    short: "a network of their own",
  },
  memory: { title: "Memory", promise: "All its processes share one limit.", short: "a memory limit" },
  cpu: { title: "CPU", promise: "It gets no more than its share.", short: "a CPU limit" },
  processes: { title: "Processes", promise: "Processes and threads are counted.", short: "a process limit" },
  disk: { title: "Disk", promise: "Its temporary files have a limit.", short: "a disk limit" },
  "system-calls": {
    title: "System calls",
    promise: "Those that attacks on the kernel begin with are refused.",
    short: "a system call filter",
  },
};
