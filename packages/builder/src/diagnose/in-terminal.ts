import {
  type DiagnosisAction,
  type SettingsSection,
  settingsCommands,
  terminalCommand,
} from "@towpath/core/delivery/build/contract";

type Found = { readonly remedy: string; readonly action?: DiagnosisAction };

/** Names of the settings' parts in remedies. */
const pages: Readonly<Record<SettingsSection, string>> = {
  build: "Settings → Build",
  variables: "Settings → Environment variables",
  package: "Settings → Package",
};
const sections = Object.keys(pages) as SettingsSection[];

/** Options for what a remedy sets under Settings → Build, by its name there. */
const buildOptions: readonly (readonly [RegExp, string])[] = [
  [/entrypoint/i, "--entrypoint …"],
  [/argument|subcommand/, "--args '…'"],
  [/requirements file/, "--requirements …"],
  [/root directory/, "--root-directory …"],
];

/** Adds the terminal's commands for the settings that a diagnosis or a warning names, unless it has them. */
export function withTerminal<Given extends Found>(found: Given): Given {
  const { remedy, action } = found;
  const commands = sections
    .filter((section) => remedy.includes(pages[section]) || sectionOf(action) === section)
    .map((section) => (sectionOf(action) === section && valuesOf(action)) || commandOf(section, remedy))
    .filter((command) => !remedy.includes(command.split(" ", 2).join(" ")))
    .map((command) => `\`${command}\``);
  return commands.length === 0 ? found : { ...found, remedy: `${remedy} In a terminal: ${commands.join(", or ")}.` };
}

function sectionOf(action: DiagnosisAction | undefined): SettingsSection | null {
  switch (action?.kind) {
    case "entrypoint":
    case "root-directory":
      return "build";
    case "variables":
      return "variables";
    case "settings":
      return action.section;
    default:
      return null;
  }
}

/** The command with the values that are known from the diagnosis. */
const valuesOf = (action: DiagnosisAction | undefined): string | null =>
  action === undefined || action.kind === "settings" ? null : terminalCommand(action);

function commandOf(section: SettingsSection, remedy: string): string {
  const options = buildOptions.flatMap(([name, option]) => (name.test(remedy) ? [option] : []));
  return section !== "build" || options.length === 0
    ? settingsCommands[section]
    : `./towpath settings NAME ${options.join(" ")}`;
}
