import { auditLog, deploymentApproval } from "@towpath/db/schema";
import { and, asc, eq, inArray } from "drizzle-orm";
import { expect, test } from "vitest";
import { type Actor, roles } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { finishBuild, liveCommit, refusal, refusalCode, seedOrganization, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { releaseSteps } from "../../testing/release-steps.ts";
import { getGradualRelease, saveReleasePolicy } from "../gradual-release/index.ts";
import { approveDeployment, makeDeploymentLive, rejectDeployment } from "./index.ts";

const suite = openProjectSuite();
const steps = releaseSteps(suite);
const owner = () => suite.organization.owner;
const policy = (input: object, actor: Actor = owner()) =>
  saveReleasePolicy({ ctx: suite.as(actor), input: { ...suite.at(), ...input } });
const approve = (deploymentId: string, actor: Actor = owner()) =>
  approveDeployment({ ctx: suite.as(actor), input: { deploymentId } });
const reject = (deploymentId: string, actor: Actor = owner()) =>
  rejectDeployment({ ctx: suite.as(actor), input: { deploymentId } });
const live = () => liveCommit(suite.database.db, suite.project.branchId);

test("CAP-8 a deployment to production waits for an approval, and goes live with it", async () => {
  await steps.push("first");
  await policy({ approval: "admin" });
  expect(await steps.push("second")).toEqual({ outcome: "waiting", approval: "admin" });
  expect(await live()).toBe(shaOf("first"));
  const second = await steps.deploymentOf("second");
  // Nobody gets around it.
  const around = makeDeploymentLive({ ctx: suite.as(owner()), input: { deploymentId: second } });
  expect((await refusal(around)).message).toBe("This deployment waits for an approval. It goes live once it has it.");
  expect(await approve(second)).toMatchObject({ id: second, isLive: true });
  expect(await live()).toBe(shaOf("second"));
  expect((await refusal(approve(second))).message).toBe(
    "This deployment doesn't wait for an approval. It was approved before.",
  );
  const own = and(eq(auditLog.projectId, suite.project.id), inArray(auditLog.action, decisions));
  const entries = await suite.database.db
    .select()
    .from(auditLog)
    .where(own)
    .orderBy(asc(auditLog.createdAt), asc(auditLog.id));
  expect(entries.map(({ action }) => action)).toEqual(["deployment.wait", "deployment.approve"]);
});
const decisions = ["deployment.wait", "deployment.approve", "deployment.reject"];

test("CAP-8 a rejected deployment doesn't go live, and a later push takes the place of one that waits", async () => {
  await steps.push("first");
  await policy({ approval: "owner" });
  await steps.push("second");
  const second = await steps.deploymentOf("second");
  await reject(second);
  expect((await refusal(approve(second))).message).toContain("It was rejected.");
  const around = makeDeploymentLive({ ctx: suite.as(owner()), input: { deploymentId: second } });
  expect(await refusalCode(around)).toBe("conflict");
  await steps.push("third");
  await steps.push("fourth");
  expect((await refusal(approve(await steps.deploymentOf("third")))).message).toContain("took its place");
  await approve(await steps.deploymentOf("fourth"));
  expect(await live()).toBe(shaOf("fourth"));
});

test("CAP-8 an approval of a server that is released gradually begins its release", async () => {
  await steps.push("first");
  await policy({ approval: "admin", isGradual: true });
  await steps.push("second");
  expect(await approve(await steps.deploymentOf("second"))).toMatchObject({ isLive: false });
  expect(await live()).toBe(shaOf("first"));
  const release = await getGradualRelease({ ctx: suite.as(owner()), input: suite.at() });
  expect(release).toMatchObject({ state: "running", share: 5, candidate: { commitSha: shaOf("second") } });
});

test("CAP-8 the named role approves, and decides whether there are approvals", async () => {
  await steps.push("first");
  const outcomesOf = async (approval: "admin" | "owner") =>
    Object.fromEntries(
      await Promise.all(
        roles.map(async (role) => {
          const actor = await suite.organization.join(role);
          const outcome = (verb: Promise<unknown>) =>
            verb.then(
              () => "done",
              (error: { code: string }) => error.code,
            );
          // It needs none: those who may approve learn that.
          const decided = await outcome(reject(await steps.deploymentOf("first"), actor));
          return [role, [decided, await outcome(policy({ approval, minCalls: 20 }, actor))]];
        }),
      ),
    );
  await policy({ approval: "admin" });
  expect(await outcomesOf("admin")).toEqual({
    owner: ["conflict", "done"],
    admin: ["conflict", "done"],
    // Without a change of it.
    member: ["forbidden", "done"],
    viewer: ["forbidden", "forbidden"],
  });
  const member = await suite.organization.join("member");
  expect(await refusalCode(policy({ approval: "nobody" }, member))).toBe("forbidden");
  await policy({ approval: "owner" });
  expect(await outcomesOf("owner")).toMatchObject({ owner: ["conflict", "done"], admin: ["forbidden", "done"] });
  const admin = await suite.organization.join("admin");
  expect((await refusal(policy({ approval: "nobody" }, admin))).message).toContain("only owners");
  const others = (await seedOrganization(suite.database.db)).owner;
  expect(await refusalCode(approve(await steps.deploymentOf("first"), others))).toBe("not_found");
});

test("CAP-8 a version that was overtaken before anybody could approve it doesn't go live", async () => {
  await steps.push("first");
  await policy({ approval: "admin" });
  const second = await steps.take("second");
  expect(await steps.push("third")).toMatchObject({ outcome: "waiting" });
  expect(await finishBuild(suite.database.db, second)).toEqual({ outcome: "overtaken" });
  const member = await suite.organization.join("member");
  const input = { deploymentId: await steps.deploymentOf("second") };
  expect((await refusal(makeDeploymentLive({ ctx: suite.as(member), input }))).message).toContain("never approved");
  expect((await refusal(approve(input.deploymentId))).message).toContain("A newer build");
  expect(await live()).toBe(shaOf("first"));
});

test("CAP-8 a key of the organization approves nothing, nor switches approvals off; a personal one acts as its person", async () => {
  await steps.push("first");
  await policy({ approval: "admin" });
  await steps.push("second");
  const second = await steps.deploymentOf("second");
  const key = (userId: string | null): Actor => ({
    kind: "apiKey",
    keyId: newId(),
    organizationId: suite.organization.id,
    userId,
    projectIds: null,
    ipAddress: null,
  });
  for (const verb of [approve, reject, () => policy({ approval: "nobody" }, key(null))])
    expect(await refusal(verb(second, key(null)))).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("a person"),
    });
  expect(await policy({ minCalls: 30 }, key(null))).toMatchObject({ minCalls: 30, approval: "admin" });
  const admin = await suite.organization.join("admin");
  const personal = key(admin.kind === "user" ? admin.userId : null);
  expect(await approve(second, personal)).toMatchObject({ isLive: true });
});

test("CAP-8 an approval changes nothing while the server doesn't start, and of two only one counts", async () => {
  await steps.push("first");
  await policy({ approval: "admin" });
  await steps.push("second");
  const second = await steps.deploymentOf("second");
  const broken = new TowpathError("conflict", "It doesn't start.");
  const ctx = suite.as(owner(), { serverHost: { verify: () => Promise.reject(broken) } });
  expect((await refusal(approveDeployment({ ctx, input: { deploymentId: second } }))).message).toBe(broken.message);
  const [waiting] = await suite.database.db
    .select()
    .from(deploymentApproval)
    .where(eq(deploymentApproval.deploymentId, second));
  expect(waiting).toMatchObject({ state: "waiting" });
  const both = await Promise.allSettled([approve(second), approve(second)]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await live()).toBe(shaOf("second"));
});
