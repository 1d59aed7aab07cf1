import type { AssertIdentity } from "../forward/assertions.ts";
import { forwardToTarget, type TargetParts } from "../forward/to-target.ts";
import { credentialsEnded, type GatewayError, type RpcId } from "../gateway-error.ts";
import type { FairTurns } from "../limits/fair-turns.ts";
import { readBody } from "../policy/body.ts";
import type { Capacity } from "../policy/capacity.ts";
import { applyPolicies } from "../policy/policy.ts";
import { answersAsleep } from "../read-model/routes.ts";
import { countEnded, isLogged, recordRefused } from "../record/record-refused.ts";
import type { RefusalLimit } from "../record/refusal-limit.ts";
import type { Sleeping } from "../sleeping/sleeping.ts";
import type { Tasks } from "../tasks/tasks.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { type AdmissionParts, admit, authenticate, identify, policies, read } from "./admission.ts";
import type { Rest } from "./answer.ts";
import { type RefusalParts, refusalFor, refuse } from "./refuse.ts";
import { type Admitted, type CallResponse, type Logged, type RoutedCall, receive } from "./states.ts";

export type CallParts = AdmissionParts &
  TargetParts &
  RefusalParts & {
    allowedOrigins: readonly string[];
    fairTurns: FairTurns;
    capacity: Capacity;
    assertIdentity: AssertIdentity;
    refusalLimit: RefusalLimit;
    sleeping: Sleeping;
    tasks: Pick<Tasks, "run">;
    /** Null: requests are not traced. */
    tracer: Tracer | null;
  };

/** Calls a server for a client or a portal: policy → forward → record, in this order, for every call. */
export async function callServer(parts: CallParts, call: RoutedCall): Promise<void> {
  const received = receive(call, parts.tracer);
  const { route, answer } = received;
  const { response } = call;
  let logged: Logged = { received };
  let admitted: Admitted | null = null;
  let forwarded: { rest: Rest; isAwaited: boolean } = { rest: "over", isAwaited: false };
  try {
    // Policy: may this caller reach it, and may the request be forwarded?
    if (applyPolicies(policies.onArrival, parts, call) === "answered") return;
    const caller = call.portal ? call.portal.principal : authenticate(parts, call);
    const principal = caller instanceof Promise ? await caller : caller;
    const identified = identify(parts, received, { call, principal });
    logged = identified;
    if (applyPolicies(policies.onceIdentified, parts, identified) === "answered") return;
    await parts.fairTurns.take(route.organizationId, identified.limits.openOfOrganization);
    const reading = readBody(call.body, parts.capacity.admit(route.projectId, call.response));
    const body = reading instanceof Promise ? await reading : reading;
    // The client disconnected.
    if (body === null) return;
    const whole = read(identified, body);
    logged = whole;
    if (applyPolicies(policies.onceRead, parts, whole) === "answered") return;
    const assertion = parts.assertIdentity(route, principal);
    const ready = admit(parts, whole, assertion instanceof Promise ? await assertion : assertion);
    logged = ready;
    admitted = ready;
    // Forward: to a running instance; bytes and closes pass in both directions.
    forwarded = await parts.pendingCalls.track(ready, () =>
      parts.tasks.run(ready, (each) => forward(parts, each, response)),
    );
  } catch (error) {
    const refusal = refusalFor(parts, error, call.id);
    answer.refuse(refusal);
    answer.bytes = await refuse(parts, call, { refusal, rpcId: answeredIds(logged, refusal) });
  }
  // Record: one row for each JSON-RPC message, on disk before the client has its answer.
  answer.endedAt ??= performance.now();
  // After the answer, which must not take longer for a server that exists.
  if (!admitted) return void setImmediate(recordRefused, parts, logged, call);
  if (isLogged(received) && !forwarded.isAwaited) parts.recorder.record(admitted);
  if (forwarded.rest !== "over") parts.recorder.onPersisted(forwarded.rest);
  countEnded(parts.metrics, received);
}

/** `client`: the response to the client itself, which a task has none of any more. */
async function forward(parts: CallParts, admitted: Admitted, client: CallResponse): Promise<Rest> {
  const { call, received, session } = admitted;
  // A sleeping server need not wake for handshakes and lists (GW-12).
  const isOpenedAsleep = session !== null && session.session.opening !== null && session.session.deploymentId !== null;
  const asleep =
    isOpenedAsleep || answersAsleep(call.route, admitted.deploymentId) ? await parts.sleeping.answer(admitted) : null;
  if (asleep !== null) return asleep;
  const rest = await forwardToTarget(parts, admitted);
  if (parts.openResponses.wasRevoked(client)) received.answer.refusal ??= credentialsEnded();
  return rest;
}

/** A batch gets a batch as its answer, unless it was refused as an HTTP request. */
function answeredIds({ received, peek }: Logged, { status }: GatewayError): RpcId | readonly RpcId[] | undefined {
  if (peek === undefined || !isLogged(received)) return undefined;
  if (peek.kind !== "batch" || status !== 200) return peek.id;
  return peek.messages.flatMap(({ kind, id }) => (kind === "request" ? [id] : []));
}
