import { CHECKS_JSON, Failure, reportChecks } from "@agentos/node/command-line"
import { isIP } from "node:net"
import { defineCommand, runEffect } from "./ServerCommand.ts"

export const CHECK_DNS = defineCommand(
  {
    name: "check-dns",
    summary: "Check the DNS records of the API and of mail",
    description:
      "Compares A, AAAA, MX, SPF, DKIM and DMARC records with the configuration, and says what to publish. With the addresses from which the relay sends, also their SPF result and their PTR records. Asks AGENTOS_DNS_SERVERS, or the system's resolver. Needs AGENTOS_PUBLIC_URL and the variables of mail only.\nExit code 1 if a record is missing or wrong, or DNS did not answer.",
    flags: [
      {
        name: "sends-from",
        type: "list",
        value: "ADDRESS",
        summary: "An IP address from which the relay sends."
      }
    ],
    examples: [{ line: "agentos-server check-dns --sends-from 192.0.2.25", does: "After the records were published" }],
    output: "rows",
    json: CHECKS_JSON
  },
  async (context, { flags: { "sends-from": sendsFrom } }) => {
    for (const address of sendsFrom) {
      if (isIP(address) === 0) {
        throw new Failure({ code: "USAGE", message: `--sends-from must be an IP address: ${address}` })
      }
    }
    const { checkConfiguredDns } = await import("../check/DnsCheck.ts")
    reportChecks(context.output, await runEffect(context, checkConfiguredDns(context.host.env, sendsFrom)))
  }
)
