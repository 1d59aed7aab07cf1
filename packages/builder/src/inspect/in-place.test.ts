import { randomUUID } from "node:crypto";

import { buildImage, type RuntimeDriver } from "@towpath/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type BuildRequest, type BuildResult, createBuilder, defaultBuildLimits } from "../index.ts";
import { plainServer } from "../testing/plain-server.ts";
import { repository } from "../testing/tarball.ts";
import { openWorkshop, requestOf, type Workshop } from "../testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index. The runner's part is played by the workshop's driver.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

type StartInPlace = NonNullable<BuildRequest["startInPlace"]>;

const files = (code: string) => ({ "server.py": code, "requirements.txt": "idna\n" });
/** Calls of tools and lists are answered with this status. */
function answering(status: number): string {
  const code = plainServer.replace("status = 200 if", `status = ${status} if`);
  expect(code).not.toBe(plainServer);
  return code;
}
const changed = (word: string) => `${plainServer}\n# ${word}\n`;

/** Builds with a driver that records the commands of the steps and the servers that the build starts by itself. */
async function build(code: string, startInPlace: StartInPlace | null) {
  const commands: string[] = [];
  let starts = 0;
  const { driver } = workshop;
  const noting: RuntimeDriver = {
    ...driver,
    servers: {
      ...driver.servers,
      start: (spec, onOutput) => {
        starts += 1;
        return driver.servers.start(spec, onOutput);
      },
    },
    builds: {
      ...driver.builds,
      async open(spec) {
        const workspace = await driver.builds.open(spec);
        const run: typeof workspace.run = (step, options) => {
          commands.push(step.argv[0]);
          return workspace.run(step, options);
        };
        return { ...workspace, run };
      },
    },
  };
  const layers = { ...workshop.layers, has: async () => true };
  const parts = { driver: noting, layers, store: workshop.store, uploadedAt: async () => null };
  const { request, text } = requestOf({ openTarball: () => repository(files(code)), startInPlace });
  const result = await createBuilder(workshop.config, parts).build(request);
  return { result, commands, starts, text: text() };
}

const manifestOf = (result: BuildResult) => (result.ok ? result.manifest : null);

/** Starts the server as the runner would; records what was started and withdrawn. */
function place() {
  const calls: string[] = [];
  const start: StartInPlace = async ({ layers, program }) => {
    calls.push("start");
    const lines: string[] = [];
    const spec = {
      layers,
      pythonVersion: layers.pythonVersion,
      ...program,
      environment: {},
      limits: defaultBuildLimits.server,
      network: "none" as const,
    };
    const instance = { instanceId: randomUUID(), server: spec, startTimeoutMs: 60_000 };
    const started = await workshop.driver.servers.start(instance, (_stream, line) => void lines.push(line));
    if (!started.ok) return null;
    const { handle, startMs } = started;
    const withdraw = async () => {
      calls.push("withdraw");
      await handle.stop(0);
    };
    return { endpoint: handle.endpoint, startMs, output: lines, bridge: "object", withdraw };
  };
  return { calls, start };
}

test("BLD-3 BLD-6 a build starts its server once, where it will run; a change of code alone runs no uv and resolves nothing", async () => {
  const { calls, start } = place();
  const first = await build(changed("one"), start);
  expect(first.commands).toContain(buildImage.uv);
  expect([first.starts, calls]).toEqual([0, ["start"]]);
  const second = await build(`print("hello from two")\n${changed("two")}`, start);
  expect(second.text).toContain("install result Dependencies reused, code is new");
  expect(second.commands).toHaveLength(1);
  expect(second.commands).not.toContain(buildImage.uv);
  expect([second.starts, calls]).toEqual([0, ["start", "start"]]);
  const own = await build(changed("three"), null);
  expect(own.starts).toBe(1);
  expect(manifestOf(own.result)).not.toBeNull();
  for (const { result } of [first, second]) expect(manifestOf(result)).toEqual(manifestOf(own.result));
  expect(second.result).toMatchObject({ ok: true, warnings: [{ code: "bridged" }], recording: expect.anything() });
  expect(second.text).toContain("inspect output hello from two");
  expect(second.text).toMatch(/inspect step Server: answers after \d+ ms, where it will run\.\n/);
  expect(second.text).toContain("inspect result 1 tool");
});

test.runIf(isThorough)(
  "BLD-2 BLD-6 the build finds out itself what it can't learn where the server will run",
  async () => {
    // It doesn't start.
    const broken = place();
    const failing = await build("import nothing_of_this_name\n", broken.start);
    expect(failing.result).toMatchObject({ ok: false, diagnosis: { code: "module_missing", phase: "inspect" } });
    expect([failing.starts, broken.calls]).toEqual([1, ["start"]]);
    // It answers a list with an error.
    const { calls, start } = place();
    const { starts } = await build(answering(500), start);
    expect([starts, calls]).toEqual([1, ["start", "withdraw"]]);
  },
);

test("BLD-6 BLD-10 a server with its own sign-in stays where it will run, while the build reads its lists from another start", async () => {
  const { calls, start } = place();
  const { starts, result } = await build(answering(401), start);
  expect(result).toMatchObject({ ok: true, ownSignIn: true });
  expect([starts, calls]).toEqual([1, ["start"]]);
});

test("BLD-2 BLD-6 a server that isn't ready in time where it will run is diagnosed at once, with its last lines", async () => {
  const { starts, result, text } = await build(plainServer, async () => ({
    endpoint: null,
    output: ["Loading."],
    late: null,
  }));
  expect(starts).toBe(0);
  expect(result).toMatchObject({ ok: false, diagnosis: { code: "start_timeout", excerpt: "Loading." } });
  expect(text).toContain("inspect output Loading.");
});
