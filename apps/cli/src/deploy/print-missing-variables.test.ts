import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test, vi } from "vitest";
import { printMissingVariables } from "./print-missing-variables.ts";

test("BLD-2 OPS-4 a new server's first deploy names the variables that its files mention and nobody has passed", async () => {
  const directory = await shortDirectory();
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  const output = async (rootDirectory: string | undefined, ...keys: string[]) => {
    printed.length = 0;
    const variables = keys.map((keyName) => ({ keyName, secretValue: "x" }));
    const files = ["one/server.py", "one/.env.example", "server.py", "README.md"];
    await printMissingVariables(files, { directory, rootDirectory, variables, name: "weather" });
    return printed.join("");
  };
  try {
    await mkdir(join(directory, "one"));
    await writeFile(join(directory, "one", "server.py"), 'import os\nkey = os.environ["WEATHER_KEY"]\n');
    await writeFile(join(directory, "one", ".env.example"), "WEATHER_REGION=eu\n");
    await writeFile(join(directory, "server.py"), 'import os\nprint(os.getenv("API_TOKEN"))\n');
    expect(await output("one")).toContain(
      "variables that aren't set: WEATHER_REGION (one/.env.example), WEATHER_KEY (one/server.py).",
    );
    expect(await output("./one/", "WEATHER_REGION")).toContain("Its files name a variable that isn't set: WEATHER_KEY");
    expect(await output("one", "WEATHER_REGION", "WEATHER_KEY")).toBe("");
    expect(await output(undefined)).toContain("towpath env weather set KEY=VALUE");
  } finally {
    write.mockRestore();
    await rm(directory, { recursive: true, force: true });
  }
});
