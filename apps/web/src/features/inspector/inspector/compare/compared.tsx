import { Callout } from "~/ui/callout.tsx";
import { Duration } from "~/ui/duration.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import type { CallResult } from "../server-call.ts";
import { comparable, differencesOf } from "./json-diff.ts";

type ComparedProps = {
  readonly here: string;
  readonly answer: CallResult;
  readonly there: string;
  readonly other: CallResult;
};

/** More differences say no more than that the answers have little in common. */
const maxShown = 100;

/** Two answers to one call: how long each took, and where they differ. */
export function Compared({ here, answer, there, other }: ComparedProps) {
  const differences = differencesOf(answerValue(answer), answerValue(other));
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p>
        <Took name={here} outcome={answer} />, <Took name={there} outcome={other} />.
      </p>
      {differences.length === 0 ? (
        <Callout tone="ok">Both gave the same answer.</Callout>
      ) : (
        <Table label={`Differences between ${here} and ${there}`}>
          <TableHead>
            <Th>Where</Th>
            <Th>{here}</Th>
            <Th>{there}</Th>
          </TableHead>
          <TableBody>
            {differences.slice(0, maxShown).map(({ path, before, after }) => (
              <Tr key={path}>
                <Td wide className="font-mono text-xs break-all">
                  {path || "the answer"}
                </Td>
                <Td label={here} className="font-mono text-xs break-all">
                  {shown(before)}
                </Td>
                <Td label={there} className="font-mono text-xs break-all">
                  {shown(after)}
                </Td>
              </Tr>
            ))}
          </TableBody>
        </Table>
      )}
      {differences.length > maxShown && (
        <p className="text-xs text-muted">And {differences.length - maxShown} more differences.</p>
      )}
    </div>
  );
}

function Took({ name, outcome }: { name: string; outcome: CallResult }) {
  if (!outcome.ok) return <>{name} failed</>;
  return (
    <>
      {name} answered in <Duration ms={outcome.durationMs} className="font-medium" />
    </>
  );
}

const answerValue = (outcome: CallResult): unknown =>
  outcome.ok ? comparable(outcome.result) : { error: outcome.message, code: outcome.rpcCode ?? outcome.code };

const maxLength = 300;

/** A value in one line, cut. */
function shown(value: unknown): string {
  if (value === undefined) return "–";
  const text = JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
