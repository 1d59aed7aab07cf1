// A platform process to be killed by a test: starts one server and waits. Arguments: state directory, running | frozen,
// kernel of the server.
import { strictIsolation } from "../host/config.ts";
import { createSandboxEngine } from "../host/sandbox/engine.ts";
import { tinyServer } from "./tiny-server.ts";

const [stateDirectory = "", state, kernel = "host"] = process.argv.slice(2);
const driver = createSandboxEngine({
  stateDirectory,
  ...strictIsolation,
  kernel: kernel === "gvisor" ? "gvisor" : "host",
  allowWeakLimits: true,
});
const instance = tinyServer.launch("serve", `${stateDirectory}/i`, { network: "internet" });
const result = await driver.start(instance, () => {});
if (!result.ok) throw new Error(`did not start: ${result.cause}`);
if (state === "frozen") await result.handle.freeze();
console.log("started");
setInterval(() => {}, 1000);
