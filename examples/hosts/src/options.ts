import { type AgentOsOptions, memory, smtp, x402 } from "@agentos/agentos"
import { readFileSync } from "node:fs"

/**
 * Options for a host that listens on a port of this machine. Its chain, its facilitator and its mail relay are those of a
 * running sandbox, whose description is the first argument. A real host has its own: packages/site/content/embed.md.
 */
export const optionsFor = (port: number, path = ""): AgentOsOptions => {
  const { emailDomain, mail, networks } = JSON.parse(readFileSync(process.argv[2] ?? ".agentos/sandbox.json", "utf8"))
  return {
    publicUrl: `http://localhost:${port}${path}`,
    keys: process.env["AGENTOS_KEYS"] ?? `1:${"replace this by random text".padEnd(44, "!")}`,
    storage: memory(),
    payment: x402({ networks }),
    mail: smtp({ domain: emailDomain, relay: { host: mail.host, port: mail.relayPort, security: "none" } })
  }
}
