import { deploy as deployDirectory } from "./deploy.ts";
import { deployPackage, isPackage } from "./deploy-package.ts";

/** `towpath deploy`: of a directory, or of a package of the index. */
export const deploy = (args: string[]): Promise<number> =>
  args.some(isPackage) ? deployPackage(args) : deployDirectory(args);
