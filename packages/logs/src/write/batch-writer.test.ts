import { expect, test, vi } from "vitest";
import { BatchWriter, type BatchWriterOptions } from "./batch-writer.ts";
import { FairBuffer } from "./fair-buffer.ts";

type Row = { tenant: string; number: number; isBad?: boolean };
const bounds = { tenantOf: (row: Row) => row.tenant, bytesOf: () => 10 };
const rowsOf = (tenant: string, count: number): Row[] =>
  Array.from({ length: count }, (_, number) => ({ tenant, number }));
const databaseError = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code });

function createWriter(write: (rows: readonly Row[]) => Promise<void>, options: Partial<BatchWriterOptions<Row>> = {}) {
  const seen = { settled: [] as Row[], evicted: [] as Row[], refused: [] as Row[], outages: 0, recoveries: 0 };
  const writer = new BatchWriter<Row>({
    ...bounds,
    maxRows: 100,
    maxBytes: 10_000,
    flushMs: 5,
    batchRows: 50,
    write,
    onSettled: (rows) => void seen.settled.push(...rows),
    onEvicted: (row) => void seen.evicted.push(row),
    onRefused: (row) => void seen.refused.push(row),
    onUnavailable: () => void seen.outages++,
    onRecovered: () => void seen.recoveries++,
    ...options,
  });
  return { writer, seen };
}

test("RUN-5 a full buffer drops the oldest rows of the tenant that holds most, and batches take from all in turn", () => {
  const buffer = new FairBuffer<Row>({ ...bounds, maxRows: 100, maxBytes: 10_000 });
  const quiet = rowsOf("quiet", 10);
  for (const row of quiet) buffer.push(row);
  const evicted = rowsOf("chatty", 1000).flatMap((row) => buffer.push(row));
  expect(evicted).toHaveLength(910);
  expect(evicted.every((row, at) => row.tenant === "chatty" && row.number === at)).toBe(true);
  const batch = buffer.take(20);
  expect(batch.filter((row) => row.tenant === "quiet")).toEqual(quiet);
  buffer.putBack(batch);
  const rest = buffer.take(100);
  expect(rest.filter((row) => row.tenant === "chatty").map((row) => row.number)).toEqual(
    Array.from({ length: 90 }, (_, at) => at + 910),
  );
  expect([buffer.size, buffer.bytes]).toEqual([0, 0]);
});

test("RUN-5 a tenant of few but large rows is the one that holds most", () => {
  const buffer = new FairBuffer<Row>({ ...bounds, bytesOf: (row) => row.number, maxRows: 100, maxBytes: 1000 });
  for (let at = 0; at < 20; at++) buffer.push({ tenant: "quiet", number: 1 });
  const evicted = [400, 400, 400].flatMap((number) => buffer.push({ tenant: "large", number }));
  expect(evicted).toEqual([{ tenant: "large", number: 400 }]);
});

test("GW-10 a backlog is written in larger batches, of large rows in smaller ones", async () => {
  for (const [bytes, sizes] of [
    [10, [5, 90]],
    [1024 * 1024, [5, ...Array.from({ length: 18 }, () => 5)]],
  ] as const) {
    const written: number[] = [];
    const first = Promise.withResolvers<void>();
    const { writer } = createWriter(
      async (rows) => {
        written.push(rows.length);
        if (written.length === 1) await first.promise;
      },
      { batchRows: 5, maxBatchRows: 1000, maxRows: 1000, maxBytes: Number.MAX_SAFE_INTEGER, bytesOf: () => bytes },
    );
    for (const row of rowsOf("t", 95)) writer.push(row);
    first.resolve();
    await vi.waitFor(() => expect(writer.size).toBe(0));
    expect(written).toEqual(sizes);
  }
});

test.each(["22021", "54000", "XX000", "42804"])(
  "RUN-5 rows that the database refuses with %s are put aside, and all others are written once",
  async (code) => {
    const written: number[] = [];
    const { writer, seen } = createWriter(async (rows) => {
      if (rows.some((row) => row.isBad)) throw databaseError(code);
      written.push(...rows.map((row) => row.number));
    });
    const rows = rowsOf("t", 40).map((row) => (row.number % 13 === 5 ? { ...row, isBad: true } : row));
    for (const row of rows) writer.push(row);
    await vi.waitFor(() => expect(writer.size).toBe(0));
    expect(seen.refused.map((row) => row.number)).toEqual([5, 18, 31]);
    expect(written).toEqual(rows.filter((row) => !row.isBad).map((row) => row.number));
    expect([seen.settled.length, seen.outages, seen.evicted.length]).toEqual([40, 0, 0]);
  },
);

