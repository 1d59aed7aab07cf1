import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../policy/credentials.ts";
import type { SessionClaim, SessionOwner } from "../policy/sessions.ts";
import type { Exchange } from "../record/exchange.ts";
import type { Site } from "./cookies.ts";

/** A request that passed all checks, and what it is to be forwarded with. */
export type AdmittedRequest = {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  /** Where the same document is read when the server has nothing at `path`. */
  otherPath: string | null;
  site: Site;
  headers: string[];
  body: Buffer;
  /** The only tools that a list in the answer may name; null where the answer passes unread. */
  listedTools: readonly string[] | null;
  exchange: Exchange;
  owner: SessionOwner;
  principal: Principal;
  session: SessionClaim | null;
  /** Sends the end of the answer once all of it has come. */
  sendEnd: (() => void) | null;
};
