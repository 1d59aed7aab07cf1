import { serviceActions } from "../service/actions.ts";
import { orList } from "../terminal/or-list.ts";
import { roleNames } from "../up/role-process.ts";
import { type CommandSpec, common, dataDirectory, flag, path, value } from "./command-spec.ts";

const key = {
  "passphrase-file": path(
    "FILE",
    "a file whose text is the passphrase; without it TOWPATH_BACKUP_PASSPHRASE, or it is asked for",
  ),
  identity: path("FILE", "private keys of age, of a back-up that was made with a recipient"),
} as const;

/** Commands for people who run an instance, or work on Towpath. */
export const operatorCommands = {
  github: {
    arguments: "[ACTION] [APP] [SECRET]",
    choices: {
      1: ["list", "connect", "rotate", "remove"],
      3: ["private-key", "client-secret", "webhook-secret"],
    },
    text:
      "Lists the GitHub Apps of the instance on this machine with what is wrong with each, connects, changes or removes " +
      "one: ACTION is list, connect, rotate or remove. connect prints the page where a browser connects one, and opens it. " +
      "rotate reads a private-key or client-secret that was made at GitHub from stdin, or makes a new webhook-secret. " +
      "remove asks for the App's name, unless --yes repeats it.",
    options: { yes: value("APP", "of remove: the name again, for scripts"), ...common },
    examples: [
      "github",
      "github connect",
      "github rotate towpath-local-1a2b private-key < key.pem",
      "github rotate towpath-local-1a2b webhook-secret",
      "github remove towpath-local-1a2b --yes towpath-local-1a2b",
    ],
    isLocal: true,
  },
  upgrade: {
    arguments: "",
    text:
      "Brings the running instance to the release of this checkout without an outage: copies the database if its schema " +
      "changes, migrates it, and replaces the processes one after another. It goes on as it is when one doesn't start.",
    options: {
      "without-copy": flag("don't copy the database before it is migrated"),
      ...dataDirectory,
    },
    examples: ["upgrade"],
    isLocal: true,
  },
  doctor: {
    arguments: "",
    text:
      "Checks this machine and what the instance on it is set to use, and says what to fix and how. It works while the " +
      "instance runs, while it doesn't, and before the first up; it changes nothing. Exit status 1: fix something.",
    options: { ...common, port: value("PORT", "as of up"), "gateway-port": value("PORT", "as of up") },
    examples: ["doctor", "doctor --json"],
    isLocal: true,
  },
  service: {
    arguments: "ACTION",
    choices: { 1: serviceActions },
    text:
      `Runs up as a service of systemd: ACTION is ${orList(serviceActions)}. install writes the unit, takes settings from a ` +
      "file, and starts it; it wants root, and so does uninstall, which keeps data and settings. logs follows the output.",
    options: {
      user: value("NAME", "of install: runs it as this user; root unless given"),
      "data-dir": path("DIR", "of install: where everything is kept; /var/lib/towpath unless given"),
      "env-file": path(
        "FILE",
        "of install: the settings, one NAME=value a line; /etc/towpath/towpath.env unless given",
      ),
      print: flag("of install: prints the unit and changes nothing"),
    },
    examples: ["service install --user towpath", "service install --print", "service status", "service logs"],
    isLocal: true,
  },
  migrate: {
    arguments: "",
    text:
      "Brings the database of DATABASE_URL, or of DATABASE_DIRECT_URL behind a pooler, to this release. For processes that " +
      "are started one by one; up does it by itself.",
    options: {},
    examples: ["migrate"],
    isLocal: true,
  },
  run: {
    arguments: "ROLE",
    choices: { 1: roleNames },
    text:
      `Runs one process of an instance, in place of this command: ROLE is ${orList(roleNames)}. It reads its ` +
      "settings from the environment only, and wants a database that was migrated.",
    options: {},
    examples: ["run gateway"],
    isLocal: true,
  },
  backup: {
    arguments: "[verify] FILE",
    choices: { 1: "files", 2: "files" },
    text:
      "Writes the instance on this machine, which may be running, to one encrypted file: database, repositories, what servers " +
      "keep in /data, keys and settings. verify reads such a file and compares every part.",
    options: {
      ...key,
      recipient: {
        ...value("KEY", "a public key of age (age1…) in place of a passphrase; may be repeated"),
        multiple: true,
      },
      "with-layers": flag("also what builds have made, so that a restore builds nothing"),
      ...common,
    },
    examples: [
      "backup towpath.age",
      "backup towpath.age --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
      "backup verify towpath.age --passphrase-file passphrase.txt",
    ],
    isLocal: true,
  },
  restore: {
    arguments: "FILE",
    choices: { 1: "files" },
    text:
      "Restores a back-up into an empty data directory, after the whole file was checked. Start the instance with up " +
      "afterwards.",
    options: {
      ...key,
      "data-dir": path("DIR", "the directory; it must be empty or absent"),
      "database-url": value("URL", "an empty PostgreSQL in place of the embedded one"),
    },
    examples: ["restore towpath.age", "restore towpath.age --data-dir /srv/towpath"],
    isLocal: true,
  },
  "reset-password": {
    arguments: "EMAIL",
    text: "Prints a link with which a person sets a new password. Needs the operator's token: works beside the instance.",
    options: { "remove-two-factor": flag("turns two-factor sign-in off, too"), ...common },
    examples: ["reset-password ada@example.com"],
    isLocal: true,
  },
  "rotate-secrets": {
    arguments: "",
    text: 'Replaces the secret that encrypts stored variables, in two steps: see "Keys" in docs/operating.md.',
    options: { finish: flag("the second step"), ...dataDirectory },
    examples: ["rotate-secrets"],
    isLocal: true,
  },
  test: {
    arguments: "[STAGE …]",
    text: "Runs every test, or the named stages. Names of published packages may follow the stage corpus, a benchmark's the stage bench.",
    options: {},
    examples: ["test", "test types lint", "test bench gateway"],
    isLocal: true,
  },
} as const satisfies Record<string, CommandSpec>;
