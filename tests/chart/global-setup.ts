import { writeSchemas } from "./schemas.ts";

/** Schemas for kubeconform, once for all files. */
export default async function provideSchemas(): Promise<void> {
  await writeSchemas();
}
