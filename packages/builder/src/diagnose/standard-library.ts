import { type Parts, place, type UvContext } from "./uv-rule.ts";

/** Modules that every Python brings along, of those that people list as requirements. */
const partOfPython: ReadonlySet<string> = new Set([
  ..."abc argparse ast asyncio base64 collections concurrent configparser contextlib copy csv ctypes dataclasses".split(
    " ",
  ),
  ..."datetime decimal difflib email enum fractions functools getpass glob gzip hashlib heapq hmac html http".split(
    " ",
  ),
  ..."importlib inspect io ipaddress itertools json logging math mimetypes multiprocessing operator os pathlib".split(
    " ",
  ),
  ..."pickle platform pprint queue random re sched secrets select shlex shutil signal smtplib socket sqlite3 ssl".split(
    " ",
  ),
  ..."statistics string struct subprocess sys tarfile tempfile textwrap threading time tkinter tomllib traceback".split(
    " ",
  ),
  ..."typing types unittest urllib uuid warnings weakref xml zipfile zlib zoneinfo".split(" "),
]);

export const isPartOfPython = (name: string): boolean => partOfPython.has(name.toLowerCase());

/** For a requirement that names such a module, and can't be installed. `by`: the package that requires it; null when the project does. */
export function requiresModule(name: string, by: string | null, context: UvContext): Parts {
  const file = place(context);
  const lock = context.file === "pyproject.toml" ? ", run `uv lock` where there is a uv.lock," : "";
  return {
    code: "dependency_not_found",
    title: `${name} is a part of Python, not a package to install`,
    detail: `${by === null ? file : `\`${by}\`, on which the project depends,`} requires \`${name}\`. Every Python has a module of that name; what the package index may have under it is something else, and can't be installed.`,
    remedy:
      by === null
        ? `Remove \`${name}\` from ${file}${lock} and push.`
        : `Require another release of \`${by}\` in ${file}, which doesn't require it.`,
  };
}
