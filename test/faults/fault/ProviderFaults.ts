import { setTimeout as sleep } from "node:timers/promises"
import type { Cluster } from "../../support/Cluster.ts"

/** A failure of the facilitator, the mail relay or the carrier; see the sandbox's FaultPlan. */
export interface ProviderFault {
  readonly operation: "settle" | "send" | "search" | "buy" | "call" | "update"
  readonly mode: "before" | "after" | "reject" | "hang"
  readonly times?: number
  /** The one request that fails: a nonce, a recipient, an area code, a number, or a number and its limit. */
  readonly only?: string
}

const MET_MILLIS_MAX = 40_000
const POLL_MILLIS = 100

type Addresses = Pick<Cluster, "facilitatorUrl" | "relayFaultsUrl" | "phones">

const urlOf = ({ facilitatorUrl, phones, relayFaultsUrl }: Addresses, operation: ProviderFault["operation"]): string =>
  `${operation === "settle" ? facilitatorUrl : operation === "send" ? relayFaultsUrl : phones.carrier.url}/sandbox/faults`

export const planProviderFault = async (cluster: Addresses, fault: ProviderFault): Promise<void> => {
  const response = await fetch(urlOf(cluster, fault.operation), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fault)
  })
  if (!response.ok) throw new Error(`the fault was not planned: ${response.status} ${await response.text()}`)
}

/** Removes the planned faults that no request has met. */
export const clearProviderFaults = async (cluster: Addresses): Promise<void> => {
  await Promise.all(
    (["settle", "send", "call"] as const).map((operation) => fetch(urlOf(cluster, operation), { method: "DELETE" }))
  )
}

/** Waits until a request has met a fault that is planned for it alone. */
export const untilFaultMet = async (cluster: Addresses, { only, operation }: ProviderFault): Promise<void> => {
  const deadline = performance.now() + MET_MILLIS_MAX
  for (;;) {
    const response = await fetch(urlOf(cluster, operation))
    const { faults } = (await response.json()) as { readonly faults: ReadonlyArray<ProviderFault> }
    if (!faults.some((fault) => fault.operation === operation && fault.only === only)) return
    if (performance.now() > deadline) throw new Error(`no request about ${only} met the fault of ${operation}`)
    await sleep(POLL_MILLIS)
  }
}
