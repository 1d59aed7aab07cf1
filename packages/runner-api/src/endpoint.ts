import { z } from "zod";

/** Where something listens: a unix socket of this host, or a network address. */
const endpointSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("unix"), path: z.string().startsWith("/") }),
  z.object({ kind: z.literal("tcp"), host: z.string().min(1), port: z.number().int().min(1).max(65_535) }),
]);
export type Endpoint = z.infer<typeof endpointSchema>;

/**
 * Where a server listens, with the secret of its instance. Requests without it get 401; it goes to nobody but the
 * platform's processes, and to no disk unsealed.
 */
export const serverEndpointSchema = endpointSchema.and(z.object({ secret: z.string().min(1) }));
export type ServerEndpoint = z.infer<typeof serverEndpointSchema>;

/** Carries the secret. The harness takes it off before the server's code sees the request. */
export const secretHeader = "towpath-secret";

/**
 * Whether an answer is the harness's own refusal (`access.py`): another instance listens there now, which has another
 * secret. Headers are in lower case.
 */
export function isOtherInstance(status: number, headers: Readonly<Record<string, unknown>>): boolean {
  return status === 401 && headers["www-authenticate"] === "Towpath";
}

/**
 * Where the runner listens. Its unix socket is accessible only to the platform's user, and needs no secret. Over the
 * network each call sends the first of `secrets`, and the runner accepts any of them, so that they can be rotated.
 */
export type RunnerAddress =
  | Extract<Endpoint, { kind: "unix" }>
  | (Extract<Endpoint, { kind: "tcp" }> & { readonly secrets: readonly [string, ...string[]] });

/** Arguments for undici to connect there: `new Pool(origin, { ...options })`. */
export function dialTarget(endpoint: Endpoint): {
  readonly origin: string;
  readonly options: { readonly socketPath?: string };
} {
  if (endpoint.kind === "unix") return { origin: "http://localhost", options: { socketPath: endpoint.path } };
  return { origin: `http://${authority(endpoint)}`, options: {} };
}

/** A unique text for each endpoint. */
export function endpointKey(endpoint: Endpoint): string {
  return endpoint.kind === "unix" ? `unix:${endpoint.path}` : `tcp:${authority(endpoint)}`;
}

function authority({ host, port }: Extract<Endpoint, { kind: "tcp" }>): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether the server's queue of new connections is full: nothing was sent to it. */
export function isBacklogFull(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EAGAIN";
}

const undiciDialCodes: ReadonlySet<string> = new Set([
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether no connection was made, so that the server can't have received anything of the request. */
export function isDialFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A host name with several addresses: each was tried.
  if (error instanceof AggregateError) return error.errors.every(isDialFailure);
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  // Errors of connect(2) and the resolver happen before the first byte is sent.
  return undiciDialCodes.has(code) || syscall === "connect" || syscall === "getaddrinfo";
}
