import { spawn } from "node:child_process";
import { once } from "node:events";
import { glob, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@towpath/role/testing";

/** The unpacked layers of dependencies of an instance, each a virtual environment. */
export async function dependencyLayers(dataDirectory: string): Promise<string[]> {
  const layers: string[] = [];
  for await (const file of glob("cache/layers/boot-*/*/pyvenv.cfg", { cwd: dataDirectory })) {
    layers.push(dirname(join(dataDirectory, file)));
  }
  return layers;
}

/**
 * Makes a virtual environment in `directory` that sees the layer's packages: the layer's own Python is at home only in
 * the sandbox. Resolves to the path of its interpreter.
 */
export async function bareEnvironment(layer: string, directory: string): Promise<string> {
  const [version = ""] = await readdir(join(layer, "lib"));
  const number = version.replace("python", "");
  const child = spawn("uv", ["venv", "--quiet", "--clear", "--python", number, directory], { stdio: "inherit" });
  await once(child, "close");
  const packages = join("lib", version, "site-packages");
  await writeFile(join(directory, packages, "layer.pth"), join(layer, packages));
  return join(directory, "bin", "python");
}

/**
 * The same dependency layer and file, started bare: python to the first answer, in milliseconds. The file takes its port as
 * an argument. `ask` rejects until the server answers at the address.
 */
export async function startBare(
  python: string,
  file: string,
  ask: (url: string) => Promise<unknown>,
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(python, [file, String(port)], { stdio: "ignore", env: { PATH: process.env.PATH, ...env } });
  for (;;) {
    const answered = await ask(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    );
    if (answered) break;
    await sleep(2);
  }
  const took = performance.now() - begun;
  child.kill("SIGKILL");
  await once(child, "close");
  return took;
}
