import failOnConsole from "vitest-fail-on-console";

// Unexpected output hides warnings. Tests of output spy on the console.
failOnConsole({
  shouldFailOnAssert: true,
  shouldFailOnDebug: true,
  shouldFailOnError: true,
  shouldFailOnInfo: true,
  shouldFailOnLog: true,
  shouldFailOnWarn: true,
});
