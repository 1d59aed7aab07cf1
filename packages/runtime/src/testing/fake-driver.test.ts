import { runtimeDriverContract } from "./contract.ts";
import { createFakeDriver } from "./fake-driver.ts";

runtimeDriverContract("fake", () => createFakeDriver());
