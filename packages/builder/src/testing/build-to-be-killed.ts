// A separate process for a test to kill: starts a build that takes a minute to install, and prints its run directory
// when the installation begins.
import { openWorkshop } from "./try-build.ts";

const [dataDirectory = ""] = process.argv.slice(2);
const workshop = await openWorkshop({ dataDirectory });
await workshop.tryBuild(
  {
    "server.py": "x = 1\n",
    "requirements.txt": "./slow\n",
    "slow/setup.py": "import sys, time\nprint('SLOW', file=sys.stderr, flush=True)\ntime.sleep(60)\n",
  },
  {
    log: (phase, _kind, text) => {
      if (phase === "install" && text.includes("Versions: resolving")) process.stdout.write(workshop.runDirectory);
    },
  },
);
