// Prints the self-test of a new driver as JSON; for tests that run it as another user. Argument: state folder.
import { strictIsolation } from "../config.ts";
import { createSandboxDriver } from "../sandbox/driver.ts";
import { tinyServer } from "./tiny-server.ts";

const [stateDirectory = ""] = process.argv.slice(2);
const driver = createSandboxDriver({
  stateDirectory,
  ...strictIsolation,
});
const isolation = await driver.selfTest();
const start = await driver.start(tinyServer.instance("serve", `${stateDirectory}/i`), () => {});
let served: string | null = null;
let frozen: boolean | null = null;
if (start.ok) {
  served = await tinyServer.get(start.handle.socketPath);
  frozen = await start.handle.freeze();
  await start.handle.wake();
  served = await tinyServer.get(start.handle.socketPath);
  await start.handle.stop(1000);
}
await driver.close();
console.log(JSON.stringify({ uid: process.getuid?.(), isolation, served, frozen }));
