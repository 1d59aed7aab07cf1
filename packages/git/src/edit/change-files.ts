import { TowpathError } from "@towpath/core/errors";
import type { FileChange, FileChanges } from "@towpath/core/ports";
import { commitLines, data, fastImport, quotedPath, write } from "../fast-import.ts";
import { isFile, listTree, type TreeEntry } from "../objects.ts";
import { pathProblem } from "../repositories/entry-path.ts";
import { type GitRun, gitText, pipeToGit } from "../run-git.ts";

/**
 * Commits changes on top of their parent, whose trees the repository has, as a ref of this name, and returns the commit.
 *
 * @throws TowpathError `invalid_input` for a path that can't be changed, and where nothing would change
 */
export async function commitChanges(
  { parent, changes, author, message }: FileChanges,
  ref: string,
  run: GitRun,
): Promise<string> {
  const before = await listTree(parent.sha, run);
  checkNested(changes);
  const lines = changes.map((change) => changeLines(change, before));
  await pipeToGit(fastImport, run, async (stream) => {
    await write(stream, commitLines({ ref, parent: parent.sha, author, message }));
    for (const line of lines) await write(stream, line);
    await write(stream, "\ndone\n");
  });
  const trees = [ref, parent.sha].map((name) => `${name}^{tree}`);
  const [made, ...found] = (await gitText(["rev-parse", ref, ...trees], run)).trim().split("\n");
  if (made === undefined) throw new Error("git fast-import made no commit");
  if (found[0] === found[1]) throw refused("Nothing would change: the files have this text already.");
  return made;
}

/** What git would write into a tree that it can't read again. */
function partProblem(path: string): string | null {
  if (!path.isWellFormed()) return "it has half a character";
  return path.split("/").some((part) => part === "" || part === ".") ? "a part of it is empty or a dot" : null;
}

/** Of a file and one below it, git would keep the last one. */
function checkNested(changes: FileChanges["changes"]): void {
  const written = new Set(changes.filter(({ content }) => content !== null).map(({ path }) => path));
  for (const path of written)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const above = path.slice(0, end);
      if (written.has(above)) throw refused(`${JSON.stringify(above)} can't be a file and a directory.`);
    }
}

function changeLines({ path, content }: FileChange, before: readonly TreeEntry[]): string {
  const named = JSON.stringify(path.slice(0, 200));
  const problem = path === "" || path.endsWith("/") ? "it names no file" : (pathProblem(path) ?? partProblem(path));
  if (problem !== null) throw refused(`${named} can't be a file's name: ${problem}.`);
  const entry = before.find((each) => each.path === path);
  if (entry && !isFile(entry)) throw refused(`${named} is a link or a submodule, which can't be edited here.`);
  if (content?.isWellFormed() === false)
    throw refused(`The text of ${named} has half a character, which no file can have.`);
  if (content === null) {
    if (!entry) throw refused(`There is no file ${named} to delete.`);
    return `D ${quotedPath(path)}\n`;
  }
  const inside = before.find((each) => each.path.startsWith(`${path}/`));
  if (inside) throw refused(`${named} is a directory. Choose another name.`);
  const above = before.find((each) => path.startsWith(`${each.path}/`));
  if (above) throw refused(`${JSON.stringify(above.path)} is a file, so nothing can be below it. Choose another name.`);
  return `M ${entry?.mode ?? "100644"} inline ${quotedPath(path)}\n${data(content)}`;
}

const refused = (message: string) => new TowpathError("invalid_input", message);
