import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { LateConnection } from "../connection/late-connection.ts";
import type { ServerCall } from "../server-call.ts";
import { type CallRecord, ended, maxRecords, newRecord, type Reply, withLog, withReply } from "./call-record.ts";
import { hasKeptCalls, type Place } from "./kept-keys.ts";

const loadKept = () => import("./kept-calls.ts");

type Where = {
  readonly projectKey: ProjectKey;
  readonly branchId: string | null;
  /** The live deployment; the page reconnects when it changes. */
  readonly deploymentId: string | null;
  readonly place: Place;
  /** The schema of a call's arguments, which marks those with secrets. */
  readonly schemaOf: (call: Pick<CallRecord, "item">) => unknown;
};

/** The calls of a server, newest first, with functions to make, cancel, answer and reopen one. */
export function useCalls(where: Where) {
  const authorization = useRef("");
  const connection = useConnection(where, authorization);
  const { records, setRecords, isLoaded, restored } = useKeptRecords(where);
  const [shownId, setShownId] = useState<string | null>(null);
  const [running, setRunning] = useState<{ readonly id: string; readonly cancel: () => void } | null>(null);
  const waiting = useRef(new Map<string, (reply: Reply | null) => void>());

  const change = useCallback(
    (id: string, next: (record: CallRecord) => CallRecord) =>
      setRecords((before) => before.map((each) => (each.id === id ? next(each) : each))),
    [setRecords],
  );

  const run = async (item: string, call: ServerCall) => {
    if (running) return;
    // For its end.
    loadKept().catch(() => {});
    const record = newRecord({ id: crypto.randomUUID(), time: Date.now(), item, call, hidden: [] });
    const { id } = record;
    const canceled = new AbortController();
    setRecords((before) => [record, ...before].slice(0, maxRecords));
    setShownId(id);
    setRunning({ id, cancel: () => canceled.abort() });
    const ask = (asked: Omit<CallRecord["asked"][number], "id" | "answer">) =>
      new Promise<Reply | null>((resolve) => {
        const entry = { ...asked, id: crypto.randomUUID(), answer: null } as CallRecord["asked"][number];
        waiting.current.set(entry.id, resolve);
        change(id, (before) => ({ ...before, asked: [...before.asked, entry] }));
      });
    const outcome = await connection.perform(
      call,
      {
        onProgress: (progress) => change(id, (before) => ({ ...before, progress })),
        onLog: (message) => change(id, (before) => withLog(before, message, Date.now())),
        onRequest: (requestId) => change(id, (before) => ({ ...before, requestId })),
        onElicit: async (asked) => {
          const reply = await ask({ kind: "form", asked });
          return reply?.kind === "form" ? reply.answer : { action: "cancel", content: null };
        },
        onSample: async (asked) => {
          const reply = await ask({ kind: "model", asked });
          return reply?.kind === "model" ? reply.answer : null;
        },
      },
      canceled.signal,
    );
    for (const resolve of waiting.current.values()) resolve(null);
    waiting.current.clear();
    change(id, (before) => ended(before, outcome));
    setRunning(null);
  };

  const reply = (record: CallRecord, id: string, answer: Reply) => {
    waiting.current.get(id)?.(answer);
    waiting.current.delete(id);
    change(record.id, (before) => withReply(before, id, answer));
  };

  return {
    connection,
    authorization,
    records,
    /** Whether the calls of earlier visits are among them. */
    isLoaded,
    /** Items with calls of an earlier visit. */
    restored,
    run: (item: string, call: ServerCall) => void run(item, call),
    reply,
    isRunning: running !== null,
    cancel: () => running?.cancel(),
    clear: () => setRecords((before) => before.filter(({ id }) => id === running?.id)),
    show: setShownId,
    /** The selected or newest record if it is of `item`, else the newest of `item`. */
    shownFor: (item: string): CallRecord | null =>
      records.find((record) => record.id === shownId && record.item === item) ??
      records.find((record) => record.item === item) ??
      null,
  };
}

export type Calls = ReturnType<typeof useCalls>;

function useConnection({ projectKey, branchId, deploymentId }: Where, authorization: { readonly current: string }) {
  const { orgSlug, projectName } = projectKey;
  const connection = useMemo(
    () =>
      new LateConnection({
        projectKey: { orgSlug, projectName },
        branchId,
        authorization: () => authorization.current || null,
      }),
    [orgSlug, projectName, branchId, authorization],
  );
  useEffect(() => () => void connection.close(), [connection]);
  const seen = useRef(deploymentId);
  useEffect(() => {
    if (seen.current === deploymentId) return;
    seen.current = deploymentId;
    connection.closeWhenIdle();
  }, [connection, deploymentId]);
  return connection;
}

/** The connection's state and messages, as they change. */
export const useConnectionState = (connection: LateConnection) =>
  useSyncExternalStore(connection.subscribe, connection.state, connection.state);

/** Loads calls of an earlier visit once the page's script runs: only the browser has them. */
function useKeptRecords({ place: { userId, projectId }, schemaOf }: Where) {
  const [records, setRecords] = useState<readonly CallRecord[] | null>(null);
  const latestSchemaOf = useRef(schemaOf);
  latestSchemaOf.current = schemaOf;
  const [restored, setRestored] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    let isCurrent = true;
    const show = (found: readonly CallRecord[]) => {
      if (!isCurrent) return;
      setRecords(found);
      setRestored(new Set(found.map(({ item }) => item)));
    };
    if (hasKeptCalls(localStorage))
      loadKept().then(
        ({ readCalls }) => show(readCalls(localStorage, { userId, projectId }, Date.now())),
        () => show([]),
      );
    else show([]);
    return () => {
      isCurrent = false;
    };
  }, [userId, projectId]);
  // Progress and log messages change a record often; only calls that have ended are kept.
  const done = records?.filter(({ outcome }) => outcome !== null);
  const latestDone = useRef(done);
  latestDone.current = done;
  const doneIds = done?.map(({ id }) => id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `doneIds` says when to write
  useEffect(() => {
    const ended = latestDone.current;
    if (!ended || (ended.length === 0 && !hasKeptCalls(localStorage))) return;
    loadKept().then(
      ({ keepCalls }) => keepCalls(localStorage, { userId, projectId }, ended, latestSchemaOf.current),
      () => {},
    );
  }, [doneIds, userId, projectId]);
  const change = useCallback(
    (next: (before: readonly CallRecord[]) => readonly CallRecord[]) => setRecords((before) => next(before ?? [])),
    [],
  );
  return { records: records ?? [], setRecords: change, isLoaded: records !== null, restored };
}
