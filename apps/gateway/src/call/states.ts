import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import type { AnswerPeek, PeekHints, RequestPeek } from "@towpath/mcp/peek";
import type { ServerKey } from "@towpath/runner-api";
import type { TraceContext } from "@towpath/telemetry";
import type { Site } from "../forward/cookies.ts";
import { headerOf } from "../forward/headers.ts";
import type { RequestLimits } from "../limits/limits.ts";
import type { Principal } from "../policy/credentials.ts";
import type { OpenedSession, SessionOwner } from "../policy/sessions.ts";
import { deploymentOf, type Route } from "../read-model/routes.ts";
import type { Destination } from "../route/server-address.ts";
import type { ChangeAnswer } from "../tasks/offers.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { Answer } from "./answer.ts";

// The states of a call, in order: Call (its head has arrived) → RoutedCall (its server exists) → Identified (its caller
// is known) → Read (its body has arrived) → Admitted (it may go to its server). Received is what the log needs of the
// first two.

/** The head of a request: from a client, or from a portal to one of its servers. Names in `headers` are lower case. */
export type RequestHead = {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
};

/** Where an answer goes: a client's connection, or a portal. */
export interface CallResponse extends Writable {
  readonly headersSent: boolean;
  writeHead(status: number, headers: string[]): unknown;
  flushHeaders(): void;
}

/** A portal that calls one of its servers. `answer`: its own to its client; null when that has ended. */
type CallingPortal = { readonly name: string; readonly principal: Principal; readonly answer: Answer | null };

type Target = Extract<Destination, { kind: "server" }>;

/** A request for a server, and where its answer goes. */
export type Call = {
  /** The id of the request for clients, servers and the log. */
  readonly id: string;
  /** Date.now() on arrival, which is also part of the id. */
  readonly time: number;
  readonly request: RequestHead;
  /** A client's body is still to be read; a portal's is complete. */
  readonly body: IncomingMessage | Buffer;
  readonly response: CallResponse;
  /** The client's address for limits and logs. */
  readonly address: string;
  readonly target: Target;
  /** Undefined for an unknown name, which must look like a private server to strangers. */
  readonly route: Route | undefined;
  /** Null: a client sent it, which is still to be authenticated. */
  readonly portal: CallingPortal | null;
};

/** A request for a server that exists. */
export type RoutedCall = Call & { readonly route: Route };
export const isRouted = (call: Call): call is RoutedCall => call.route !== undefined;

/** What the log keeps of the head of a request for a known server. */
export type Received = {
  readonly id: string;
  readonly time: number;
  /** performance.now() on arrival. */
  readonly startedAt: number;
  readonly route: Route;
  /** The name of the portal that it came through; null: its client sent it here. */
  readonly via: string | null;
  /** Whether it is for the MCP endpoint: the server's other pages get no rows. */
  readonly isMcp: boolean;
  readonly method: string;
  /** What its headers say, for where its body does not, or was not read. */
  readonly hints: PeekHints;
  readonly userAgent: string | undefined;
  readonly traceparent: string | undefined;
  /** Its span; null if it is not traced. */
  readonly trace: TraceContext | null;
  readonly answer: Answer;
};

export type Identified = {
  readonly call: RoutedCall;
  readonly received: Received;
  readonly principal: Principal;
  /** The limits that apply to it. */
  readonly limits: RequestLimits;
};

export type Read = Identified & {
  readonly body: Buffer;
  readonly bodyBytes: number;
  /** From head and body. */
  readonly peek: RequestPeek;
};

/** Results of other requests of its legacy session. Written by PendingCalls. */
export type SessionCall = OpenedSession & {
  /** Ids of its requests that the client canceled with `notifications/cancelled`; null: none. */
  canceled: Set<string | number> | null;
  /** Forwards a cancellation, for a portal's call; null: the client's message reaches the server by itself. */
  onCanceled: (() => void) | null;
  /** For a request with Last-Event-ID: the calls of the session that still wait for an answer. */
  resumes: readonly HeldCall[] | null;
  /** The answer, if it came on another stream than the call's own. */
  resumedAnswer: AnswerPeek | null;
};

/** A call that may be asked for again (CAP-2): it can go on without its client. */
export interface Keeping {
  /** Whether it runs without its client now: that has disconnected, or has a task in its place. */
  readonly isUnattended: boolean;
  /** Whether it does, now that the client has disconnected. `abort` ends it all the same. */
  goesOn(abort: () => void): boolean;
  /** A piece of the answer's body. */
  push(piece: Buffer): void;
  /** Cancels it at its server, where closing the connection doesn't; null: the client's own message does. Set by portals. */
  cancelAtServer: (() => Promise<unknown>) | null;
}

/** A request that passed all policies, and how to forward it. */
export type Admitted = Read & {
  readonly owner: SessionOwner;
  /** `id`: as the client knows it. */
  readonly session: (SessionCall & { readonly id: string }) | null;
  /** The deployment that serves it, of an earlier rollout if its session belongs to that; null: the target is none. */
  readonly deploymentId: string | null;
  /**
   * Its server at the runner: its deployment's, or the caller's own instance of that (CAP-1). Null: the target is no
   * deployment, or callers need values of their own and this one is no person.
   */
  readonly server: ServerKey | null;
  readonly site: Site;
  readonly headers: string[];
  /** The tools that a list in the answer may name; null: all. */
  readonly listedTools: readonly string[] | null;
  /** What is changed in the answer to offer tasks; null: nothing. */
  readonly change: ChangeAnswer | null;
  /** Null: it ends with its client. Written by KeptCalls. */
  kept: Keeping | null;
};

/** What remains of a call whose answer may still arrive on another stream: neither request nor connection. */
export type HeldCall = Pick<Admitted, "received" | "principal" | "bodyBytes" | "peek" | "deploymentId"> & {
  readonly body: Buffer | null;
  readonly session: SessionCall | null;
};

/** A call as its log rows need it: a refused one lacks the later parts. */
export type Logged = Pick<HeldCall, "received"> & Partial<HeldCall>;

function hintsOf(request: RequestHead): PeekHints {
  return {
    protocolVersion: headerOf(request, "mcp-protocol-version"),
    method: headerOf(request, "mcp-method"),
    name: headerOf(request, "mcp-name"),
  };
}

/** `tracer`: null: requests are not traced. */
export function receive(
  { id, time, request, target, route, portal }: RoutedCall,
  tracer: Pick<Tracer, "begin"> | null,
): Received {
  const traceparent = headerOf(request, "traceparent");
  return {
    id,
    time,
    startedAt: performance.now(),
    route,
    via: portal?.name ?? null,
    isMcp: target.isMcp,
    method: request.method ?? "GET",
    hints: hintsOf(request),
    userAgent: headerOf(request, "user-agent"),
    traceparent,
    trace: target.isMcp && tracer ? tracer.begin(traceparent) : null,
    answer: new Answer(portal?.answer ?? null),
  };
}

export const inSession = <Opened extends OpenedSession>(opened: Opened): Opened & SessionCall => ({
  ...opened,
  canceled: null,
  onCanceled: null,
  resumes: null,
  resumedAnswer: null,
});

/** The deployment that a call is for, as far as known. */
export const deploymentFor = ({ deploymentId, received }: Logged): string | null =>
  deploymentId === undefined ? deploymentOf(received.route) : deploymentId;
