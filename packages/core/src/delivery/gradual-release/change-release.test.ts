import { beforeEach, expect, test } from "vitest";
import { type Actor, roles } from "../../context/index.ts";
import { liveCommit, refusal, refusalCode, seedOrganization, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { releaseSteps } from "../../testing/release-steps.ts";
import type { ChangeReleaseInput } from "./gradual-release.schema.ts";
import { changeRelease, getGradualRelease, getReleasePolicy, saveReleasePolicy } from "./index.ts";

const suite = openProjectSuite();
const steps = releaseSteps(suite);
const owner = () => suite.organization.owner;
const change = (input: ChangeReleaseInput, actor: Actor = owner()) =>
  changeRelease({ ctx: suite.as(actor), input: { ...suite.at(), ...input } });
const policy = (input: object, actor: Actor = owner()) =>
  saveReleasePolicy({ ctx: suite.as(actor), input: { ...suite.at(), ...input } });
const outcome = (verb: Promise<unknown>) =>
  verb.then(
    () => "done",
    (error: { code: string }) => error.code,
  );

beforeEach(() => policy({ isGradual: true }));

test("CAP-8 a person moves a release to its next step, to its end, or back", async () => {
  await steps.push("first");
  expect(await refusal(change({ action: "next" }))).toMatchObject({
    code: "conflict",
    message: "No gradual release runs on this server.",
  });
  await steps.push("second");
  expect(await change({ action: "next" })).toMatchObject({ state: "running", share: 25 });
  expect(await change({ action: "finish" })).toMatchObject({ state: "finished", share: 100 });
  expect(await liveCommit(suite.database.db, suite.project.branchId)).toBe(shaOf("second"));
  await steps.push("third");
  expect(await change({ action: "back" })).toMatchObject({ state: "went-back", share: 0 });
  expect(await liveCommit(suite.database.db, suite.project.branchId)).toBe(shaOf("second"));
});

test("CAP-8 of two people who decide by the same figures, the second is asked to look again", async () => {
  await steps.push("first");
  await steps.push("second");
  const outcomes = await Promise.all([
    outcome(change({ action: "next", revision: 1 })),
    outcome(change({ action: "next", revision: 1 })),
  ]);
  expect(outcomes.sort()).toEqual(["conflict", "done"]);
  expect(await getGradualRelease({ ctx: suite.as(owner()), input: suite.at() })).toMatchObject({ share: 25 });
});

test("CAP-8 viewers see a release and its policy; who may deploy moves it; other organizations find nothing", async () => {
  await steps.push("first");
  await steps.push("second");
  const of = await Promise.all(
    roles.map(async (role) => {
      const actor = await suite.organization.join(role);
      const ctx = suite.as(actor);
      return [
        role,
        [
          await outcome(getGradualRelease({ ctx, input: suite.at() })),
          await outcome(getReleasePolicy({ ctx, input: suite.at() })),
          await outcome(policy({ minutesPerStep: 5 }, actor)),
          // An action that nothing knows: only those who may decide learn that it is wrong.
          await outcome(change({ action: "sideways" as "next" }, actor)),
        ],
      ];
    }),
  );
  const may = ["done", "done", "done", "invalid_input"];
  expect(Object.fromEntries(of)).toEqual({
    owner: may,
    admin: may,
    member: may,
    viewer: ["done", "done", "forbidden", "forbidden"],
  });
  const others = (await seedOrganization(suite.database.db)).owner;
  expect(await refusalCode(getGradualRelease({ ctx: suite.as(others), input: suite.at() }))).toBe("not_found");
  expect(await refusalCode(change({ action: "back" }, others))).toBe("not_found");
});

test("CAP-8 a policy out of its bounds is refused by the field's name, and what is left out stays", async () => {
  const wrong: [object, string][] = [
    [{ minutesPerStep: 0 }, "minutesPerStep"],
    [{ minutesPerStep: 1.5 }, "minutesPerStep"],
    [{ minutesPerStep: 1441 }, "minutesPerStep"],
    [{ maxErrorPoints: -1 }, "maxErrorPoints"],
    [{ maxErrorPoints: 101 }, "maxErrorPoints"],
    [{ maxLatencyFactor: 0.9 }, "maxLatencyFactor"],
    [{ minCalls: 0 }, "minCalls"],
    [{ approval: "everybody" }, "approval"],
  ];
  for (const [input, field] of wrong) {
    const error = await refusal(policy(input));
    expect([input, error]).toMatchObject([input, { code: "invalid_input", fields: { [field]: expect.any(String) } }]);
  }
  expect(await policy({ maxErrorPoints: 0.5 })).toEqual({
    isGradual: true,
    minutesPerStep: 15,
    maxErrorPoints: 0.5,
    maxLatencyFactor: 1.5,
    minCalls: 20,
    approval: "nobody",
  });
  // What runs keeps the band that it began with.
  await steps.push("first");
  await steps.push("second");
  await policy({ maxErrorPoints: 50 });
  const running = await getGradualRelease({ ctx: suite.as(owner()), input: suite.at() });
  expect(running).toMatchObject({ maxErrorPoints: 0.5 });
});
