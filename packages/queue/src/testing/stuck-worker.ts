import { openWorkerQueue } from "../index.ts";

// A worker that takes build jobs and never ends them: a test kills it to see what becomes of the job.
const workers = await openWorkerQueue({
  databaseUrl: process.argv[2] ?? "",
  onProblem: (problem) => console.error(problem),
});
await workers.work({
  concurrency: { "webhook.process": 1, "branch.sync": 1, "installation.sync": 1, "build.run": 1 },
  handlers: {
    "webhook.process": async () => {},
    "branch.sync": async () => {},
    "installation.sync": async () => {},
    "build.run": (payload) => {
      console.log(payload.organizationId);
      return new Promise(() => {});
    },
  },
});
