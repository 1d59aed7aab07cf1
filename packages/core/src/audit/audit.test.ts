import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isKnownAction } from "../tenancy/audit-log/action-words.ts";
import { verbsInSource } from "../testing/verbs-in-source.ts";

const verbs = verbsInSource();

/** Verbs that write, and leave no entry. */
const withoutEntry: Readonly<Record<string, readonly string[]>> = {
  "steps of a build whose start is in the log": [
    "build/failBuild",
    "build/holdBuilds",
    "build/keepBuild",
    "build/releaseBuild",
    "build/requeueLostBuilds",
    "build/takeBuild",
    "build/takeNextBuild",
    "deployment/createDeployment",
    "deployment/withdrawDeployment",
  ],
  "reports of hosts, of back-ups and clean-up": [
    "host-isolation/recordHostIsolation",
    "host-storage/recordHostStorage",
    "retention/sweepRows",
    "scheduled-backup/beginScheduledBackup",
    "scheduled-backup/endScheduledBackup",
    "scheduled-backup/forgetScheduledBackups",
  ],
  "protocol of OAuth clients, who act for a grant that is in the log": [
    "oauth/denyAuthorization",
    "oauth/exchangeCode",
    "oauth/refreshTokens",
    "oauth/registerClient",
    "oauth/requestAuthorization",
    "oauth/revokeToken",
  ],
  "rounds of the worker, which count failures and send alerts": [
    "alert/claimAlert",
    "alert/expandAlerts",
    "alert/raiseAlert",
    "alert/recordLatency",
    "alert/releaseHeldAlerts",
    "error-group/groupFailures",
  ],
  "a message that the list of deliveries shows": ["alert/testAlertChannel"],
  "a person's own chats, which nobody else sees": [
    "chat/beginTurn",
    "chat/countModelUse",
    "chat/deleteChat",
    "chat/endTurn",
    "chat/keepSuggestedQuestions",
    "chat/recordUsage",
    "chat/renameChat",
    "chat/takeReply",
  ],
  "whether an issuer's keys can be read, which its list shows": ["sign-in-issuer/storeIssuerProblem"],
  "a person's own choice of how lists open": ["saved-view/setDefaultView"],
  "deliveries of Git hosts, before it is known what they change": [
    "webhook/processWebhook",
    "webhook/receiveWebhook",
    "source/receiveSourceWebhook",
  ],
  "the end of what GitHub shows of a server, whose change of source or deletion is in the log": [
    "report/leaveRepository",
  ],
  "questions to GitHub, whose answers start what is in the log": [
    "github-check/checkDueGitHubRepositories",
    "github-check/recordMissedWebhooks",
  ],
  "a read that records that nothing is left to show": ["first-steps/getFirstSteps"],
  "reads that move the next check of a Git URL forward": [
    "project/findProjectOfInstance",
    "project/getProject",
    "source/getSource",
  ],
};

test("ORG-10 every verb that changes something leaves an entry in the audit log, or is named here with the reason", () => {
  expect(verbs.length).toBeGreaterThan(60);
  const silent = verbs.filter(({ writes, audits }) => writes && !audits).map(({ id }) => id);
  expect(silent.toSorted()).toEqual(Object.values(withoutEntry).flat().toSorted());
});

test("ORG-10 the page has words for every action that verbs record", () => {
  const source = join(import.meta.dirname, "..");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const actions = files.flatMap((file) => {
    const text = readFileSync(join(source, file), "utf8");
    // Also of a choice: `action: isNew ? "secret.create" : "secret.update"`.
    const chosen = [...text.matchAll(/\baction(?::| =)([^,;\n]*)/g)].map(([, choice = ""]) => choice);
    return chosen.flatMap((choice) => [...choice.matchAll(/"(\w+\.[\w.-]+)"/g)].map(([, action = ""]) => action));
  });
  expect(actions.length).toBeGreaterThan(25);
  expect(actions.filter((action) => !isKnownAction(action))).toEqual([]);
});
