import { privateKeyToAddress } from "viem/accounts"
import { baseUrl, carrierUrl, facilitatorUrl, relayFaultsUrl } from "./Programs.ts"
import { emailDomain, type RunLayout, type ServerPorts } from "./RunLayout.ts"
import type { SandboxDescription, SandboxProcesses } from "./SandboxFile.ts"
import { dkimSelector, outsideDomain } from "./ServerFiles.ts"

/** What `sandbox.json` says of a run whose processes have these ids. */
export const describeRun = (
  run: RunLayout,
  serverPids: ReadonlyArray<number>,
  processes: SandboxProcesses
): SandboxDescription => {
  const { chain, data, database, host, ports, servers, telephony } = run
  const { asset, assetName, assetVersion, decimals, network, payTo, refundKey, rpcUrl, wallets } = chain
  const [first] = servers
  return {
    baseUrl: baseUrl(run, first),
    websocketUrl: websocketUrl(run, first),
    emailDomain,
    mail: {
      host,
      port: first.smtp,
      relayPort: ports.relay,
      relayFaultsUrl: relayFaultsUrl(run),
      outboxDir: data.outbox,
      outside: { domain: outsideDomain, dkimSelector, dkimKeyFile: run.files.outsideDkimKeyFile }
    },
    chain: {
      rpcUrl,
      network,
      asset,
      assetName,
      assetVersion,
      decimals,
      payTo,
      refundWallet: privateKeyToAddress(refundKey)
    },
    facilitatorUrl: facilitatorUrl(run),
    carrier: { url: carrierUrl(run) },
    agentWebhookUrl: `https://${host}:${ports.agent}/`,
    agentWebhookCa: telephony.agentCaFile,
    wallets,
    processes,
    databaseUrl: database._tag === "Embedded" ? null : database.url,
    servers: servers.map((server, index) => ({
      baseUrl: baseUrl(run, server),
      websocketUrl: websocketUrl(run, server),
      mail: { host, port: server.smtp },
      pid: serverPids[index] ?? 0
    }))
  }
}

const websocketUrl = ({ host }: RunLayout, { http }: ServerPorts): string => `ws://${host}:${http}/api/v1/events/socket`
