import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { callServerFunction } from "./inspector.functions.ts";
import { type CallResult, canceledCode, type ServerCall } from "./inspector.schema.ts";

export type CallRecord = {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The item that was called: `tools:echo`. */
  readonly item: string;
  readonly call: ServerCall;
  readonly outcome: CallResult;
};

const maxRecords = 50;

/** The calls made on this page, newest first, with functions to make, cancel and reopen one. */
export function useCalls(project: ProjectKey, branchId: string | null) {
  const [records, setRecords] = useState<readonly CallRecord[]>([]);
  const [shownId, setShownId] = useState<number | null>(null);
  const count = useRef(0);
  const running = useRef<AbortController | null>(null);

  const mutation = useMutation({
    mutationFn: async ({ call, authorization }: { item: string; call: ServerCall; authorization: string | null }) => {
      running.current = new AbortController();
      const { signal } = running.current;
      try {
        return (await callServerFunction({
          data: { ...project, branchId, call, authorization },
          signal,
        })) as CallResult;
      } catch (error) {
        const message = signal.aborted ? "You canceled the call." : failureText(error);
        return { ok: false, code: signal.aborted ? canceledCode : "failed", rpcCode: null, message } as const;
      }
    },
    onSuccess: (outcome, { item, call }) => {
      count.current += 1;
      const record = { id: count.current, time: Date.now(), item, call, outcome };
      setRecords((before) => [record, ...before].slice(0, maxRecords));
      setShownId(record.id);
    },
  });

  return {
    records,
    run: mutation.mutate,
    runningItem: mutation.isPending ? (mutation.variables?.item ?? null) : null,
    cancel: () => running.current?.abort(),
    show: setShownId,
    /** The record just selected or made if it is of `item`, else the newest of `item`. */
    shownFor: (item: string): CallRecord | null =>
      records.find((record) => record.id === shownId && record.item === item) ??
      records.find((record) => record.item === item) ??
      null,
  };
}

export type Calls = ReturnType<typeof useCalls>;
