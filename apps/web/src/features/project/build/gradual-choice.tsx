import { Checkbox } from "~/ui/checkbox.tsx";

type GradualChoiceProps = { readonly checked: boolean; readonly onChange: (checked: boolean) => void };

/** Whether a version goes live by steps. */
export function GradualChoice(props: GradualChoiceProps) {
  return (
    <div className="mt-3">
      <Checkbox {...props}>
        Gradually: 5 % of new sessions first, then more, and back by itself if it does worse
      </Checkbox>
    </div>
  );
}
