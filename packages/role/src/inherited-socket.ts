import { z } from "zod";

/** The first descriptor that a supervisor hands on (sd_listen_fds(3)). */
const firstDescriptor = 3;

/**
 * Settings of a process whose supervisor may hold its listening socket, by the contract of systemd's socket activation.
 * LISTEN_PID keeps it from a child that inherits the environment; our own supervisor, which can't know the process id
 * before it starts the process, leaves it out.
 */
export const inheritedSocketSettings = {
  LISTEN_FDS: z.literal("1", { error: "must be 1: the process serves one socket" }).optional(),
  LISTEN_PID: z.string().optional(),
};

type Settings = { readonly LISTEN_FDS?: "1" | undefined; readonly LISTEN_PID?: string | undefined };

/** Where a server listens: the socket that the supervisor holds, by its descriptor, or one of its own. */
export type ListenAddress = { readonly fd: number } | { readonly host: string; readonly port: number };

export function listenAddressFrom(
  { LISTEN_FDS, LISTEN_PID }: Settings,
  own: { readonly host: string; readonly port: number },
  pid: number = process.pid,
): ListenAddress {
  const isInherited = LISTEN_FDS !== undefined && (LISTEN_PID === undefined || LISTEN_PID === String(pid));
  return isInherited ? { fd: firstDescriptor } : own;
}
