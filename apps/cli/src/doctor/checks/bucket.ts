import { artifactsConfigSchema, checkBucket } from "@towpath/artifacts";
import { type Check, fix, invalidSettings, notNeeded, ok, reasonOf } from "../finding.ts";

const name = "bucket";

/** Whether artifacts can be stored in the bucket, and stay there. */
export const bucket: Check = async ({ settings }) => {
  const parsed = artifactsConfigSchema.safeParse(settings);
  if (!parsed.success) return [invalidSettings(name, parsed)];
  const config = parsed.data;
  if (config === null) return [notNeeded(name, "artifacts are in the data directory")];
  try {
    const { problems, warnings } = await checkBucket(config);
    const found = [...problems, ...warnings].map(({ what, remedy }) => fix(name, `${config.url}: ${what}`, remedy));
    return found.length > 0 ? found : [ok(name, `${config.url} takes, returns and deletes objects`)];
  } catch (error) {
    const remedy =
      "Look at the settings TOWPATH_ARTIFACTS…: the bucket must exist, and the key may list it, and get, put and delete its objects.";
    return [fix(name, `${config.url}: ${reasonOf(error)}`, remedy)];
  }
};
