import type { Host } from "../host/Host.ts"
import { VERSION } from "../Version.ts"
import type { TailEvent } from "./Delivery.ts"
import type { Handled } from "./Worker.ts"

const TIMEOUT_MILLIS = 30_000

/** Posts an event, as JSON, to an address. It is handled when the answer is a 2xx. */
export const forward = async (host: Host, url: string, event: TailEvent): Promise<Handled> => {
  const timeout = AbortSignal.timeout(TIMEOUT_MILLIS)
  try {
    const response = await fetch(url, {
      method: "POST",
      // Whoever is to have the events is named, and names no other.
      redirect: "manual",
      headers: { "Content-Type": "application/json", "User-Agent": `agentctl/${VERSION}` },
      body: JSON.stringify(event),
      signal: AbortSignal.any([host.signal, timeout])
    })
    await response.body?.cancel()
    return response.ok
      ? { _tag: "Done" }
      : { _tag: "Failed", why: `${new URL(url).origin} answered ${response.status}` }
  } catch (error) {
    if (host.signal.aborted) return { _tag: "Interrupted" }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = timeout.aborted
      ? `did not answer within ${TIMEOUT_MILLIS / 1_000} s`
      : `can't be reached (${cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)})`
    return { _tag: "Failed", why: `${new URL(url).origin} ${why}` }
  }
}
