import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { createTestDatabase } from "@towpath/db/testing";
import { buildImage } from "@towpath/runtime";
import { createSandboxDriver, pickBuildEnvironment, strictIsolation } from "@towpath/runtime/testing";

const mebibyte = 1024 * 1024;

const app = `
import json, os, sys
print("imported", file=sys.stderr)

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": event["type"] + ".complete"})
            if event["type"] == "lifespan.shutdown":
                return
    if scope["path"] == "/print":
        print(*filter(None, ["token", os.environ.get("API_TOKEN"), scope["query_string"].decode()]), file=sys.stderr)
    body = json.dumps({"environment": dict(os.environ), "directory": os.getcwd(), "uid": os.getuid()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
`;

const silent = app.replace("    body = json", "    import asyncio\n    await asyncio.sleep(3600)\n    body = json");

const slow = `import sys, time\nprint("loading", file=sys.stderr)\ntime.sleep(6)\n${app}`;

/**
 * Layers as a build makes them: the environment at its final path, inside a sandbox. The code has `server.py`, which
 * answers, `silent.py`, which doesn't, and `slow.py`, which prints "loading" and then takes six seconds to start; in
 * each the object `app`.
 */
export async function makeLayers(
  directory: string,
): Promise<{ readonly digest: { dependencies: string; code: string }; readonly pythonVersion: string }> {
  const database = await createTestDatabase();
  const driver = createSandboxDriver({
    stateDirectory: join(directory, "run"),
    instanceDirectory: join(directory, "run/b"),
    layers: openArtifacts({ db: database.db, dataDirectory: directory, config: null }).layers,
    uv: "uv",
    dataDirectory: directory,
    buildEnvironment: pickBuildEnvironment(process.env),
    ...strictIsolation,
    allowWeakLimits: true,
  });
  const pythonVersion = await driver.host.pythons.find("3.11");
  if (pythonVersion === null) throw new Error("Python 3.11 is needed for this test.");
  const limits = { memoryBytes: 1024 * mebibyte, processes: 256, cpus: 2, tmpBytes: 512 * mebibyte };
  const spec = { buildId: "layers", organizationId: "organization", limits, diskBytes: 2 ** 31, freeBytes: 0 };
  const workspace = await driver.builds.open(spec);
  const files = Object.entries({ "server.py": app, "silent.py": silent, "slow.py": slow });
  await workspace.write(
    "code",
    files.map(([path, content]) => ({ path, content, kind: "file" as const, access: "read" as const })),
  );
  const lines: string[] = [];
  const uv = async (...argv: string[]) => {
    const volumes = [
      { volume: "dependencies", path: buildImage.dependencies, access: "write" },
      { volume: "cache", path: buildImage.cache, access: "write" },
    ] as const;
    const exit = await workspace.run(
      { argv: [buildImage.uv, ...argv], pythonVersion, volumes, network: "internet" },
      { timeoutMs: 100_000, outputBytes: mebibyte, onOutput: (_, line) => lines.push(line) },
    );
    if (exit.code !== 0) throw new Error(`uv ${argv[0]}: ${JSON.stringify(exit)}\n${lines.join("\n")}`);
  };
  await uv("venv", "--allow-existing", "--python", buildImage.python(pythonVersion), buildImage.dependencies);
  await uv("pip", "install", "--python", `${buildImage.dependencies}/bin/python`, "uvicorn==0.35.0");
  const publish = (volume: "dependencies" | "code", name: string) =>
    workspace.publish(volume, { name: name.repeat(64), maxBytes: 1024 * mebibyte });
  const digest = { dependencies: await publish("dependencies", "a"), code: await publish("code", "b") };
  await workspace.close();
  await driver.close();
  await database.close();
  return { digest, pythonVersion };
}
