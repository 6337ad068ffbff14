import type { SandboxDescription } from "./SandboxFile.ts"
import { shortPath } from "./ShortPath.ts"
import { defaultDataDir } from "./StartOptions.ts"
import type { Supervisor } from "./Supervisor.ts"

/** What a person needs to know of a sandbox that runs. */
export const describeRunning = ({ data, description }: Supervisor): string => {
  const { agentWebhookUrl, baseUrl, carrier, chain, emailDomain, facilitatorUrl, mail, servers, websocketUrl } =
    description
  return `
AgentOS runs on this machine. The sandbox stands in for the outside world at the wire:
money is play money on a chain of its own, mail to other domains is kept as files and
goes nowhere, and telephone numbers are fictitious ones that ring here alone.

  API            ${baseUrl}  (${baseUrl}/docs)
  WebSocket      ${websocketUrl}
  Inbound mail   ${mail.host}:${mail.port}, for *@${emailDomain}
  Outbound mail  ${shortPath(mail.outboxDir)}
  Telephones     carrier ${carrier.url}, an agent that talks ${agentWebhookUrl}
  Chain          ${chain.rpcUrl} (${chain.network}), facilitator ${facilitatorUrl}
${describeServers(servers)}${describeDatabase(description)}  Wallets        with 10,000 USDT each, in ${shortPath(data.sandboxFile)} with all of the above
  Logs           ${shortPath(data.logs)}
`
}

/** Each server by itself, where there are several. */
const describeServers = (servers: SandboxDescription["servers"]): string =>
  servers.length === 1
    ? ""
    : servers
        .map(
          ({ baseUrl, mail }, index) =>
            `  ${index === 0 ? "Servers" : "       "}        ${baseUrl}, mail ${mail.host}:${mail.port}\n`
        )
        .join("")

/** The password is not for the terminal. */
const describeDatabase = ({ databaseUrl }: SandboxDescription): string => {
  if (databaseUrl === null) return ""
  const { host, pathname } = new URL(databaseUrl)
  return `  Database       PostgreSQL at ${host}${pathname}\n`
}

/** What to do next, once it runs. */
export const nextSteps = ({ data }: Supervisor): string => {
  const isDefault = data.root === defaultDataDir
  return `
Next, from another terminal:
  npx -y pnpm@12 tour${isDefault ? "" : ` --data ${data.root}`}
      takes the tour through this sandbox again
  npx -y pnpm@12 --filter @agentos/example-receive-mail start${isDefault ? "" : ` --sandbox ${data.sandboxFile}`}
      an agent that pays for a mailbox and waits for mail

Ctrl-C stops everything. What is in ${shortPath(data.root)} is there again at the next start.
`
}
