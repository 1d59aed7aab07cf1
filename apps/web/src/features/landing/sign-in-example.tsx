import { Check, Laptop, UserRound, Wrench } from "lucide-react";

const facts = [
  { icon: UserRound, text: "Signs you in as ada@example.com" },
  { icon: Wrench, text: "May call water_level and find_moorings, which your role allows" },
  { icon: Laptop, text: "Returns to 127.0.0.1, on this computer" },
] as const;

/** The consent page as an example. */
export function SignInExample() {
  return (
    <figure aria-label="The consent page" className="overflow-hidden rounded-lg border bg-surface shadow-pop">
      <div className="border-b px-5 py-4">
        <p className="text-xs text-muted">Claude Code asks</p>
        <p className="text-lg font-semibold tracking-tight">Allow it to call tide-gauges?</p>
      </div>
      <ul className="flex flex-col gap-2.5 px-5 py-4 text-sm">
        {facts.map(({ icon: Icon, text }) => (
          <li key={text} className="flex gap-2.5">
            <Icon className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
            {text}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-3 border-t bg-sunken px-5 py-3 text-sm">
        <span className="flex items-center gap-1.5 font-medium text-ok">
          <Check className="size-4" aria-hidden /> Allowed
        </span>
        <span className="text-muted">You can end this access at any time.</span>
      </div>
    </figure>
  );
}
