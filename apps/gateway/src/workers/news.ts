import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { OtherGateways } from "./other-gateways.ts";
import type { Peers } from "./peers.ts";

/** What a process has let in for one caller, server or organization: its name, and milliseconds of its bucket. */
const takenSchema = z.array(z.tuple([z.string().max(300), z.number().min(0)]));
export type Taken = z.infer<typeof takenSchema>[number];

/** Identifies a legacy session in the log; not a usable session id. */
const session = z.string();

/** What all processes of all gateways must know. */
export const newsSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("taken"), taken: takenSchema }),
  /** A client has canceled a call that may be under way elsewhere. */
  z.object({
    kind: z.literal("canceled"),
    principal: z.string(),
    session,
    requestId: z.union([z.string(), z.number()]),
  }),
  /** A session that was opened while its server was asleep goes to the server, or is held by this instance. */
  z.object({ kind: z.literal("opened"), session, instanceId: z.string().nullable() }),
  /** The client of a portal session has set the level of log messages, or (null) ended the session. */
  z.object({ kind: z.literal("portal-session"), session, level: z.string().nullable() }),
]);
export type News = z.infer<typeof newsSchema>;

/** Resolves once the others have received it, or after two seconds. */
export type Announce = (news: News) => Promise<unknown>;

const giveUpMs = 2000;

export const createAnnounce =
  (peers: Peers, gateways: OtherGateways): Announce =>
  async (news) => {
    const all: Promise<unknown>[] = [];
    if (peers.count > 0) all.push(peers.ask({ kind: "news", news }));
    if (gateways.count > 0) all.push(gateways.announce(news));
    if (all.length > 0) await Promise.race([Promise.all(all), sleep(giveUpMs, undefined, { ref: false })]);
  };
