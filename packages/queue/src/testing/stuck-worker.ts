import { openWorkerQueue } from "../queue.ts";

// A worker whose build jobs never end. A test kills it.
const workers = await openWorkerQueue({
  databaseUrl: process.argv[2] ?? "",
  onProblem: (problem) => console.error(problem),
});
await workers.work({
  concurrency: {
    "webhook.process": 1,
    "branch.sync": 1,
    "installation.sync": 1,
    "source.check": 1,
    "branch.report": 1,
    "repository.leave": 1,
    "calls.replay": 1,
    "build.run": 1,
    "mail.send": 1,
  },
  handlers: {
    "webhook.process": async () => {},
    "branch.sync": async () => {},
    "installation.sync": async () => {},
    "source.check": async () => {},
    "branch.report": async () => {},
    "repository.leave": async () => {},
    "calls.replay": async () => {},
    "mail.send": async () => {},
    "build.run": (payload) => {
      console.log(payload.organizationId);
      return new Promise(() => {});
    },
  },
});
