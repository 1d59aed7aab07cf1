import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CopyButton } from "~/ui/copy-button.tsx";

/** The one time that a key is seen. */
export function NewApiKeyCallout({
  created,
  onDismiss,
}: {
  readonly created: { readonly name: string; readonly key: string };
  readonly onDismiss: () => void;
}) {
  return (
    <Callout
      tone="ok"
      className="mb-4"
      title={`Key "${created.name}" is ready. Copy it now: it is not shown again.`}
      actions={
        <Button size="sm" onClick={onDismiss}>
          I have copied it
        </Button>
      }
    >
      <span className="mt-1.5 flex min-w-0 items-center gap-1 rounded-md border bg-surface py-1 pr-1 pl-2.5">
        <code data-testid="new-api-key" className="min-w-0 flex-1 text-xs break-all">
          {created.key}
        </code>
        <CopyButton text={created.key} label="Copy the key" />
      </span>
    </Callout>
  );
}
