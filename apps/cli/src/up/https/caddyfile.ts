import type { HttpsConfig } from "./https-config.ts";

/** `host:port` of the processes that Caddy forwards to, and the socket by which it is controlled. */
export type Behind = { readonly web: string; readonly gateway: string; readonly adminSocket: string };

/** While a process restarts, its requests wait. Answers are passed on as they come. */
const forwardTo = (upstream: string) => `	reverse_proxy ${upstream} {
		flush_interval -1
		lb_try_duration 15s
		lb_try_interval 100ms
	}`;

/**
 * Caddy's configuration. A certificate for a server is fetched with its first connection, if the gateway has the name:
 * so no wildcard certificate is needed, which takes access to the DNS.
 */
export function caddyfileOf(https: HttpsConfig, { web, gateway, adminSocket }: Behind): string {
  const { domain, host, httpPort, httpsPort, acmeDirectory, acmeCa } = https;
  const options = [
    `admin "unix/${adminSocket}"`,
    `http_port ${httpPort}`,
    `https_port ${httpsPort}`,
    ...(host === null ? [] : [`default_bind ${host}`]),
    "grace_period 4s",
    ...(acmeDirectory === null ? [] : [`acme_ca ${acmeDirectory}`]),
    ...(acmeCa === null ? [] : [`acme_ca_root "${acmeCa}"`]),
  ];
  // HTTP/3 is announced with Caddy's own port, which clients don't reach behind a forwarded one.
  const protocols = httpsPort === 443 ? "h1 h2 h3" : "h1 h2";
  return `# Written by \`towpath up\` at each start.
{
${options.map((option) => `	${option}`).join("\n")}
	on_demand_tls {
		ask http://${gateway}/-/certificate
	}
	servers {
		protocols ${protocols}
		timeouts {
			read_header 30s
		}
	}
}

${domain} {
${forwardTo(web)}
}

https:// {
	tls {
		on_demand
	}
${forwardTo(gateway)}
}

http:// {
	redir https://{host}{uri} 308
}
`;
}
