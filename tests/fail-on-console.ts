import failOnConsole from "vitest-fail-on-console";

// A test that prints hides a warning somebody should have read. Tests of what is printed spy on it.
failOnConsole({
  shouldFailOnAssert: true,
  shouldFailOnDebug: true,
  shouldFailOnError: true,
  shouldFailOnInfo: true,
  shouldFailOnLog: true,
  shouldFailOnWarn: true,
});
