/** What differs between machines. All paths are absolute. */
export type ServiceSettings = {
  /** The checkout. */
  readonly root: string;
  readonly user: string;
  readonly dataDirectory: string;
  /** One NAME=value a line; read as root. */
  readonly settingsFile: string;
};

/** `%` begins a specifier in units. */
const literal = (text: string) => text.replaceAll("%", "%%");
/** A word of a list, where quotes and backslashes count. */
const word = (text: string) => `"${literal(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
/** In a command `$` begins a variable, too. */
const argument = (text: string) => word(text).replaceAll("$", "$$$$");

/**
 * The unit of `towpath up`.
 *
 * `mixed`: `up` ends its processes in order within ten seconds, PostgreSQL last; a SIGTERM to all of them at once would
 * break that order. `OOMPolicy`: a server that exceeds its memory is killed in a control group below this unit's, which by
 * default would stop the unit. No protection here may cover parts of /proc, without which a user's sandboxes can't
 * have one of their own (ProtectKernelTunables, ProtectKernelLogs, ProtectProc), take devices from them (PrivateDevices,
 * ProtectClock), make control groups read-only, or give the user a capability, which bubblewrap refuses.
 */
export const unitOf = ({ root, user, dataDirectory, settingsFile }: ServiceSettings): string => `\
# Written by ./towpath service install. Settings are in ${settingsFile}.
[Unit]
Description=Towpath, MCP servers from Git repositories
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=${literal(user)}
WorkingDirectory=${literal(root)}
Environment=${word(`TOWPATH_DATA_DIR=${dataDirectory}`)}
EnvironmentFile=${literal(settingsFile)}
ExecStart=${argument(`${root}/towpath`)} up
KillMode=mixed
TimeoutStopSec=30
Restart=on-failure
RestartSec=5
# Wrong settings stay wrong.
RestartPreventExitStatus=2

Delegate=yes
OOMPolicy=continue
TasksMax=infinity
LimitNOFILE=524288

NoNewPrivileges=yes
ProtectSystem=full
ProtectKernelModules=yes
RestrictRealtime=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
