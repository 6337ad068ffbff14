import { Failure } from "@agentos/command-line"
import { isIP } from "node:net"
import { defineCommand, runEffect } from "./ServerCommand.ts"

export const CHECK_DNS = defineCommand(
  {
    name: "check-dns",
    summary: "Check the DNS records of the API and of mail",
    description:
      "Compares A, AAAA, MX, SPF, DKIM and DMARC records with the configuration, and says what to publish. With the addresses from which the relay sends, also their SPF result and their PTR records. Asks AGENTOS_DNS_SERVERS, or the system's resolver. Needs AGENTOS_PUBLIC_URL and the variables of mail only.",
    arguments: [],
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
    json: "{ok, items: [{record, status: ok | missing | wrong | unchecked | unknown, found, advice}]}",
    exits: [2],
    exitMeanings: { 2: "a record is missing or wrong, or DNS did not answer" }
  },
  async (context, { flags: { "sends-from": sendsFrom } }) => {
    for (const address of sendsFrom) {
      if (isIP(address) === 0) {
        throw new Failure({ code: "USAGE", message: `--sends-from must be an IP address: ${address}` })
      }
    }
    const { checkConfiguredDns } = await import("../DnsCheck.ts")
    const items = await runEffect(context, checkConfiguredDns(context.host.env, sendsFrom))
    const isOk = items.every(({ status }) => status === "ok" || status === "unchecked")
    context.output.table(
      { ok: isOk, items },
      items,
      [
        { heading: "RECORD", value: ({ record }) => record, whole: true },
        { heading: "STATUS", value: ({ status }) => status, whole: true },
        { heading: "FOUND, AND WHAT TO DO", value: ({ advice, found }) => [...found, advice].join(" "), wraps: true }
      ],
      "The API is named by an address, and mail is not configured: no record is needed."
    )
    return isOk ? 0 : 2
  }
)