test("RUN-5 bad rows at the head of every batch do not hold up the others for good", async () => {
  const written: number[] = [];
  const { writer, seen } = createWriter(async (rows) => {
    if (rows.some((row) => row.isBad)) throw databaseError("XX000");
    written.push(...rows.map((row) => row.number));
  });
  for (const row of rowsOf("t", 40)) writer.push(row.number < 6 ? { ...row, isBad: true } : row);
  await vi.waitFor(() => expect(writer.size).toBe(0), 10_000);
  expect(seen.refused.map((row) => row.number)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(written.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 34 }, (_, at) => at + 6));
});

test("RUN-5 a row that is refused alone is put aside once any other row has been written", async () => {
  const { writer, seen } = createWriter(async (rows) => {
    if (rows.some((row) => row.isBad)) throw databaseError("XX000");
  });
  const bad = { tenant: "t", number: 1, isBad: true };
  expect(await writer.writeNow([bad])).toBe("doubtful");
  const since = performance.now();
  expect(await writer.writeNow([bad], since)).toBe("doubtful");
  expect(await writer.writeNow(rowsOf("t", 1))).toBe("done");
  expect(seen.refused).toEqual([]);
  expect(await writer.writeNow([bad], since)).toBe("done");
  expect(seen.refused).toEqual([bad]);
});

test.each([1, 2, 3, 4, 5, 8])("GW-10 a failing table puts no row of a batch of %i aside", async (count) => {
  const { writer, seen } = createWriter(async (rows) => {
    if (rows.length > 0) throw databaseError("XX001");
  });
  expect(await writer.writeNow(rowsOf("t", count))).toBe("doubtful");
  expect([seen.refused, seen.settled]).toEqual([[], []]);
});

test("GW-10 a table that is missing and comes back in the middle of a batch costs no row", async () => {
  let calls = 0;
  const { writer, seen } = createWriter(async () => {
    calls++;
    if (calls <= 6) throw databaseError("42P01");
  });
  for (let attempt = 0; attempt < 7; attempt++) await writer.writeNow(rowsOf("t", 8));
  expect([seen.refused, seen.settled.length]).toEqual([[], 8]);
});

test("GW-10 a table that breaks after it was proven to work costs a few rows at most", async () => {
  let fails = false;
  const { writer, seen } = createWriter(async () => {
    if (fails) throw databaseError("XX001");
  });
  const since = performance.now();
  expect(await writer.writeNow(rowsOf("other", 1))).toBe("done");
  fails = true;
  expect(await writer.writeNow(rowsOf("t", 50), since)).toBe("doubtful");
  expect(seen.refused.length).toBeLessThan(5);
});

test("GW-10 a failing table puts no row aside: all are held and written once it works again", async () => {
  let fails = true;
  let calls = 0;
  const written: number[] = [];
  const { writer, seen } = createWriter(async (rows) => {
    calls++;
    if (fails) throw databaseError("XX001");
    written.push(...rows.map((row) => row.number));
  });
  for (const row of rowsOf("t", 60)) writer.push(row);
  await vi.waitFor(() => expect(seen.outages).toBe(1));
  expect([writer.size, seen.refused.length]).toEqual([60, 0]);
  expect(calls).toBeLessThan(25);
  fails = false;
  expect(await writer.close(5000)).toEqual([]);
  expect(written).toEqual(rowsOf("t", 60).map((row) => row.number));
  expect([seen.recoveries, seen.settled.length]).toEqual([1, 60]);
});

test("GW-10 rows that could not be written until the end are returned", async () => {
  const { writer } = createWriter(() => Promise.reject(new Error("connect ECONNREFUSED")));
  const rows = rowsOf("t", 10);
  for (const row of rows) writer.push(row);
  expect(await writer.close(1000)).toEqual(rows);
});
