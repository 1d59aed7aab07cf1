import { PlainButton } from "~/ui/button.tsx";

type CandidatesProps = {
  /** For screen readers. */
  readonly label: string;
  readonly values: readonly string[];
  readonly chosen?: string | null;
  /** Where each was found. */
  readonly titles?: readonly string[];
  readonly onChoose: (value: string) => void;
};

/** Buttons of values found for a field; nothing without any. */
export function Candidates({ label, values, chosen = null, titles, onChoose }: CandidatesProps) {
  if (values.length === 0) return null;
  return (
    <ul aria-label={label} className="mt-2 flex flex-wrap gap-1.5">
      {values.map((value, at) => (
        <li key={value} className="min-w-0">
          <PlainButton
            {...(chosen !== null && { "aria-pressed": chosen === value })}
            title={titles?.[at]}
            onClick={() => onChoose(value)}
            className="max-w-full truncate rounded-full border px-2.5 py-0.5 font-mono text-xs text-muted transition-colors hover:bg-hover hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
          >
            {value}
          </PlainButton>
        </li>
      ))}
    </ul>
  );
}
