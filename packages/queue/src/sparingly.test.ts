import { expect, test } from "vitest";
import { sparingly } from "./sparingly.ts";

test("OPS-3 while the database is unreachable, problems of all queues are one line in ten seconds", () => {
  const reported: unknown[] = [];
  let time = 0;
  const report = sparingly(
    (problem) => reported.push(problem),
    () => time,
  );
  const refused = (queue: string) => new Error(`connect ECONNREFUSED (Queue: ${queue}, Worker: ${time})`);
  const first = refused("build.run");
  for (const problem of [first, refused("mail.send"), refused("build.run")]) report(problem);
  expect(reported).toEqual([first]);
  const slow = { message: "slow query" };
  report(slow);
  time = 9_999;
  report(refused("build.run"));
  report({ ...slow });
  expect(reported).toEqual([first, slow]);
  time = 10_000;
  const later = refused("mail.send");
  report(later);
  expect(reported).toEqual([first, slow, later]);
});
