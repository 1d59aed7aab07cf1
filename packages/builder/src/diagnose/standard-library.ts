import type { StepContext } from "../install/run-step.ts";
import { byDropping, type Explanation, place, requiring } from "./uv-rule.ts";

/** Modules of the standard library that people list as requirements. */
const partOfPython: ReadonlySet<string> = new Set(
  `abc argparse ast asyncio base64 collections concurrent configparser contextlib copy csv ctypes dataclasses datetime
  decimal difflib email enum fractions functools getpass glob gzip hashlib heapq hmac html http importlib inspect io
  ipaddress itertools json logging math mimetypes multiprocessing operator os pathlib pickle platform pprint queue random
  re sched secrets select shlex shutil signal smtplib socket sqlite3 ssl statistics string struct subprocess sys tarfile
  tempfile textwrap threading time tkinter tomllib traceback typing types unittest urllib uuid warnings weakref xml
  zipfile zlib zoneinfo`.split(/\s+/),
);

export const isPartOfPython = (name: string): boolean => partOfPython.has(name.toLowerCase());

/** For a requirement that names such a module and can't be installed. `by`: who requires it; null: the project. */
export function requiresModule(name: string, by: string | null, context: StepContext): Explanation {
  const file = place(context);
  const lock = context.file === "pyproject.toml" ? ", run `uv lock` where there is a uv.lock," : "";
  return {
    code: "dependency_not_found",
    title: `${name} is a part of Python, not a package to install`,
    detail: `${requiring(by, context)} requires \`${name}\`. Every Python has a module of that name; what the package index may have under it is something else, and can't be installed.`,
    remedy:
      by === null
        ? `Remove \`${name}\` from ${file}${lock} and push.`
        : `Require another release of \`${by}\` in ${file}, which doesn't require it.`,
    ...(by === null && { action: byDropping(name, context) }),
  };
}
